"""An edited kernel through a measurement of how it was before: that time, times the ratio of both predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, repeat
from pathlib import Path

from model.assumptions import doubt_of
from model.device import Device
from model.forecast import Forecast
from model.launch.launch import Launch
from model.learned.lessons import unpacked
from model.learned.question import Answer, Question
from model.pairs import Side, answered_side, predicted_side, ratio_of, relative_to
from model.prediction import Prediction, Quantiles, Ratio, Relative
from profiler.measurement import Measurement
from server.analysis.identity_cache import IdentityCache
from server.analysis.sources import MeasuredLaunch, Sources, noise_of, samples_of

_FILES_KEPT = 4  # those composed last

_Pair = tuple[Question, Question]  # about the version measured, and about the kernel as it is now


class Versions:
    """Not for two threads at once. A forecast of which nothing new is known stays the same object."""

    def __init__(self) -> None:
        self._made: IdentityCache[Forecast] = IdentityCache(_FILES_KEPT)
        self.unanswered: dict[tuple[str, str], _Pair] = {}  # by the kernel's fingerprint and the launch's key

    def begin_round(self) -> None:
        self._made.begin_round()
        self.unanswered = {}

    def relative(
        self, forecasts: Sequence[Forecast], path: Path | None, device: Device, sources: Sources
    ) -> tuple[Forecast, ...]:
        """Return the forecasts of one file, those of edited kernels relative to the last version measured.

        Both versions are asked about by the same model, uncorrected by other kernels' measurements: the earlier
        version's own measurement would count twice.
        """
        if sources.ask is None:
            return tuple(forecasts)
        pairs = _pairs(forecasts, path, device, sources)
        asked = [(question, device) for _, pair in pairs.values() for question in pair]
        answers = chain(sources.ask(asked) if asked else (), repeat(None))
        told = {at: (run, pair, next(answers), next(answers)) for at, (run, pair) in pairs.items()}
        return tuple(self._one(each, *told[at]) if at in told else each for at, each in enumerate(forecasts))

    def _one(
        self, forecast: Forecast, run: MeasuredLaunch, pair: _Pair, old: Answer | None, new: Answer | None
    ) -> Forecast:
        prediction, launch = forecast.prediction, forecast.launch
        assert prediction is not None
        assert launch is not None
        if old is None or new is None:
            self.unanswered[forecast.kernel.fingerprint, launch.key] = pair
            return forecast
        known = self._made.get(forecast, run, old, new)
        if known is not None:
            return known
        relative = _relative(run.measurement, pair, old, new)
        # A version that is too unlike says less of this one than the model does.
        is_closer = _width(relative.runtime_us) < _width(prediction.own_us)
        made = forecast.with_prediction(replace(prediction, relative=relative)) if is_closer else forecast
        return self._made.put(made, forecast, run, old, new)


def predicted_ratio(new: Forecast, old: Forecast, device: Device, sources: Sources) -> Ratio | None:
    """Return the time of one version over that of another, both by the same model; None without two predictions."""
    if new.prediction is None or old.prediction is None:
        return None
    if sources.ask is not None and new.question is not None and old.question is not None:
        pair = _alike_compiled(old.question, new.question)
        answers = list(sources.ask([(question, device) for question in pair]))
        if len(answers) == 2 and answers[0] is not None and answers[1] is not None:
            return ratio_of(answered_side(pair[1], answers[1]), answered_side(pair[0], answers[0]))
    sides = [_side_of(each, prediction) for each, prediction in ((new, new.prediction), (old, old.prediction))]
    return ratio_of(sides[0], sides[1]) if sides[0] is not None and sides[1] is not None else None


def _side_of(forecast: Forecast, prediction: Prediction) -> Side | None:
    doubt = forecast.question.doubt if forecast.question is not None else doubt_of(prediction.assumptions)
    return predicted_side(prediction, doubt)


def _pairs(
    forecasts: Sequence[Forecast], path: Path | None, device: Device, sources: Sources
) -> dict[int, tuple[MeasuredLaunch, _Pair]]:
    """Return which forecasts, by place, are of edited kernels; with the version measured and the two model inputs."""
    found = {}
    for at, forecast in enumerate(forecasts):
        prediction, question, launch = forecast.prediction, forecast.question, forecast.launch
        if prediction is None or question is None or launch is None or prediction.through is not None:
            continue
        if samples_of(sources.runs_of(forecast.kernel.fingerprint, device.id), launch, device, {launch.key: launch}):
            continue  # the kernel as it is now was measured
        run = _last_version(launch, sources.versions_of(path, forecast.kernel.name, device), device)
        was = _unpacked(run.question) if run is not None else None
        if run is not None and was is not None and _is_comparable(was, question):
            found[at] = run, _alike_compiled(was, question)
    return found


def _last_version(launch: Launch, versions: Sequence[MeasuredLaunch], device: Device) -> MeasuredLaunch | None:
    """Return the newest one of the same launch, else of any."""
    known = [
        each
        for each in versions
        if each.question and each.measurement.driver == device.driver and each.measurement.median_us > 0
    ]
    same = (each for each in known if each.measurement.launch_key == launch.key)
    return next(same, None) or next(iter(known), None)


def _is_comparable(one: Question, other: Question) -> bool:
    """Return whether both are of one version of the analysis, and about one device."""
    return one.device_id == other.device_id and all(
        len(a) == len(b)
        for a, b in (
            (one.launch_facts, other.launch_facts),
            (one.analytic_facts, other.analytic_facts),
            (one.device_facts, other.device_facts),
        )
    )


def _alike_compiled(old: Question, new: Question) -> _Pair:
    """Return both with what compilers made of them, or both without."""
    if (old.compiled_facts is None) == (new.compiled_facts is None):
        return old, new
    return _from_source(old), _from_source(new)


@lru_cache(256)
def _unpacked(question: bytes) -> Question | None:
    return unpacked(question)


@lru_cache(256)
def _from_source(question: Question) -> Question:
    return replace(question, compiled_facts=None) if question.compiled_facts is not None else question


def _width(q: Quantiles) -> float:
    return q.p90 / q.p10 if q.p10 > 0 else math.inf


def _relative(measured: Measurement, pair: _Pair, old: Answer, new: Answer) -> Relative:
    was, now = pair
    ratio = ratio_of(answered_side(now, new), answered_side(was, old))
    # A version that was faster than its bound shows how much too high such bounds are.
    beaten = min(1.0, measured.median_us / was.least_us) if was.least_us > 0 else 1.0
    least_us = now.least_us * beaten
    return relative_to(ratio, measured.median_us, noise_of(measured), measured.measured_at, least_us)
