"""Measure what a device sustains, in a process of its own."""

from __future__ import annotations

from model.device import Device
from profiler.measurement import KernelCrashed, TimedOut
from profiler.process.messages import AtStake, Outcome, Phase
from profiler.process.worker import CancelToken, Limits, OnProgress, run_job

START_LIMIT_S = 120.0  # until the first probe: a GPU's driver may need long to wake up
MOST_CRASHES = 5


def calibrate(
    device_id: str,
    *,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
    quick: bool = False,
) -> Device:
    """Return the device with measured rates, its date and the noise that was seen; keep it with `Store.save_profile`.

    Takes about a minute on a quiet CPU, half of that if `quick`. A probe that crashes or hangs the driver is left out
    of a second attempt, and named in `Device.calibration`. Raises MeasureError subclasses.
    """
    heard = _Heard(on_progress)
    skipped: dict[int, str] = {}
    while True:
        heard.probe = None
        try:
            return run_job(
                "profiler.device_worker.calibrating:run",
                (device_id, quick, skipped),
                returns=Device,
                limits=Limits(Phase(f"calibrating `{device_id}`", START_LIMIT_S)),
                on_progress=heard.on_progress,
                on_task=heard.on_task,
                cancel=cancel,
            )
        except (KernelCrashed, TimedOut) as error:
            if heard.probe is None or heard.probe in skipped or len(skipped) == MOST_CRASHES:
                raise
            skipped[heard.probe] = error.message


class _Heard:
    """Passes progress on, never backwards, and remembers the number of the probe that is under way."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self.probe: int | None = None
        self._to_user = on_progress
        self._furthest = 0.0

    def on_progress(self, fraction: float, text: str) -> None:
        self._furthest = max(self._furthest, fraction)
        if self._to_user is not None:
            self._to_user(self._furthest, text)

    def on_task(self, message: AtStake | Outcome) -> None:
        if isinstance(message, AtStake):
            self.probe = message.tasks[0]
