"""Record one run: start the program, read its logs, and store its launches."""

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
from profiler.recording.interpret import interpreted
from profiler.recording.layer import LayerUnavailable, layer_library
from profiler.recording.listener import CannotListen, listening
from profiler.recording.raw_log import RawProcess
from profiler.recording.reader import read_folder
from profiler.recording.recordings import Recording, project_of, save, sources_of
from profiler.recording.running import CannotRun, check_platform, recording_environment, run_program
from profiler.recording.sources import Workspace
from profiler.store import Store

_LAYER_NOT_LOADED = (
    "no process loaded the OpenCL layer. If the program uses OpenCL, it must load a shared ICD loader that has layers: "
    "libOpenCL.so.1 of ocl-icd 2.3 or newer, or of Khronos since 2021. A statically linked loader, an older one or a "
    "driver's own has none: install one (on Debian: sudo apt install ocl-icd-libopencl1) and put its folder first "
    "in LD_LIBRARY_PATH. Containers and sudo must pass on OPENCL_LAYERS and the KERNELCAST_ variables"
)
_NOTHING_LAUNCHED = "the program used OpenCL, but enqueued no kernel"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to record beside launches."""

    contents: bool = False  # descriptions of input buffers
    profile: bool = False  # times of queues that the program creates without profiling


@dataclass(frozen=True, slots=True)
class Run:
    """A program's exit status, and what was recorded.

    `why_nothing` says why there may be no launch, `failure` why the recording could not be stored.
    """

    status: int
    recording: Recording
    why_nothing: str = ""
    failure: str = ""


def record(
    command: Sequence[str],
    environment: Mapping[str, str],
    wanted: Wanted,
    open_store: Callable[[], Store],
    devices: Callable[[], Sequence[Device]],
) -> Run:
    """Run `command` to its end, and store its launches. Raises CannotRun."""
    check_platform()
    cwd, began = Path.cwd(), time.time()
    layer, why_nothing = _layer()
    folder = Path(tempfile.mkdtemp(prefix="kernelcast-record-"))
    try:
        with ExitStack() as stack:
            fills, socket = stack.enter_context(listening(folder)) if wanted.contents else (None, None)
            given = recording_environment(environment, folder, layer=layer, socket=socket, profile=wanted.profile)
            status = run_program(command, given)
        processes = read_folder(folder)
        if fills is not None:
            processes = tuple(map(fills.added_to, processes))
    except CannotListen as error:
        raise CannotRun(error.message, 2) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    recording = Recording(project_of(cwd), tuple(command), str(cwd), began, status, ())
    if layer is not None:
        why_nothing = _NOTHING_LAUNCHED if processes else _LAYER_NOT_LOADED
    if any(process.launches or process.problems for process in processes):
        try:
            recording = keep(open_store(), recording, processes, devices)
        except KernelcastError as error:  # the program ran, and its status counts
            return Run(status, recording, why_nothing, error.message)
    return Run(status, recording, why_nothing)


def keep(
    store: Store, recording: Recording, processes: Sequence[RawProcess], devices: Callable[[], Sequence[Device]]
) -> Recording:
    """Store the launches of processes as those of `recording`. Raises StoreError."""
    sources = sources_of(store)
    found = interpreted(processes, sources, Workspace(recording.project, sources), devices)
    problems = tuple(dict.fromkeys(problem for process in processes for problem in process.problems))
    recording = replace(recording, launches=found.launches, notes=problems)
    return save(store, recording, found.commands) if found.launches else recording


def _layer() -> tuple[Path | None, str]:
    try:
        return layer_library(), ""
    except LayerUnavailable as error:
        return None, error.message
