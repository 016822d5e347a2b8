"""The questions of a file's forecasts, as they are put to the learned model, and forecasts with its answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from model.compiled import CompiledFacts
from model.device import Device
from model.forecast import Forecast
from model.launch.launch import Launch
from model.learned.asking import at_launch, with_compiled
from model.learned.blend import blended
from model.learned.lessons import Lessons
from model.learned.question import Answer, Question
from model.line_remap import apart, placed
from model.opencl.kernel import Kernel
from model.prediction import Basis, Prediction
from model.work.work import Work
from server.analysis.identities import ByIdentity

# Each with the device that it is about; None where nobody answers.
Ask = Callable[[Sequence[tuple[Question, Device]]], Sequence[Answer | None]]
_FILES_KEPT = 4  # those analysed last, as they were then; each forecast keeps all that it follows from alive
Known = Callable[[Question], Answer | None]
CompiledOf = Callable[[Kernel, Launch], CompiledFacts | None]


def with_compiled_facts(forecast: Forecast, facts: CompiledFacts | None) -> Forecast:
    """Its question by somebody who knows what the compiler made of its kernel."""
    if forecast.question is None or facts is None:
        return forecast
    return replace(forecast, question=with_compiled(forecast.question, facts), compiled=facts)


def question_at(
    forecast: Forecast, asked: Question, work: Work, launch: Launch, device: Device, prediction: Prediction
) -> Question:
    """Return the model input of the forecast's kernel under another launch or on another device.

    `prediction` is the analytical one for that launch; `asked` and `work` are the forecast's own. What the compiler
    made of the kernel holds for all its sizes in groups of the same size.
    """
    found = at_launch(asked, work, launch, device, prediction)
    was = forecast.launch
    is_same_code = was is not None and launch.local_size == was.local_size and device.id == asked.device_id
    return with_compiled(found, forecast.compiled) if is_same_code else found


def answered(forecast: Forecast, answer: Answer | None) -> Forecast:
    """`forecast` by the model where it has answered, else as it was."""
    if answer is None or forecast.question is None or forecast.prediction is None:
        return forecast
    return replace(forecast, prediction=blended(forecast.prediction, forecast.question, answer))


def is_answered(forecast: Forecast) -> bool:
    """Whether it is by the model, or corrected by what was measured; without its own measurements, which come later."""
    prediction = forecast.prediction
    return prediction is not None and (prediction.basis in (Basis.MODEL, Basis.COMPILED) or prediction.by_lessons)


class Answers:
    """Puts compiled facts into model inputs and model outputs into forecasts, once for each.

    The rest of a file stays the same while one of its kernels is edited. Not thread-safe.
    """

    def __init__(self) -> None:
        self._told: ByIdentity[Forecast] = ByIdentity(_FILES_KEPT)
        self._answered: ByIdentity[Forecast] = ByIdentity(_FILES_KEPT)
        self._blended: ByIdentity[Prediction] = ByIdentity(_FILES_KEPT)

    def put(
        self, forecasts: Sequence[Forecast], compiled_of: CompiledOf, known: Known, lessons: Lessons | None
    ) -> tuple[Forecast, ...]:
        """Those by the model whose answers are known, the others as they were; `lessons` are what `known` goes by."""
        for kept in (self._told, self._answered, self._blended):
            kept.begin_round()
        return tuple(self._put(forecast, compiled_of, known, lessons) for forecast in forecasts)

    def _put(self, forecast: Forecast, compiled_of: CompiledOf, known: Known, lessons: Lessons | None) -> Forecast:
        if forecast.question is None or forecast.launch is None:
            return forecast
        facts = compiled_of(forecast.kernel, forecast.launch)
        told = forecast
        if facts is not None:
            told = self._told.get(forecast, facts) or self._told.put(
                with_compiled_facts(forecast, facts), forecast, facts
            )
        found = self._answered.get(told, lessons)
        if found is None and told.question is not None and told.prediction is not None:
            # A line typed above moves all kernels below, and what the model says of them stays.
            still, moved = apart(told.prediction)
            prediction = self._blended.get(still, told.question, lessons)
            if prediction is None and (answer := known(told.question)) is not None:
                prediction = self._blended.put(blended(still, told.question, answer), still, told.question, lessons)
            if prediction is not None:
                found = self._answered.put(replace(told, prediction=placed(prediction, moved)), told, lessons)
        return found or told
