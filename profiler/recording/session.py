"""One recorded run: start the program, read what it wrote, keep it."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from model.device import Device
from model.errors import KernelcastError
from profiler.recording.interpret import entries_of
from profiler.recording.layer import LayerUnavailable, layer_library
from profiler.recording.listener import listening
from profiler.recording.raw_log import RawProcess
from profiler.recording.reader import read_folder
from profiler.recording.recordings import Recording, project_of, save, sources_of
from profiler.recording.running import check_platform, recording_environment, run_program
from profiler.recording.sources import Workspace
from profiler.store import Store

_SOCKET = "contents"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be recorded beside launches."""

    contents: bool = False  # samples of input buffers
    profile: bool = False  # times, where the program does not ask for them itself


@dataclass(frozen=True, slots=True)
class Run:
    """A program's end, and what was recorded of it.

    `without_layer` says why programs in C were not looked into, `failure` why nothing could be kept.
    """

    status: int
    recording: Recording
    without_layer: str = ""
    failure: str = ""


def record(
    command: Sequence[str],
    environment: Mapping[str, str],
    wanted: Wanted,
    open_store: Callable[[], Store],
    devices: Callable[[], Sequence[Device]],
) -> Run:
    """Run `command` to its end, and keep its launches. Raises CannotRun."""
    check_platform()
    cwd, began = Path.cwd(), time.time()
    layer, without_layer = _layer()
    folder = Path(tempfile.mkdtemp(prefix="kernelcast-record-"))
    try:
        with ExitStack() as stack:
            fills = stack.enter_context(listening(folder, folder / _SOCKET)) if wanted.contents else None
            socket = folder / _SOCKET if wanted.contents else None
            given = recording_environment(environment, folder, layer=layer, socket=socket, profile=wanted.profile)
            status = run_program(command, given)
        processes = read_folder(folder)
        if fills is not None:
            processes = tuple(map(fills.added_to, processes))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    recording = Recording(project_of(cwd), tuple(command), str(cwd), began, status, ())
    if any(process.launches or process.problems for process in processes):
        try:
            recording = keep(open_store(), recording, processes, devices)
        except KernelcastError as error:  # the program ran all the same, and its status is not lost
            return Run(status, recording, without_layer, error.message)
    return Run(status, recording, without_layer)


def keep(
    store: Store, recording: Recording, processes: Sequence[RawProcess], devices: Callable[[], Sequence[Device]]
) -> Recording:
    """Keep what processes did as the launches of `recording`. Raises StoreError."""
    sources = sources_of(store)
    launches = entries_of(processes, sources, Workspace(recording.project, sources), devices)
    problems = tuple(dict.fromkeys(problem for process in processes for problem in process.problems))
    recording = replace(recording, launches=launches, notes=problems)
    return save(store, recording) if launches else recording


def _layer() -> tuple[Path | None, str]:
    try:
        return layer_library(), ""
    except LayerUnavailable as error:
        return None, error.message
