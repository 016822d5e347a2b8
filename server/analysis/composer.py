"""From forecasts of the engine to finished predictions, by all that is known beside the source.

The editor's analysis, the command line, reports and the demo all predict here. What is known of a launch may come in
bit by bit: then it is composed anew, and nothing is read, counted or priced again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from pathlib import Path
from types import MappingProxyType

from model.compiled import key_of
from model.device import Device
from model.forecast import Forecast
from model.launch.launch import Launch
from model.learned.asking import covers, question_about, with_compiled
from model.learned.lessons import Lessons
from model.learned.question import Answer, Question
from model.predictor import LateInputs, Predictor
from server.analysis.identity_cache import IdentityCache
from server.analysis.sources import MeasuredLaunch, Sources, samples_of
from server.analysis.versions import Versions

# Has some work-items run of measured launches of a forecast's kernel, now or later; see `Predictor.unsettled`.
Settle = Callable[[Forecast, Sequence[Launch]], None]
_FILES_KEPT = 4  # those composed last, as they were then; each forecast keeps all that it follows from alive


def settle_nothing(_forecast: Forecast, _launches: Sequence[Launch]) -> None:
    return


@dataclass(frozen=True, slots=True)
class ForecastGroup:
    """Forecasts for one device, of one file.

    `path` is the file's, if it has one. Measured launches whose work the data decide are handed to `settle`; until it
    is known how much work was in them, nothing is predicted through them.
    """

    forecasts: Sequence[Forecast]
    device: Device
    settle: Settle = settle_nothing
    path: Path | None = None


class Composer:
    """Composes predictions in one thread at a time. A forecast of which nothing new is known stays the same object."""

    def __init__(self) -> None:
        self._predictor = Predictor()
        self._versions = Versions()
        self._with_code: IdentityCache[Forecast] = IdentityCache(_FILES_KEPT)
        self._answered: IdentityCache[Forecast] = IdentityCache(_FILES_KEPT)
        # A line typed above a kernel makes another forecast, of which the question and the answer stay.
        self._questions: IdentityCache[Question] = IdentityCache(_FILES_KEPT)
        self._late: IdentityCache[LateInputs] = IdentityCache(_FILES_KEPT)

    def composed(
        self, groups: Sequence[ForecastGroup], sources: Sources, *, measured_too: bool = False
    ) -> list[tuple[Forecast, ...]]:
        """Return the forecasts of each group with the learned model's answers and through measurements.

        A launch that was itself measured keeps the model's own prediction, to be compared with the measurement, unless
        `measured_too`. A kernel of which only earlier versions were measured is predicted relative to the last of them.
        """
        self._versions.begin_round()
        answered = [
            replace(group, forecasts=forecasts)
            for group, forecasts in zip(groups, self.answered(groups, sources), strict=True)
        ]
        through = [
            replace(group, forecasts=self.measured(group, sources, measured_too=measured_too)) for group in answered
        ]
        return [self.relative(group, sources) for group in through]

    @property
    def unanswered_versions(self) -> Mapping[tuple[str, str], Sequence[Question]]:
        """Return what the learned model has yet to say of edited kernels, by fingerprint and launch key."""
        return self._versions.unanswered

    def answered(self, groups: Sequence[ForecastGroup], sources: Sources) -> list[tuple[Forecast, ...]]:
        """Return the forecasts of each group with the learned model's answers; it is asked of all at once."""
        for kept in (self._with_code, self._answered, self._questions, self._late):
            kept.begin_round()
        if sources.ask is None:
            return [tuple(group.forecasts) for group in groups]
        told = [[self._with_facts(each, group.device, sources) for each in group.forecasts] for group in groups]
        asked = [
            (each.question, group.device)
            for group, forecasts in zip(groups, told, strict=True)
            for each in forecasts
            if each.question is not None
        ]
        answers = chain(sources.ask(asked) if asked else (), repeat(None))
        return [
            tuple(
                self._by_the_model(each, next(answers), group.device) if each.question is not None else each
                for each in forecasts
            )
            for group, forecasts in zip(groups, told, strict=True)
        ]

    def measured(
        self,
        group: ForecastGroup,
        sources: Sources,
        *,
        measured_too: bool = False,
        known: Mapping[str, Launch] = MappingProxyType({}),
    ) -> tuple[Forecast, ...]:
        """Return each forecast through its kernel's own measurements, as far as there are any.

        Measurements that were kept without their launch are of one of the group's, or `known` by its key.
        """
        runs = [sources.runs_of(f.kernel.fingerprint, group.device.id) for f in group.forecasts]
        if not any(runs):
            return tuple(group.forecasts)
        launches = {**known, **{f.launch.key: f.launch for f in group.forecasts if f.launch is not None}}
        return tuple(
            self._through(each, own, launches, group, measured_too=measured_too)
            for each, own in zip(group.forecasts, runs, strict=True)
        )

    def relative(self, group: ForecastGroup, sources: Sources) -> tuple[Forecast, ...]:
        """Return the forecasts; those of kernels of which only earlier versions were measured, relative to these."""
        return self._versions.relative(group.forecasts, group.path, group.device, sources)

    def at(self, forecast: Forecast, launch: Launch, device: Device, sources: Sources) -> Forecast:
        """Return the forecast's kernel under another launch or on another device, by the analytical model.

        It has its model input where the learned model can be asked. What the compiler made of the kernel holds for
        all launches that it writes the same code for. An embedded kernel's prediction has its host's lines.
        """
        work = forecast.work
        assert work is not None
        prediction = self._predictor.predict(work, launch, device, sources.code_of(forecast.kernel, launch, device))
        if forecast.home is not None:
            prediction = prediction.in_host(forecast.home.host_lines, forecast.home.assumed)
        made = replace(forecast, launch=launch, prediction=prediction, question=None, compiled=None, recorded=None)
        if not forecast.tokens or not (covers(device) or sources.is_taught(device)):
            return made
        question = question_about(prediction, work, launch, device, forecast.tokens)
        facts = forecast.compiled if _is_same_code(forecast, launch, device) else None
        return replace(made, question=with_compiled(question, facts), compiled=facts)

    def _with_facts(self, forecast: Forecast, device: Device, sources: Sources) -> Forecast:
        """Return the forecast with a question by somebody who knows what the compiler made of its kernel."""
        if forecast.question is None or forecast.launch is None:
            return forecast
        facts = sources.compiled_of(forecast.kernel, forecast.launch, device)
        if facts is None:
            return forecast
        found = self._with_code.get(forecast, facts)
        if found is None:
            plain = forecast.question
            question = self._questions.get(plain, facts) or self._questions.put(
                with_compiled(plain, facts), plain, facts
            )
            found = self._with_code.put(replace(forecast, question=question, compiled=facts), forecast, facts)
        return found

    def _by_the_model(self, forecast: Forecast, answer: Answer | None, device: Device) -> Forecast:
        if answer is None:
            return forecast
        found = self._answered.get(forecast, answer)
        if found is None:
            question = forecast.question
            late = self._late.get(question, answer) or self._late.put(LateInputs(question, answer), question, answer)
            found = self._answered.put(self._predicted(forecast, device, late), forecast, answer)
        return found

    def _through(
        self,
        forecast: Forecast,
        runs: Sequence[MeasuredLaunch],
        known: Mapping[str, Launch],
        group: ForecastGroup,
        *,
        measured_too: bool,
    ) -> Forecast:
        launch, work, device = forecast.launch, forecast.work, group.device
        if not runs or forecast.prediction is None or launch is None or work is None:
            return forecast
        samples = samples_of(runs, launch, device, known)
        if not samples or (not measured_too and any(s.launch.key == launch.key for s in samples)):
            return forecast
        late = LateInputs(measured=samples)
        if unsettled := self._predictor.unsettled(work, launch, device, late):
            group.settle(forecast, unsettled)
        return self._predicted(forecast, device, late)

    def _predicted(self, forecast: Forecast, device: Device, late: LateInputs) -> Forecast:
        prediction, work, launch = forecast.prediction, forecast.work, forecast.launch
        if prediction is None or work is None or launch is None:
            return forecast
        return forecast.with_prediction(self._predictor.with_late_inputs(prediction, work, launch, device, late))


def _is_same_code(forecast: Forecast, launch: Launch, device: Device) -> bool:
    kernel, was, asked = forecast.kernel, forecast.launch, forecast.question
    if was is None or asked is None or asked.device_id != device.id:
        return False
    return key_of(kernel, launch, device.id) == key_of(kernel, was, device.id)


class KnownAnswers:
    """The learned model's answers, looked up once for each question. Not for two threads at once.

    A line typed above moves all kernels below, and what the model says of them stays.
    """

    def __init__(self) -> None:
        self._known: IdentityCache[Answer] = IdentityCache(_FILES_KEPT)

    def begin_round(self) -> None:
        self._known.begin_round()

    def of(
        self, question: Question, lessons: Lessons | None, look_up: Callable[[Question], Answer | None]
    ) -> Answer | None:
        """Return the answer, None where `look_up` knows none yet; `lessons` are what it goes by."""
        found = self._known.get(question, lessons)
        if found is None and (answer := look_up(question)) is not None:
            return self._known.put(answer, question, lessons)
        return found
