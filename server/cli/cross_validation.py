"""Cross-validate the line through a launch's sizes: each size is left out once and predicted by the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model.device import Device
from model.errors import KernelcastError
from model.fit import Fit
from model.forecast import Forecast
from model.measured import Fits
from profiler.measurement import Measurement
from server.analysis.sources import MeasuredLaunch, samples_of


@dataclass(frozen=True, slots=True)
class Outcome:
    """One launch that was to be measured."""

    forecast: Forecast
    measurement: Measurement | None = None
    error: KernelcastError | None = None


@dataclass(frozen=True, slots=True)
class Left:
    """One launch that was to be measured; `line` goes through it and the other sizes if there are any."""

    outcome: Outcome
    line: Fit | None = None
    left_out_us: float | None = None  # through the other sizes

    @property
    def left_out_percent(self) -> float | None:
        """Return the error of the left-out estimate [%]; above 0 where it is too slow."""
        measured = self.outcome.measurement
        if measured is None or self.left_out_us is None or measured.median_us <= 0:
            return None
        return (self.left_out_us / measured.median_us - 1) * 100


def left_out(outcomes: Sequence[Outcome], device: Device) -> list[Left]:
    """Return the outcomes of one kernel, each with the line through all of them."""
    fits = Fits()
    runs = [MeasuredLaunch(o.measurement, o.forecast.launch) for o in outcomes if o.measurement is not None]
    return [_left(outcome, runs, device, fits) for outcome in outcomes]


def _left(outcome: Outcome, runs: Sequence[MeasuredLaunch], device: Device, fits: Fits) -> Left:
    forecast, measured = outcome.forecast, outcome.measurement
    work, launch, prediction = forecast.work, forecast.launch, forecast.prediction
    if measured is None or work is None or launch is None or prediction is None:
        return Left(outcome)
    line = fits.line(work, launch, device, samples_of(runs, launch, device))
    others = samples_of((run for run in runs if run.measurement is not measured), launch, device)
    if not others:
        return Left(outcome, line)
    through = fits.through(work, launch, device, others)
    return Left(outcome, line, (through or prediction).runtime_us.p50)
