"""Find the recording of a program that is to be predicted."""

from __future__ import annotations

import shlex
from pathlib import Path

from model.errors import KernelcastError
from profiler.recording.recordings import project_of, recorded_commands, recordings, sources_of
from profiler.store import Store
from server.program.forecast import Program, recorded_program


class NoRecordedProgramError(KernelcastError):
    """Nothing was recorded that tells the order of a program's commands; the message says what would."""


def newest_program(store: Store, folder: Path, number: int | None = None) -> tuple[str, Program]:
    """Return title and program of a recording: of `number`, else of the newest of the folder's project.

    Raises NoRecordedProgramError, and StoreError.
    """
    found = recordings(store, None if number else project_of(folder), number=number)
    if not found and number:
        raise NoRecordedProgramError(f"there is no recording {number}; `kernelcast recordings --all` lists them")
    if not found:
        raise NoRecordedProgramError(
            "nothing was recorded in this project; `kernelcast record --profile -- COMMAND` does"
        )
    recording = found[0]
    commands = recorded_commands(store, recording.id)
    if commands is None:
        raise NoRecordedProgramError(
            f"recording {recording.id} has no order of commands: record the program again "
            f"(`kernelcast record --profile -- {shlex.join(recording.command)}`)"
        )
    program = recorded_program(recording.launches, commands, sources_of(store))
    return f"recording {recording.id}: {shlex.join(recording.command)}", program
