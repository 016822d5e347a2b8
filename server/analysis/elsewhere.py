"""A forecast's kernel under other launches and on other devices, predicted as a request about them would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from model.device import Device
from model.errors import KernelcastError
from model.forecast import Forecast
from model.launch.inference import check
from model.launch.launch import Launch
from model.pairs import unrelated_ratio
from model.prediction import Basis, Prediction, Ratio
from server.analysis.composer import Composer, ForecastGroup
from server.analysis.sources import MeasuredLaunch, Sources

At = tuple[Launch, Device]


@dataclass(frozen=True, slots=True)
class DeviceTime:
    """A launch on a device: a prediction, or why there is none. `ratio` is its time over that of the main device.

    The main device itself has no ratio. Errors of two devices have nothing in common, so the interval is as wide as
    both together.
    """

    device: Device
    prediction: Prediction | None
    problem: str = ""
    ratio: Ratio | None = None


class Elsewhere:
    """Predicts other launches and devices of a forecast's kernel. Not for two threads at once."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._composer = Composer()

    def predicted(
        self,
        forecast: Forecast,
        device: Device,
        wanted: Sequence[At],
        runs: Sequence[MeasuredLaunch] = (),
        path: Path | None = None,
    ) -> list[Prediction]:
        """Return the predictions in the order of `wanted`; the learned model is asked of all at once.

        `device` is the forecast's own, `path` its file's, `runs` what was measured of its kernel beside what the
        sources know. As `kernelcast predict` does, a launch that was measured itself is predicted through that, too.
        """
        sources = self._with(runs)
        made = [
            forecast if _is_own(forecast, device, at) else self._composer.at(forecast, *at, sources) for at in wanted
        ]
        # The forecast that all is about has its answer if there is one.
        others = [ForecastGroup([each], at[1]) for each, at in zip(made, wanted, strict=True) if each is not forecast]
        answered = iter(self._composer.answered(others, sources))
        made = [each if each is forecast else next(answered)[0] for each in made]
        known = {f.launch.key: f.launch for f in (forecast, *made) if f.launch is not None}
        found: list[Forecast] = []
        for each, at in zip(made, wanted, strict=True):
            if each.prediction is None or each.prediction.basis is not Basis.MEASURED:
                group = ForecastGroup([each], at[1], path=path)
                through = self._composer.measured(group, sources, measured_too=True, known=known)
                found += self._composer.relative(replace(group, forecasts=through), sources)
            else:
                found.append(each)
        return [each.prediction for each in found if each.prediction is not None]

    def on_devices(
        self,
        forecast: Forecast,
        device: Device,
        others: Sequence[Device],
        runs: Sequence[MeasuredLaunch] = (),
        path: Path | None = None,
    ) -> tuple[DeviceTime, ...]:
        """Return the launch of a forecast on its own device, then on each of the others, in their order.

        Hovers, reports and `kernelcast compare --devices` all show these figures. What was measured of the kernel on
        a device counts there.
        """
        launch = forecast.launch
        problems = [_problem(forecast, each) for each in others]
        if launch is None or forecast.work is None or forecast.prediction is None:
            own = forecast.problem.message if forecast.problem is not None else "it has no prediction"
            return tuple(
                DeviceTime(each, None, problem or own)
                for each, problem in zip((device, *others), ("", *problems), strict=True)
            )
        able = [each for each, problem in zip(others, problems, strict=True) if not problem]
        wanted = [(launch, each) for each in (device, *able)]
        base, *found = self.predicted(forecast, device, wanted, runs, path)
        made = iter(found)
        rows = (
            DeviceTime(each, None, problem) if problem else _against(each, next(made), base)
            for each, problem in zip(others, problems, strict=True)
        )
        return (DeviceTime(device, base), *rows)

    def _with(self, runs: Sequence[MeasuredLaunch]) -> Sources:
        """Return the sources, with what else was measured."""

        def runs_of(fingerprint: str, device_id: str) -> Sequence[MeasuredLaunch]:
            here = (fingerprint, device_id)
            own = [r for r in runs if (r.measurement.kernel_fingerprint, r.measurement.device_id) == here]
            return (*own, *self._sources.runs_of(fingerprint, device_id))

        return replace(self._sources, runs_of=runs_of)


def _is_own(forecast: Forecast, device: Device, at: At) -> bool:
    return forecast.prediction is not None and at[0] == forecast.launch and at[1].id == device.id


def _against(device: Device, prediction: Prediction, base: Prediction) -> DeviceTime:
    return DeviceTime(device, prediction, ratio=unrelated_ratio(prediction.runtime_us, base.runtime_us))


def _problem(forecast: Forecast, device: Device) -> str:
    """Return why the launch has no prediction on a device; empty if it has one."""
    if forecast.launch is None:
        return ""
    try:
        check(forecast.kernel, forecast.launch, device)
    except KernelcastError as error:
        return error.message
    return "" if forecast.work is not None else "nothing is known of the work"
