"""Jobs that run a launch on another device than it is meant for, to see whether it stays in its buffers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyopencl as cl

from profiler.arguments import BufferArgument, ImageArgument, plan_arguments
from profiler.bounds import Overrun, Room, overrun_at
from profiler.device_worker.failures import named_failures
from profiler.device_worker.guards import oclgrind
from profiler.device_worker.guards.oclgrind import InvalidAccess
from profiler.device_worker.guards.overruns import out_of_bounds
from profiler.device_worker.guards.page_probe import address_of
from profiler.device_worker.guards.proof import by_guard_pages
from profiler.device_worker.memory.allocation import allocate
from profiler.device_worker.memory.layout import Array, Write, copied_memory, mapped
from profiler.device_worker.probing import opencl_devices
from profiler.device_worker.programs import Programs, Trial, kernel_of
from profiler.measurement import KernelCrashed, MeasureError, MeasureRequest, OutOfBounds
from profiler.process.messages import Phase

if TYPE_CHECKING:
    from profiler.device_worker.main import Reporter

BUILD_S, RUN_S = 30.0, 60.0  # whoever starts these jobs ends them sooner
OCLGRIND = "oclgrind"
BUFFER_BYTES = 1 << 48  # Oclgrind's addresses hold the number of the buffer above these bits


def on_a_cpu(request: MeasureRequest, reporter: Reporter) -> str:
    """By guard pages on the first CPU device that has them; empty if there is none. Raises MeasureError."""
    for device in opencl_devices():
        if device.type & cl.device_type.CPU and device.platform.name != oclgrind.PLATFORM:
            trial, phase = trial_of(device, request, reporter)
            with named_failures(trial.subject):
                try:
                    return by_guard_pages(trial, reporter, phase)
                except (
                    KernelCrashed
                ) as error:  # at an address that is in no guard: it has left its buffers all the more
                    raise OutOfBounds(error.message) from error
    return ""


def under_oclgrind(request: MeasureRequest, reporter: Reporter) -> str:
    """By simulation. Raises MeasureError if that fails for reasons of its own."""
    library = oclgrind.find_oclgrind()
    if library is None:
        return ""
    with tempfile.TemporaryDirectory(prefix="kernelcast-oclgrind-") as name:
        folder = Path(name)
        os.environ.update(oclgrind.environment(library, folder))
        device = next((d for d in opencl_devices() if d.platform.name.strip() == oclgrind.PLATFORM), None)
        if device is None:
            return ""
        trial, phase = trial_of(device, request, reporter)
        reporter.begin(0.1, "checking bounds under Oclgrind", phase)
        with named_failures(trial.subject):
            rooms = _simulate(trial)
        accesses = tuple(oclgrind.invalid_accesses(oclgrind.log_in(folder).read_text("utf-8", "replace")))
    if accesses:
        raise _named(accesses, rooms, request)
    return OCLGRIND


class _Exact:
    """Buffers of exactly the length asked for."""

    def __init__(self, context: cl.Context, queue: cl.CommandQueue) -> None:
        self._context, self._queue = context, queue
        self.made: list[tuple[BufferArgument, cl.Buffer]] = []

    def buffer(self, argument: BufferArgument, write: Write) -> cl.Buffer:
        buffer = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, max(1, argument.size_bytes))
        with mapped(buffer, self._queue) as memory:
            write(memory[: argument.size_bytes])
        self.made.append((argument, buffer))
        return buffer

    def image_memory(
        self, _argument: ImageArgument, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> tuple[cl.mem_flags, Array]:
        return copied_memory(shape, dtype)


def _simulate(trial: Trial) -> list[Room]:
    layout = _Exact(trial.context, trial.queue)
    values = allocate(trial.plan, trial.context, trial.queue, layout).values
    rooms = []
    for argument, buffer in layout.made:
        start = address_of(buffer, trial.context, trial.queue)
        reach = BUFFER_BYTES // 2
        rooms.append(Room(argument.name, argument.element, argument.length, start, start - reach, start + reach))
    trial.set_arguments(values)
    trial.enqueue().wait()
    return rooms


def _named(accesses: Sequence[InvalidAccess], rooms: list[Room], request: MeasureRequest) -> MeasureError:
    overruns = [overrun for access in accesses if (overrun := _overrun(access, rooms)) is not None]
    if overruns:
        return out_of_bounds(overruns[0], overruns, request)
    first = accesses[0]
    at = f" on line {first.line}" if first.line else ""
    verb = "written" if first.is_store else "read"
    return OutOfBounds(
        f"kernel `{request.kernel.name}`: {first.space} memory is {verb} outside of what was declared{at}; "
        "guard the index, or declare more",
        line=first.line,
    )


def _overrun(access: InvalidAccess, rooms: list[Room]) -> Overrun | None:
    if access.space not in ("global", "constant"):
        return None
    last = access.address + access.size_bytes - 1
    # A vector may begin inside of the buffer and end beyond it.
    return overrun_at(access.address, rooms, access.is_store) or overrun_at(last, rooms, access.is_store)


def trial_of(device: cl.Device, request: MeasureRequest, reporter: Reporter) -> tuple[Trial, Phase]:
    programs = Programs(device, BUILD_S, reporter)
    program = programs.program(request)
    plan = plan_arguments(request.kernel, request.launch, request.source)
    trial = Trial(programs.context, programs.queue, program, kernel_of(program, request), plan, request)
    return trial, Phase(trial.subject, RUN_S)
