"""Measurements, from source text to figures, inside the device process."""

from __future__ import annotations

import os
import time
from collections import deque
from itertools import count
from typing import TYPE_CHECKING

import pyopencl as cl

from profiler.arguments import Argument, check_memory, plan_arguments
from profiler.batches import Load
from profiler.changed_inputs import changed_inputs
from profiler.device_worker.failures import named_failures
from profiler.device_worker.guards.proof import prove_in_bounds
from profiler.device_worker.machine_load import LoadWatch
from profiler.device_worker.memory.allocation import allocate, memory_limits
from profiler.device_worker.memory.placements import Placements
from profiler.device_worker.probing import open_device
from profiler.device_worker.programs import Programs, Trial, build_key, kernel_of
from profiler.device_worker.summary import Before, summary
from profiler.device_worker.timing import Plan, run_us, time_launch
from profiler.measurement import MeasureError, Measurement, MeasureRequest, OutOfResources
from profiler.process.messages import AtStake, Outcome, Phase
from profiler.warnings import Circumstances

if TYPE_CHECKING:
    from model.launch.launch import Launch
    from profiler.device_worker.main import Reporter
    from profiler.measure import MeasureLimits

LOADS_KEPT = 64  # of batches of launches before; 20 ms each, far more than the system needs to count well
SLACK_S = 10.0  # beyond the budget, for resets and the last batch
ON_CRASH = "most likely an access out of bounds: check its indices against the buffer lengths of this launch"
ON_TIMEOUT = "a loop that never ends, or a launch that is too large to measure"


def run(tasks: tuple[tuple[int, MeasureRequest], ...], limits: MeasureLimits, reporter: Reporter) -> None:
    """Measure each task, and send its outcome as soon as it is known. Raises DeviceGone, which concerns them all."""
    programs = Programs(open_device(tasks[0][1].device_id), limits.build_s, reporter)
    loads: deque[Load] = deque(maxlen=LOADS_KEPT)
    for at, (number, request) in enumerate(tasks):
        sharing = tuple(other for other, one in tasks[at:] if build_key(one) == build_key(request))
        reporter.send(AtStake((number,) if programs.has(request) else sharing))
        try:
            outcome: Measurement | MeasureError = _measure(number, request, programs, limits, reporter, loads)
        except MeasureError as error:
            outcome = error
            if isinstance(error.__cause__, cl.Error):
                programs.forget()
        reporter.send(Outcome(number, outcome))
        if isinstance(outcome, MeasureError) and outcome.ends_process:
            return  # the rest goes on in a new process
        del outcome  # a failure's traceback would keep this launch's buffers while the next one allocates its own


def _measure(
    number: int,
    request: MeasureRequest,
    programs: Programs,
    limits: MeasureLimits,
    reporter: Reporter,
    loads: deque[Load],
) -> Measurement:
    subject = f"kernel `{request.kernel.name}`"
    load_average = os.getloadavg()[0]
    device = programs.device
    check_sizes(request.launch, device, subject)
    plan = plan_arguments(request.kernel, request.launch, request.source)
    check_memory(plan, memory_limits(device))
    program = programs.program(request)
    check_memory(plan, memory_limits(device))  # again: compilers take memory of this process, and keep it
    reporter.send(AtStake((number,)))
    kernel = kernel_of(program, request)
    queue = programs.queue

    running = Phase(subject, limits.first_run_s, on_timeout=ON_TIMEOUT, on_crash=ON_CRASH)
    reporter.begin(0.1, "filling buffers", running)
    with named_failures(subject):
        checked = prove_in_bounds(Trial(programs.context, queue, program, kernel, plan, request), reporter, running)
        reporter.begin(0.2, "warming up", running)
        changed = changed_inputs(request)
        placements = _placements(kernel, queue, plan, request, changed)
        began = time.perf_counter()
        placements.restore(1)
        restore_s = time.perf_counter() - began
        first_us = run_us(placements.enqueue, 1)  # drivers such as PoCL compile for this local size now
        longest_s = max(request.budget_s, 3 * (restore_s + first_us / 1e6) * max(1, request.repeats or 1)) + SLACK_S
        placements.grow()
        measuring = Phase(subject, longest_s, on_timeout=ON_TIMEOUT, on_crash=ON_CRASH)
        reporter.begin(0.3, "timing", measuring)
        batch = count(1)
        timing = time_launch(
            placements,
            Plan(request.budget_s, request.repeats),
            first_us=first_us,
            watch=LoadWatch(is_cpu=bool(device.type & cl.device_type.CPU)),
            on_batch=lambda share: reporter.progress(0.3 + 0.7 * share, f"batch {next(batch)}"),
            resolution_us=device.profiling_timer_resolution / 1000,
        )
    circumstances = Circumstances(
        timing.judged.is_busy, placements.is_restored, tuple(sorted(changed)), request.repeats is not None
    )
    before = Before(load_average, checked, tuple(loads))
    loads.extend(batch.load for batch in timing.batches if batch.load is not None)
    return summary(request, device, timing, before, circumstances)


def _placements(
    kernel: cl.Kernel,
    queue: cl.CommandQueue,
    plan: tuple[Argument, ...],
    request: MeasureRequest,
    changed: frozenset[str],
) -> Placements:
    values = allocate(plan, queue.context, queue).values
    positions = [at for at, argument in enumerate(plan) if argument.name in changed]
    return Placements(kernel, queue, (request.launch.global_size, request.launch.local_size), values, positions)


def check_sizes(launch: Launch, device: cl.Device, subject: str) -> None:
    """Raise OutOfResources for work-groups that this device does not allow."""
    if launch.local_size is None:
        return
    items = 1
    for dimension, size in enumerate(launch.local_size):
        items *= size
        limit = device.max_work_item_sizes[dimension]
        if size > limit:
            raise OutOfResources(f"{subject}: local size {size} in dimension {dimension}; this device allows {limit}")
    if items > device.max_work_group_size:
        raise OutOfResources(
            f"{subject}: work-groups of {items} work-items; this device allows {device.max_work_group_size}"
        )
