"""Measure one launch of one kernel on a real device, in a process that may crash, hang or be cancelled."""

from __future__ import annotations

from dataclasses import dataclass

from profiler.measurement import Measurement, MeasureRequest
from profiler.messages import Phase
from profiler.worker import CancelToken, Limits, OnProgress, run_job


@dataclass(frozen=True, slots=True)
class MeasureLimits:
    """How long each part may take, and how much memory all of it (0: no limit)."""

    open_s: float = 30.0
    build_s: float = 60.0
    first_run_s: float = 20.0  # with the compilation that PoCL does at the first launch
    memory_bytes: int = 0


def measure(
    request: MeasureRequest,
    *,
    limits: MeasureLimits | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Measurement:
    """Build, run and time `request.launch`; blocks until done, safe in any thread.

    Raises a `MeasureError` that says what went wrong: NeedsAnnotation, BuildFailed (with the user's line),
    KernelCrashed, TimedOut, OutOfResources, DeviceGone or Cancelled (after `cancel.set()`, at once).
    """
    limits = limits or MeasureLimits()
    opening = Phase(f"opening device `{request.device_id}`", limits.open_s)
    return run_job(
        "profiler.child.measuring:run",
        (request, limits),
        returns=Measurement,
        limits=Limits(opening, limits.memory_bytes),
        on_progress=on_progress,
        cancel=cancel,
    )
