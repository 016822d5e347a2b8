"""Forecasts of launches that were not measured, through what was measured of the same kernels on the same device."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from model.device import Device
from model.forecast import Forecast
from model.launch.launch import Launch
from model.measured import Fits, Sample
from profiler.measurement import Measurement


@dataclass(frozen=True, slots=True)
class Run:
    """A measurement with all sizes and arguments of its launch; None where they were not kept.

    `question` is what the learned model was asked of it, packed; empty where it was not, or was read elsewhere.
    """

    measurement: Measurement
    launch: Launch | None
    question: bytes = b""


# Has some work-items run of measured launches of a forecast's kernel, now or later; see `Fits.unsettled`.
Settle = Callable[[Forecast, Sequence[Launch]], None]


def _settles_nothing(_forecast: Forecast, _launches: Sequence[Launch]) -> None:
    return


RunsOf = Callable[[str], Sequence[Run]]  # of the kernel with that fingerprint on the device at hand, the newest first


def with_fits(
    forecasts: Sequence[Forecast],
    runs_of: RunsOf,
    device: Device,
    fits: Fits,
    *,
    measured_too: bool = False,
    settle: Settle = _settles_nothing,
) -> tuple[Forecast, ...]:
    """Return each forecast through its kernel's own measurements, as far as there are any.

    A launch that was itself measured keeps the model's own prediction, to be held against the measurement, unless
    `measured_too`. Measured launches whose work the data decide are handed to `settle`; until it is known how much work
    was in them, nothing is predicted through them.
    """
    runs = [runs_of(f.kernel.fingerprint) for f in forecasts]
    if not any(runs):
        return tuple(forecasts)
    known = {f.launch.key: f.launch for f in forecasts if f.launch is not None}
    return tuple(
        _through(f, own, known, device, fits, measured_too, settle) for f, own in zip(forecasts, runs, strict=True)
    )


def samples_of(
    runs: Iterable[Run], launch: Launch, device: Device, known: Mapping[str, Launch] | None = None
) -> tuple[Sample, ...]:
    """Return the samples for `launch`: runs under the same build options and driver.

    `known` are launches by their keys.
    """
    found = ((run.measurement, run.launch or (known or {}).get(run.measurement.launch_key)) for run in runs)
    return tuple(
        Sample(was, m.median_us, _noise(m))
        for m, was in found
        if was is not None and was.options == launch.options and m.driver == device.driver
    )


def _through(
    forecast: Forecast,
    runs: Sequence[Run],
    known: Mapping[str, Launch],
    device: Device,
    fits: Fits,
    measured_too: bool,
    settle: Settle,
) -> Forecast:
    prediction, launch, work = forecast.prediction, forecast.launch, forecast.work
    if not runs or prediction is None or launch is None or work is None:
        return forecast
    samples = samples_of(runs, launch, device, known)
    if not samples or (not measured_too and any(s.launch.key == launch.key for s in samples)):
        return forecast
    if unsettled := fits.unsettled(work, launch, device, samples):
        settle(forecast, unsettled)
    return replace(forecast, prediction=fits.through(prediction, work, launch, device, samples))


def _noise(m: Measurement) -> float:
    low, high = m.ci95_us
    return (high - low) / 2 / m.median_us if m.median_us > 0 else 0.0
