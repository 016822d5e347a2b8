"""A forecast's kernel under other launches and on other devices, predicted as a request about them would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from model.device import Device
from model.forecast import Forecast
from model.launch.launch import Launch
from model.prediction import Basis, Prediction
from server.analysis.composer import Composer, ForecastGroup
from server.analysis.sources import MeasuredLaunch, Sources

At = tuple[Launch, Device]


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

    def _with(self, runs: Sequence[MeasuredLaunch]) -> Sources:
        """Return the sources, with what else was measured."""

        def runs_of(fingerprint: str, device_id: str) -> Sequence[MeasuredLaunch]:
            here = (fingerprint, device_id)
            own = [r for r in runs if (r.measurement.kernel_fingerprint, r.measurement.device_id) == here]
            return (*own, *self._sources.runs_of(fingerprint, device_id))

        return replace(self._sources, runs_of=runs_of)


def _is_own(forecast: Forecast, device: Device, at: At) -> bool:
    return forecast.prediction is not None and at[0] == forecast.launch and at[1].id == device.id
