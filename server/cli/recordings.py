"""`kernelcast record` and `kernelcast recordings`: the launches of a run, kept, listed and forgotten."""

from __future__ import annotations

import argparse
import os
import shlex
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from model.device import Device
from profiler.measurement import MeasureError
from profiler.recording.recorded_entry import RecordedEntry, request_of
from profiler.recording.recordings import Recording, forget, project_of, recordings, sources_of
from profiler.recording.running import CannotRun
from profiler.recording.session import Wanted, keep, record
from profiler.recording.sources import Sources, file_sha256
from profiler.store import Store
from server.cli.device_choice import Devices
from server.cli.output import ANSWERED, SOME_FAILED, WrongCallError, json_text, warn, write_json
from server.cli.recording_tables import launches_table, recordings_table, summary
from server.cli.terminal import listed, out
from server.text.format import format_things

# What the program's driver was told to write: asking for devices afterwards would begin those files anew.
_TRACING = ("POCL_TRACING", "POCL_TRACING_OPT", "POCL_TRACING_FILTER", "POCL_DEBUG", "OPENCL_LAYERS")


def run_record(arguments: argparse.Namespace) -> int:
    """Run the program; its exit status is ours, whatever becomes of the recording."""
    command = list(arguments.program)
    if command[:1] == ["--"]:
        del command[0]
    if not command:
        raise WrongCallError("say which program to run: kernelcast record -- COMMAND")
    wanted = Wanted(contents=arguments.contents, profile=arguments.profile)
    try:
        done = record(command, os.environ, wanted, Store.open, devices_here)
    except CannotRun as error:
        warn(error.message)
        return error.status
    for line in [done.failure] if done.failure else summary(done.recording, done.why_nothing):
        warn(line)
    return done.status


def devices_here() -> Sequence[Device]:
    """Return this machine's devices; none where there are none."""
    for name in _TRACING:
        os.environ.pop(name, None)
    try:
        return Devices().here
    except MeasureError:  # the program had some device: it is named, and has no id here
        return ()


def run(arguments: argparse.Namespace) -> int:
    """List the project's recordings, or do with them what the flags say."""
    if sum((arguments.show, arguments.exported is not None, arguments.imported is not None, arguments.forget)) > 1:
        raise WrongCallError("only one of --show, --export, --import and --forget")
    store = Store.open()
    if arguments.imported is not None:
        return _import(arguments, store)
    if arguments.forget:
        return _forget(arguments, store)
    found = recordings(store, _project(arguments), number=arguments.id)
    if arguments.id is not None and not found:
        raise WrongCallError(f"there is no recording {arguments.id}; `kernelcast recordings --all` lists them")
    if not found:
        warn("nothing was recorded in this project; `kernelcast record -- COMMAND` does")
    if arguments.exported is not None:
        return _export(arguments.exported, list(_requests(arguments, found, sources_of(store))))
    if arguments.format == "json":
        for request in _requests(arguments, found, sources_of(store)):
            write_json(request)
    elif arguments.show:
        for recording in found:
            _show(recording, arguments.kernel)
    elif found:
        out().print(recordings_table(found, with_project=arguments.all))
    return ANSWERED


def _project(arguments: argparse.Namespace) -> Path | None:
    return None if arguments.all else project_of(Path.cwd())


def _requests(arguments: argparse.Namespace, found: Sequence[Recording], sources: Sources) -> Iterator[dict[str, Any]]:
    """Yield each distinct launch once, as a request that `predict` and `measure` answer."""
    known: set[RecordedEntry] = set()
    for recording in found:
        for number, entry in enumerate(recording.launches):
            if arguments.kernel in (None, entry.kernel) and entry.identity not in known:
                known.add(entry.identity)
                request = request_of(entry, file_of(entry, sources))
                yield {"id": f"{recording.id}.{number}", **request, "command": shlex.join(recording.command)}


def file_of(entry: RecordedEntry, sources: Sources) -> str:
    """Return the workspace's file while it is what was recorded, else the copy that was kept."""
    if entry.file and file_sha256(Path(entry.file)) == entry.file_sha256:
        return entry.file
    kept = sources.path(entry.source) if entry.source else None
    return str(kept) if kept is not None and kept.is_file() else ""


def _show(recording: Recording, kernel: str | None) -> None:
    console = out()
    launches = [each for each in recording.launches if kernel in (None, each.kernel)]
    console.print(Text.assemble((f"{recording.id}  ", "bold"), shlex.join(recording.command)))
    console.print(launches_table(launches))
    notes = dict.fromkeys([*recording.notes, *(note for each in launches for note in each.notes)])
    if notes:
        console.print(listed(notes, "dim"))
    console.print()


def _export(path: Path, requests: Sequence[dict[str, Any]]) -> int:
    try:
        path.write_text("".join(f"{json_text(each)}\n" for each in requests), "ascii")
    except OSError as error:
        raise WrongCallError(f"{path} cannot be written: {error.strerror}") from None
    warn(f"{format_things(len(requests), 'launch', 'launches')} written to {path}")
    return ANSWERED


def _forget(arguments: argparse.Namespace, store: Store) -> int:
    if arguments.kernel is not None:
        raise WrongCallError("--forget removes whole recordings, not the launches of one kernel: leave out --kernel")
    count = forget(store, _project(arguments), number=arguments.id)
    if arguments.id is not None and not count:
        raise WrongCallError(f"there is no recording {arguments.id}; `kernelcast recordings --all` lists them")
    warn(f"{format_things(count, 'recording')} forgotten")
    return ANSWERED


def _import(arguments: argparse.Namespace, store: Store) -> int:
    from profiler.recording.intercept.log import read_log  # noqa: PLC0415 - not for the tables

    process = read_log(arguments.imported)
    cwd = Path.cwd()
    command = ("imported", str(arguments.imported.resolve()))
    empty = Recording(project_of(cwd), command, str(cwd), process.started_at or time.time(), 0, ())
    kept = keep(store, empty, (process,), devices_here)
    for line in summary(kept):
        warn(line)
    return ANSWERED if kept.launches else SOME_FAILED
