"""The learned model's part in predictions, in words: how novel a kernel is to it, and its accuracy on a device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from model.learned.device_accuracy import DeviceAccuracy, ErrorFigures
from server.text.format import format_things

if TYPE_CHECKING:
    from model.prediction import Prediction
    from profiler.learning import LearnProgress

NOVEL = 1 / 3  # from here on it is worth telling where room is scarce
_UNSEEN = 2 / 3
BY_THE_MODEL = ("model", "compiled")
CORRECTED = "by measurements of other kernels on this device"


def is_by_the_model(prediction: Prediction) -> bool:
    """Return whether the learned model gave the prediction, or would have given it without measurements."""
    return str(prediction.own.basis) in BY_THE_MODEL


def novelty_words(novelty: float, model: str = "it") -> str:
    """`like kernels it was trained on`."""
    if novelty < NOVEL:
        return f"like kernels {model} was trained on"
    if novelty < _UNSEEN:
        return f"unlike most kernels {model} was trained on: the interval is wider for that"
    return f"unlike anything {model} has seen: the interval is wide"


_ON_A_QUIET_MACHINE = "end what else runs, then `kernelcast learn` times it again"


def accuracy_words(accuracy: DeviceAccuracy) -> tuple[str, ...]:
    """Return a line on the model alone, one on it with the correction from measurements, and one on what is left out.

    The first two are missing where all is left out, the last where nothing is.
    """
    return (*figure_words(accuracy), *_left_out(accuracy))


def figure_words(accuracy: DeviceAccuracy) -> Iterator[str]:
    """Yield the first two of these lines."""
    if accuracy.by_itself is None or accuracy.left_out is None:
        return
    used = "used" if accuracy.is_used else "not used: it does not help"
    wider = f"; intervals are {accuracy.stretch:.1f} times as wide" if accuracy.stretch >= 1.05 else ""
    launches, kernels = (
        format_things(accuracy.launches, "launch", "launches"),
        format_things(accuracy.kernels, "kernel"),
    )
    families = format_things(accuracy.families, "family", "families")
    yield f"on {launches} of {kernels} of {families} measured here predictions are off by {_said(accuracy.by_itself)}"
    yield f"corrected by other families they are off by {_said(accuracy.left_out)}; the correction is {used}{wider}"


def _left_out(accuracy: DeviceAccuracy) -> Iterator[str]:
    if accuracy.disturbed:
        most = f"; {_ON_A_QUIET_MACHINE}" if accuracy.disturbed > accuracy.launches else ""
        yield f"{_disturbed(accuracy.disturbed)}{most}"


def learned_words(device_id: str, done: LearnProgress) -> str:
    """Return the line on how many of the corpus' kernels were measured, now and before; more if most were disturbed."""
    failures = f"; {done.failed} failed" if done.failed else ""
    left_out = f"; {_disturbed(done.disturbed)}" if done.disturbed else ""
    of = f"{format_things(done.launches, 'launch', 'launches')} of {format_things(done.kernels, 'kernel')}"
    known = (
        f"{of} of the corpus {'is' if done.launches == 1 else 'are'}" if done.launches else "no kernel of the corpus is"
    )
    said = f"{known} known on {device_id}{failures}{left_out}"
    if not done.is_mostly_disturbed:
        return said
    used = f" used {done.programs_percent:.0f} % of the processors and" if done.programs_percent else ""
    return f"{said}. Other programs{used} disturbed most of what was timed: {_ON_A_QUIET_MACHINE}"


def _disturbed(launches: int) -> str:
    what = "1 launch is" if launches == 1 else f"{launches} launches are"
    return f"{what} left out, as others used the machine while {'it was' if launches == 1 else 'they were'} timed"


def _said(figures: ErrorFigures) -> str:
    return f"{figures.median_percent:.0f} % in the median, {figures.within_2x_percent:.0f} % within 2x"
