"""Proof, before a launch is timed, that it stays inside its buffers."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pyopencl as cl

from profiler.arguments import BufferArgument, ImageArgument
from profiler.device_worker.guards import pages
from profiler.device_worker.guards.canaries import CanaryLayout
from profiler.device_worker.guards.cross_device_check import prove_elsewhere
from profiler.device_worker.guards.overruns import out_of_bounds
from profiler.device_worker.guards.page_probe import guards_hold
from profiler.device_worker.guards.page_run import run_guarded
from profiler.device_worker.guards.pages import Flush
from profiler.device_worker.memory.allocation import allocate
from profiler.device_worker.programs import Trial
from profiler.process.messages import Phase

if TYPE_CHECKING:
    from profiler.device_worker.main import Reporter

# A fault in a buffer's guard is caught, and named. One on a stack that is overwritten, or without room for the handler,
# is not.
ON_CRASH = (
    "most likely it writes past the end of a private array, or these are too large for the driver's stack; "
    "guard their indices, or make them or the work-groups smaller"
)
GUARD_PAGES, CANARIES = "guard pages", "canaries"


def prove_in_bounds(trial: Trial, reporter: Reporter, phase: Phase) -> str:
    """Return the word for `Measurement.checked`, empty where nothing could be proved.

    Runs the launch, with arguments of its own: the caller sets those of `trial.kernel` anew. Raises OutOfBounds, which
    names the buffer, the element and what to write; KernelCrashed for a fault anywhere else.
    """
    if trial.request.proved:
        return trial.request.proved
    if not any(isinstance(argument, BufferArgument | ImageArgument) for argument in trial.plan):
        return ""
    try:
        if trial.context.devices[0].type & cl.device_type.CPU:
            word = by_guard_pages(trial, reporter, phase)
        else:
            word = prove_elsewhere(trial.request, reporter)
        return word or by_canaries(trial, reporter, phase)
    except MemoryError:
        return ""  # what is measured next may need less; if not, it says so better


def by_guard_pages(trial: Trial, reporter: Reporter, phase: Phase) -> str:
    """Empty where this device or system has none. Raises as `prove_in_bounds`, and MemoryError."""
    guarded = replace(phase, on_crash=ON_CRASH)
    reporter.begin(0.1, "checking bounds", guarded)
    if not pages.is_supported() or not guards_hold(trial.context.devices[0]):
        return ""
    began = time.monotonic()
    if not run_guarded(trial, Flush.END):
        again = f"checking bounds from the other side{_duration(time.monotonic() - began)}"
        reporter.begin(0.15, again, guarded)
        run_guarded(trial, Flush.START)
    return GUARD_PAGES


def _duration(seconds: float) -> str:
    return f", at most {seconds:.0f} s more" if seconds > 2 else ""


def by_canaries(trial: Trial, reporter: Reporter, phase: Phase) -> str:
    """Sees stores within a pad's length of a buffer, and no loads: the best there is on this device."""
    reporter.begin(0.1, "checking bounds by canaries", phase)
    layout = CanaryLayout(trial.context, trial.queue)
    arguments = allocate(trial.plan, trial.context, trial.queue, layout)
    trial.set_arguments(arguments.values)
    trial.enqueue().wait()
    overrun = layout.overrun()
    arguments.release()
    if overrun is not None:
        raise out_of_bounds(overrun, (overrun,), trial.request)
    return CANARIES
