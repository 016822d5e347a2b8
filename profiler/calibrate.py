"""Measure what a device sustains, in a process of its own."""

from __future__ import annotations

from model.device import Device
from profiler.messages import Phase
from profiler.worker import CancelToken, Limits, OnProgress, run_job

CALIBRATION_LIMIT_S = 600.0


def calibrate(
    device_id: str,
    *,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
    quick: bool = False,
) -> Device:
    """The device with measured rates, its date and the noise that was seen; keep it with `Store.save_profile`.

    Takes one to one and a half minutes on a CPU, about half a minute if `quick`. Raises MeasureError subclasses.
    """
    return run_job(
        "profiler.child.calibrating:run",
        (device_id, quick),
        returns=Device,
        limits=Limits(Phase(f"calibrating `{device_id}`", CALIBRATION_LIMIT_S)),
        on_progress=on_progress,
        cancel=cancel,
    )
