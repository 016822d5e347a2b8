"""Which advice the user sees, and in which words: the settings decide, and launches of one kernel speak as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from server.text.format import as_sentence, format_duration_us
from server.text.hint import launch_title

if TYPE_CHECKING:
    from model.advice.advice import Advice
    from model.opencl.kernel import Kernel
    from model.prediction import Prediction
    from server.client.settings import Settings
    from server.launch_view import LaunchView
    from server.snapshot import KernelView

OFF = "off"


@dataclass(frozen=True, slots=True)
class Told:
    """Advice in whole sentences, with the launch it is about where a kernel has several."""

    advice: Advice
    text: str


def advice_of(view: KernelView, settings: Settings) -> tuple[Told, ...]:
    """Return each once, in the order of the source; of several launches, the one speaks that has most to gain."""
    if settings.advice == OFF:
        return ()
    found: dict[tuple[str, int | None], list[tuple[Advice, LaunchView]]] = {}
    for launch in view.launches:
        prediction = launch.forecast.prediction
        for advice in prediction.advice if prediction else ():
            if advice.code not in settings.advice_ignored:
                found.setdefault((advice.code, advice.line), []).append((advice, launch))
    told = [_told(each, len(view.launches)) for each in found.values()]
    return tuple(sorted(told, key=lambda t: (-1 if t.advice.line is None else t.advice.line, t.advice.code)))


def _told(found: Sequence[tuple[Advice, LaunchView]], launches: int) -> Told:
    advice, launch = max(found, key=lambda each: each[0].gain_us or 0.0)
    text = sentence(advice, launch.forecast.prediction)
    if launches > 1:
        others = len(found) - 1
        also = f" (and {others} other{'s' if others > 1 else ''})" if others else ""
        text = f"{text} This is about launch {launch_title(launch)}{also}."
    return Told(advice, text)


def sentence(advice: Advice, prediction: Prediction | None) -> str:
    """Return the message as a sentence, with what heeding it would save."""
    text = f"{as_sentence(advice.message)}."
    if advice.gain_us is None or prediction is None:
        return text
    whole = format_duration_us(prediction.runtime_us.p50)
    return f"{text} It may save about {format_duration_us(advice.gain_us, 1)} of {whole}."


def advice_json(advice: Advice, kernel: Kernel) -> dict[str, Any]:
    """Lines count from 1; advice on a launch as a whole stands where the kernel's name does."""
    line = kernel.name_range.start_line if advice.line is None else advice.line
    gain = {} if advice.gain_us is None else {"gain_us": advice.gain_us}
    return {"code": str(advice.code), "line": line + 1, "message": advice.message, **gain}
