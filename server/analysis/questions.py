"""The questions of a file's forecasts, as they are put to the learned model, and forecasts with its answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from model.compiled import CompiledFacts
from model.device import Device
from model.engine import Forecast
from model.launch.launch import Launch
from model.learned.asking import with_compiled
from model.learned.blend import blended
from model.learned.question import Answer, Question
from model.opencl.kernel import Kernel

# Each with the device that it is about; None where nobody answers.
Ask = Callable[[Sequence[tuple[Question, Device]]], Sequence[Answer | None]]
CompiledOf = Callable[[Kernel, Launch], CompiledFacts | None]


def with_compiled_facts(forecasts: Sequence[Forecast], compiled_of: CompiledOf) -> tuple[Forecast, ...]:
    """Each question by somebody who knows what the compiler made of its kernel, as far as that is known."""
    return tuple(_told(forecast, compiled_of) for forecast in forecasts)


def _told(forecast: Forecast, compiled_of: CompiledOf) -> Forecast:
    if forecast.question is None or forecast.launch is None:
        return forecast
    facts = compiled_of(forecast.kernel, forecast.launch)
    return replace(forecast, question=with_compiled(forecast.question, facts)) if facts is not None else forecast


def answered(forecast: Forecast, answer: Answer | None) -> Forecast:
    """`forecast` by the model where it has answered, else as it was."""
    if answer is None or forecast.question is None or forecast.prediction is None:
        return forecast
    return replace(forecast, prediction=blended(forecast.prediction, forecast.question, answer))


def known_answered(
    forecasts: Sequence[Forecast], known: Callable[[Question], Answer | None]
) -> tuple[tuple[Forecast, ...], frozenset[int]]:
    """Those by the model whose answers are known, and the identities of the questions that have none."""
    answers = [known(each.question) if each.question is not None else None for each in forecasts]
    open_ones = frozenset(id(f.question) for f, answer in zip(forecasts, answers, strict=True) if answer is None)
    return tuple(answered(f, answer) for f, answer in zip(forecasts, answers, strict=True)), open_ones


def all_answered(forecasts: Sequence[Forecast], device: Device, ask: Ask) -> tuple[Forecast, ...]:
    """All of them by the model, in one batch."""
    asked = [forecast for forecast in forecasts if forecast.question is not None]
    answers = ask([(forecast.question, device) for forecast in asked if forecast.question is not None])
    known = {id(forecast): answer for forecast, answer in zip(asked, answers, strict=True)}
    return tuple(answered(forecast, known.get(id(forecast))) for forecast in forecasts)
