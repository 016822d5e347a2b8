"""Measurements, from source text to figures, inside the device process."""

from __future__ import annotations

import os
import shlex
from datetime import UTC, datetime
from itertools import count
from statistics import median
from typing import TYPE_CHECKING

import pyopencl as cl

from profiler.arguments import MemoryLimits, check_memory, plan_arguments
from profiler.child.allocation import allocate
from profiler.child.built import Built, build_key, kernel_of
from profiler.child.failures import named_failures
from profiler.child.guarding import Trial, prove_in_bounds
from profiler.child.probing import open_device
from profiler.child.timing import Plan, Timing, run_us, time_launch
from profiler.measurement import MeasureError, Measurement, MeasureRequest, OutOfResources
from profiler.messages import AtStake, Outcome, Phase
from profiler.statistics import quantile, spread_percent

if TYPE_CHECKING:
    from model.launch.launch import Launch
    from profiler.child.main import Reporter
    from profiler.measure import MeasureLimits

SLACK_S = 10.0  # beyond the budget, for resets and the last batch
ON_CRASH = "most likely an access out of bounds: check its indices against the buffer lengths of this launch"
ON_TIMEOUT = "a loop that never ends, or a launch that is too large to measure"


def run(tasks: tuple[tuple[int, MeasureRequest], ...], limits: MeasureLimits, reporter: Reporter) -> None:
    """Measure each task, and send its outcome as soon as it is known. Raises DeviceGone, which concerns them all."""
    built = Built(open_device(tasks[0][1].device_id), limits.build_s, reporter)
    for at, (number, request) in enumerate(tasks):
        sharing = tuple(other for other, one in tasks[at:] if build_key(one) == build_key(request))
        reporter.send(AtStake((number,) if built.has(request) else sharing))
        try:
            outcome: Measurement | MeasureError = _measure(number, request, built, limits, reporter)
        except MeasureError as error:
            outcome = error
            if isinstance(error.__cause__, cl.Error):
                built.forget()
        reporter.send(Outcome(number, outcome))
        if isinstance(outcome, MeasureError) and outcome.ends_process:
            return  # the rest goes on in a new process


def _measure(
    number: int, request: MeasureRequest, built: Built, limits: MeasureLimits, reporter: Reporter
) -> Measurement:
    subject = f"kernel `{request.kernel.name}`"
    load_average = os.getloadavg()[0]
    device = built.device
    _check_sizes(request.launch, device, subject)
    plan = plan_arguments(request.kernel, request.launch, request.source)
    check_memory(plan, MemoryLimits(device.max_mem_alloc_size, device.global_mem_size, device.local_mem_size))
    program = built.program(request)
    reporter.send(AtStake((number,)))
    kernel = kernel_of(program, request)
    queue = built.queue

    running = Phase(subject, limits.first_run_s, on_timeout=ON_TIMEOUT, on_crash=ON_CRASH)
    reporter.begin(0.1, "filling buffers", running)
    with named_failures(subject):
        checked = prove_in_bounds(Trial(built.context, queue, program, kernel, plan, request), reporter, running)
        arguments = allocate(plan, built.context, queue)
        for index, value in enumerate(arguments.values):
            kernel.set_arg(index, value)

        def enqueue() -> cl.Event:
            return cl.enqueue_nd_range_kernel(queue, kernel, request.launch.global_size, request.launch.local_size)

        reporter.begin(0.2, "warming up", running)
        first_us = run_us(enqueue, 1)  # drivers such as PoCL compile for this local size now
        longest_s = max(request.budget_s, 3 * first_us / 1e6 * max(1, request.repeats or 1)) + SLACK_S
        measuring = Phase(subject, longest_s, on_timeout=ON_TIMEOUT, on_crash=ON_CRASH)
        reporter.begin(0.3, "timing", measuring)
        batch = count(1)
        timing = time_launch(
            enqueue,
            queue,
            Plan(request.budget_s, request.repeats),
            reset=lambda: arguments.reset(queue),
            on_batch=lambda share: reporter.progress(0.3 + 0.7 * share, f"batch {next(batch)}"),
        )
    return _summary(request, device, timing, load_average, checked)


def _check_sizes(launch: Launch, device: cl.Device, subject: str) -> None:
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


def _summary(
    request: MeasureRequest, device: cl.Device, timing: Timing, load_average: float, checked: str
) -> Measurement:
    runs = timing.runs_us
    return Measurement(
        kernel=request.kernel.name,
        kernel_fingerprint=request.kernel.fingerprint,
        launch_key=request.launch.key,
        launch=request.launch.describe(),
        device_id=request.device_id,
        device_name=device.name.strip(),
        driver=device.driver_version.strip(),
        median_us=median(runs),
        p10_us=quantile(runs, 0.1),
        p90_us=quantile(runs, 0.9),
        ci95_us=timing.interval_us(),
        repeats=len(runs),
        batches=len(timing.batches_us),
        batch_spread_percent=spread_percent(timing.medians_us),
        local_size=request.launch.local_size,
        load_average=load_average,
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        options=shlex.join(request.launch.options.arguments()),
        checked=checked,
    )
