"""Breakdown of the time: resources, lines, what was assumed, and how to read it."""

from __future__ import annotations

from model.prediction import Prediction
from server.report.facts import KernelFacts, LaunchFacts
from server.report.markup import Child, Column, Element, Row, prose, table, tag
from server.text.account import line_rows, name_of_part
from server.text.account import reading as account_reading
from server.text.advice import sentence
from server.text.format import format_duration_us, whole_percents

_MOST_LINES = 10
_LEAST_SHOWN = 0.001  # of the time


def reading(launch: LaunchFacts) -> list[Child]:
    """Return two or three plain sentences."""
    prediction = launch.forecast.prediction
    if prediction is None or not prediction.resources:
        return []
    return [tag("p", account_reading(prediction.account), " ", _doubt(prediction), class_="reading")]


def _doubt(prediction: Prediction) -> str:
    widest = max(prediction.assumptions, key=lambda a: a.spread, default=None)
    if widest is not None and widest.spread > 2:
        return f"The interval is wide mostly because of an assumption: {widest.text.rstrip('.')}."
    if not prediction.calibrated:
        return "The rates of this device were never measured, which makes the interval wide."
    return "The device is calibrated; the interval is for what its compiler may make of the source."


def breakdown_section(kernel: KernelFacts, launch: LaunchFacts) -> list[Child]:
    prediction = launch.forecast.prediction
    if prediction is None:
        return []
    return [*_resources(prediction), *_lines(kernel, prediction), *_assumptions(prediction)]


def _resources(prediction: Prediction) -> list[Child]:
    account = prediction.account
    columns = (
        Column("Resource"), Column("Kind"), Column("Share", "number"), Column("Time", "number"),
        Column("Hidden", "number"), Column("", "fill"),
    )  # fmt: skip
    shown = [r for r in account.parts if max(r.time_us, r.hidden_us) >= _LEAST_SHOWN * account.runtime_us]
    percents = whole_percents([r.share for r in shown])
    rows = [
        Row(
            [
                name_of_part(r),
                str(r.bound or ""),  # the colour of the bar says the same
                f"{percent} %" if percent or not r.share else "< 1 %",
                format_duration_us(r.time_us),
                format_duration_us(r.hidden_us) if r.hidden_us >= _LEAST_SHOWN * account.runtime_us else "",
                _bar(r.share),
            ],
            f"bound-{r.bound or 'latency'}",
            r.resource,
        )
        for r, percent in zip(shown, percents, strict=True)
    ]
    if not rows:
        return []
    note = (
        f"What each resource adds to the predicted {format_duration_us(account.runtime_us)}. Work that overlaps with "
        "longer work of other resources is hidden, and costs nothing."
    )
    found = table(columns, rows, "resources full", "Time for each resource")
    return [tag("h4", "Where the time goes"), found, tag("p", note, class_="soft")]


def _bar(share: float) -> Element:
    amount = tag("rect", x=0, y=1, width=max(0.5, share * 100), height=10, class_="amount")
    return tag("svg", amount, class_="bar", viewBox="0 0 100 12", preserveAspectRatio="none", aria_hidden="true")


def _lines(kernel: KernelFacts, prediction: Prediction) -> list[Child]:
    rows = [
        Row([place.removeprefix("line "), share, prose(what), _bar(float(share.removesuffix(" %")) / 100)], key=place)
        for share, place, what in line_rows(prediction, _MOST_LINES)
    ]
    if not rows:
        return []
    columns = (Column("Line", "number"), Column("Share", "number"), Column("Mostly", "words"), Column("", "fill", True))
    return [tag("h4", "Hottest lines"), table(columns, rows, "lines full", f"Lines of {kernel.file}")]


def advice_section(launch: LaunchFacts) -> list[Child]:
    """Return what would make the launch faster, right behind what limits it."""
    prediction = launch.forecast.prediction
    if prediction is None or not prediction.advice:
        return []
    said = [
        tag(
            "li",
            "" if a.line is None else f"Line {a.line + 1}: ",
            prose(sentence(a, prediction)),
            data_code=str(a.code),
        )
        for a in prediction.advice
    ]
    return [tag("h4", "Advice"), tag("ul", said, class_="assumptions advice")]


def _assumptions(prediction: Prediction) -> list[Child]:
    if not prediction.assumptions:
        return []
    said = [
        tag(
            "li",
            prose(a.text.rstrip(".")),
            f" (may be off by a factor of {a.spread:.2g})." if a.spread > 1.005 else ".",
        )
        for a in prediction.assumptions
    ]
    return [tag("h4", "Assumed"), tag("ul", said, class_="assumptions")]
