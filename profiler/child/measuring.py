"""One measurement, from source text to figures, inside the device process."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from itertools import count
from statistics import median
from typing import TYPE_CHECKING

import pyopencl as cl

from profiler.arguments import MemoryLimits, check_memory, plan_arguments
from profiler.child.allocation import allocate
from profiler.child.building import build
from profiler.child.failures import named_failures
from profiler.child.probing import open_device
from profiler.child.timing import Plan, Timing, run_us, time_launch
from profiler.measurement import BuildFailed, MeasureError, Measurement, MeasureRequest, OutOfResources
from profiler.messages import Phase
from profiler.statistics import quantile, spread_percent

if TYPE_CHECKING:
    from model.launch.launch import Launch
    from profiler.child.main import Reporter
    from profiler.measure import MeasureLimits

SLACK_S = 10.0  # beyond the budget, for resets and the last batch


def run(request: MeasureRequest, limits: MeasureLimits, reporter: Reporter) -> Measurement:
    """Build, fill, warm up, time. Raises MeasureError subclasses only."""
    subject = f"kernel `{request.kernel.name}`"
    load_average = os.getloadavg()[0]
    device = open_device(request.device_id)
    _check_sizes(request.launch, device, subject)
    plan = plan_arguments(request.kernel, request.launch, request.source)
    check_memory(plan, MemoryLimits(device.max_mem_alloc_size, device.global_mem_size, device.local_mem_size))

    on_crash = "the driver's compiler did not survive this source; its last words are in the log"
    reporter.begin(0.0, "building", Phase(f"building {subject}", limits.build_s, on_crash=on_crash))
    context = cl.Context([device])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    program = build(context, request.source, request.path, request.launch.options)
    kernel = _kernel(program, request)

    on_crash = "most likely an access out of bounds: check its indices against the buffer lengths of this launch"
    on_timeout = "a loop that never ends, or a launch that is too large to measure"
    running = Phase(subject, limits.first_run_s, on_timeout=on_timeout, on_crash=on_crash)
    reporter.begin(0.1, "filling buffers", running)
    with named_failures(subject):
        arguments = allocate(plan, context, queue)
        for index, value in enumerate(arguments.values):
            kernel.set_arg(index, value)

        def enqueue() -> cl.Event:
            return cl.enqueue_nd_range_kernel(queue, kernel, request.launch.global_size, request.launch.local_size)

        reporter.begin(0.2, "warming up", running)
        first_us = run_us(enqueue, 1)  # drivers such as PoCL compile for this local size now
        longest_s = max(request.budget_s, 3 * first_us / 1e6 * max(1, request.repeats or 1)) + SLACK_S
        measuring = Phase(subject, longest_s, on_timeout=on_timeout, on_crash=on_crash)
        reporter.begin(0.3, "timing", measuring)
        batch = count(1)
        timing = time_launch(
            enqueue,
            queue,
            Plan(request.budget_s, request.repeats),
            reset=lambda: arguments.reset(queue),
            on_batch=lambda share: reporter.progress(0.3 + 0.7 * share, f"batch {next(batch)}"),
        )
    return _summary(request, device, timing, load_average)


def _kernel(program: cl.Program, request: MeasureRequest) -> cl.Kernel:
    name = request.kernel.name
    try:
        kernel = cl.Kernel(program, name)
    except cl.LogicError:
        raise BuildFailed(f"the built program holds no kernel `{name}`; do its build options leave it out?") from None
    expected = len(request.kernel.parameters)
    if kernel.num_args != expected:
        raise MeasureError(f"kernel `{name}` takes {kernel.num_args} arguments, but {expected} were read in its source")
    return kernel


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


def _summary(request: MeasureRequest, device: cl.Device, timing: Timing, load_average: float) -> Measurement:
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
    )
