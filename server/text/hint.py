"""Words and figures for small places: what a hint says, in at most about 30 characters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from server.text.format import format_duration_us, format_interval, missed_factor, shown_name, spread_percent
from server.text.recorded import program_time, recorded_words
from server.text.versions import faster_words

if TYPE_CHECKING:
    from model.launch.launch import Assumption
    from model.prediction import Prediction, Quantiles
    from profiler.measurement import Measurement
    from server.launch_view import LaunchView

HINT_LENGTH = 30
_RECORDED_LENGTH = 36  # of a hint that says how often the program made the launch
_TWO_DEVICES_LENGTH = 48
_GUESSES_SHOWN = 4
_VALUE = re.compile(r"(`[^`]+`=[^\s:,]+)")  # an assumption's text begins with what is taken for its value
_CONTENTS = re.compile(r"(what `[^`]+` holds) decides")
_DEFINED = re.compile(r"(`\w+`)=")
_BASIS = {
    "analytic": "analytical model",
    "model": "learned model",
    "compiled": "learned model, with what the driver's compiler made of the kernel",
    "measured": "measurements of the same kernel, or of an earlier version",
}


def hint_label(launches: Sequence[LaunchView], second: str = "") -> str:
    """Return one kernel's cost under its launches, or the reason why it cannot be told.

    `second` is what it takes on another device, which a kernel of several launches has no room for.
    """
    if second and len(launches) == 1 and launches[0].forecast.prediction is not None:
        both = [f"{each(launches[0])} · {second}" for each in (_launch_label, _briefest)]
        return _first_that_fits(both, _TWO_DEVICES_LENGTH)
    if len(launches) == 1 or launches[0].forecast.recorded is not None:  # the other recorded launches are in the hover
        return _launch_label(launches[0])
    short = " · ".join(f"{_name(launch)}: {_briefest(launch)}" for launch in launches)
    if len(short) <= HINT_LENGTH:
        return short
    more = f" (+{len(launches) - 1} more)"
    return _first_that_fits([_launch_label(launches[0]), _briefest(launches[0])], HINT_LENGTH - len(more)) + more


def hint_tooltip(launches: Sequence[LaunchView]) -> str:
    """Return what the mouse on a hint brings up: what it is the time of."""
    problem = next((launch.forecast.problem for launch in launches if launch.forecast.problem), None)
    if problem is not None:
        return problem.message
    first = launches[0]
    prediction, launch = first.forecast.prediction, first.forecast.launch
    if prediction is None or launch is None:
        return "Hover the kernel's name for details."
    guessed = f" (guessed: {guesses_text(prediction)})" if prediction.is_guessed else ""
    recorded = f" ({recorded_words(first.forecast.recorded)})" if first.forecast.recorded else ""
    q, device = prediction.runtime_us, shown_name(prediction.device_name)
    said = (
        f"Predicted: {format_duration_us(q.p50)} ({format_interval(q.p10, q.p90)}) on {device} for {launch.describe()}"
        f"{recorded}{guessed}, bound by {prediction.bound}."
    )
    if first.forecast.recorded and (whence := program_time(first.forecast.recorded)):
        said += f" In the program: {format_duration_us(first.forecast.recorded.own_us or 0.0)} ({whence})."
    if first.failure:
        said += f" Last measurement failed: {first.failure.message}"
    return f"{said} Hover the kernel's name for details."


def _launch_label(view: LaunchView) -> str:
    prediction = view.forecast.prediction
    if prediction is None:
        message = view.forecast.problem.message if view.forecast.problem else "no prediction"
        return "? " + shorten(message, HINT_LENGTH - 2)
    if view.measured:
        took = f"{format_duration_us(view.measured.median_us)}{guess_mark(prediction)} measured"
        own = format_duration_us(prediction.own_us.p50)
        off = error_text(prediction, view.measured)
        return _first_that_fits([f"{took} (est {off})", f"{took} (est {own})", took], HINT_LENGTH)
    estimate = f"{basis_sign(prediction)} {format_duration_us(prediction.runtime_us.p50)}{guess_mark(prediction)}"
    spread = spread_text(prediction.runtime_us)
    if prediction.relative is not None and prediction.through is None:
        change = faster_words(prediction.relative.ratio.p50)
        return _first_that_fits([f"{estimate} {spread} · {change}", f"{estimate} · {change}"], HINT_LENGTH)
    if view.stale:
        old = f"{format_duration_us(view.stale.median_us)} stale"
        return _first_that_fits([f"{estimate} {spread} · {old}", f"{estimate} · {old}"], HINT_LENGTH)
    if view.forecast.recorded is not None:
        said = recorded_words(view.forecast.recorded)
        short = [f"{estimate} {spread} · {said}", f"{estimate} · {said}", f"{estimate} · {said.partition(',')[0]}"]
        return _first_that_fits(short, _RECORDED_LENGTH)
    bound = f" · {prediction.bound}"
    short = [f"{estimate} {spread}{bound}", f"{_with_range(estimate, spread)}{bound}", f"{estimate}{bound}", estimate]
    return _first_that_fits(short, HINT_LENGTH)


def _with_range(estimate: str, spread: str) -> str:
    """`≈ 3.2 (0.68-21) min`: a range in the estimate's own unit, which stands once; else the estimate alone."""
    number, _, unit = estimate.rpartition(" ")
    reach, _, unit_of_reach = spread.rpartition(" ")
    is_range = "-" in reach and " " not in reach and unit_of_reach == unit.rstrip("?")
    return f"{number} ({reach}) {unit}" if is_range else estimate


def _briefest(view: LaunchView) -> str:
    prediction = view.forecast.prediction
    if view.measured:
        return f"{format_duration_us(view.measured.median_us)}{guess_mark(prediction)}"
    if prediction is None:
        return "?"
    return f"{basis_sign(prediction)} {format_duration_us(prediction.runtime_us.p50)}{guess_mark(prediction)}"


def _name(view: LaunchView) -> str:
    launch = view.forecast.launch
    if launch is None:
        return view.slot.launch
    return launch.name or "x".join(map(str, launch.global_size))


def launch_title(view: LaunchView) -> str:
    """Return what tells a launch from the others of its kernel: its name, else its sizes, else its place."""
    launch = view.forecast.launch
    return view.slot.launch if launch is None else launch.name or launch.describe()


def _first_that_fits(texts: list[str], length: int) -> str:
    return next((text for text in texts if len(text) <= length), texts[-1])


def shorten(text: str, length: int) -> str:
    """Cut at a word, with an ellipsis."""
    text = " ".join(text.split()).rstrip(".")
    if len(text) <= length:
        return text
    cut = text[: length - 1]
    head, space, _ = cut.rpartition(" ")
    return f"{(head if space and len(head) > length // 2 else cut).rstrip(' ,;:')}…"


def basis_sign(prediction: Prediction) -> str:
    """`~` for the analytical model on a device known from its datasheet or driver, `≈` for anything better founded."""
    return "≈" if prediction.calibrated or prediction.basis != "analytic" else "~"


def guess_mark(prediction: Prediction | None) -> str:
    """`?` behind the time of a launch of which sizes were guessed, or how often a loop runs."""
    return "?" if prediction is not None and prediction.is_guessed else ""


def guesses_text(prediction: Prediction) -> str:
    """`global size, n=512, how often the loop on line 12 runs`: what of the launch was guessed, in few words."""
    said = list(dict.fromkeys(_guess_text(each) for each in prediction.guesses))
    more = [f"{len(said) - _GUESSES_SHOWN} more"] if len(said) > _GUESSES_SHOWN else []
    return ", ".join(said[:_GUESSES_SHOWN] + more)


def _guess_text(guess: Assumption) -> str:
    if guess.subject in ("global", "local"):
        return f"{guess.subject} size"
    if guess.subject == "-D":
        first, *others = _DEFINED.findall(guess.text)
        return f"what {first} and {len(others)} more mean" if others else f"what {first} means"
    if contents := _CONTENTS.match(guess.text):
        return contents[1]
    if guess.subject == "sample":
        return "when a loop ends"
    if guess.line is not None and guess.subject.startswith("share."):
        return f"who takes the branch on line {guess.line + 1}"
    if guess.line is not None:
        return f"how often the loop on line {guess.line + 1} runs"
    if guess.text.startswith("the length of"):
        return f"length of `{guess.subject}`"
    value = _VALUE.match(guess.text)
    return value[1] if value else f"`{guess.subject}`"


def basis_text(prediction: Prediction | None) -> str:
    """Return what a prediction rests upon; without one, what it would rest upon at the least."""
    return basis_name(prediction.basis if prediction else "analytic")


def basis_name(basis: str) -> str:
    return _BASIS.get(str(basis), str(basis))


def spread_text(runtime_us: Quantiles) -> str:
    """`±15 %`, or p10 and p90 where one of them is a factor of 1.5 or more from the median: `0.17-1.0 s`."""
    return percent_spread_text(runtime_us) or format_interval(runtime_us.p10, runtime_us.p90)


def percent_spread_text(runtime_us: Quantiles) -> str:
    """`±15 %`; empty where the interval is too wide for a percentage, to be used beside the interval."""
    percent = spread_percent(runtime_us.p10, runtime_us.p50, runtime_us.p90)
    return "" if percent is None else f"±{round(percent)} %"


def error_percent(prediction: Prediction, measurement: Measurement) -> float:
    """Return how far the model's own prediction was off; above 0 when it was too slow."""
    return (prediction.own_us.p50 / measurement.median_us - 1) * 100 if measurement.median_us > 0 else 0.0


def error_text(prediction: Prediction, measurement: Measurement) -> str:
    """Return `+23 %`, `-32 %`; `3.1x low` and `12x high` where a factor says more."""
    return signed_miss(error_percent(prediction, measurement) / 100 + 1)


def signed_miss(ratio: float) -> str:
    """Return the error of a prediction for a narrow column, given predicted over measured time."""
    words = missed_factor(ratio)
    return f"{(ratio - 1) * 100:+.0f} %" if "%" in words else words.replace("x too ", "x ")
