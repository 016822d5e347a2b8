"""Where the time goes: resources, lines, what was taken for granted, and how to read it."""

from __future__ import annotations

from model.laws import bound_of_resource
from model.prediction import Bound, Prediction
from server.report.facts import KernelFacts, LaunchFacts
from server.report.markup import Child, Element, prose, tag, unbroken
from server.report.sections.tables import Column, Row, table
from server.words.advice import sentence
from server.words.format import format_duration_us, format_percent

_MOST_LINES = 10
_ADVICE = {
    Bound.MEMORY: "Most of the time goes to moving data ({time} for {what} alone), so fewer bytes, or using again "
    "what was loaded, will help more than saving operations.",
    Bound.COMPUTE: "Most of the time goes to operations ({time} for {what} alone), so fewer or cheaper ones will "
    "help more than saving bytes.",
    Bound.LATENCY: "Most of the time goes to waiting ({time} for {what} alone): for barriers, for atomics on one "
    "place, or for operations that need the result of the one before. More independent work at a time will help.",
    Bound.LAUNCH: "Starting it costs more than what it does ({time} for {what} alone), so more work in each launch "
    "and in each work-group will help.",
}


def reading(launch: LaunchFacts) -> list[Child]:
    """Two or three plain sentences."""
    prediction = launch.forecast.prediction
    if prediction is None or not prediction.resources:
        return []
    own = [r for r in prediction.resources if bound_of_resource(r.resource) is prediction.bound]
    heaviest = (own or list(prediction.resources))[0]
    advice = _ADVICE[prediction.bound].format(
        what=heaviest.resource, time=unbroken(format_duration_us(heaviest.time_us))
    )
    return [tag("p", advice, " ", _doubt(prediction), class_="reading")]


def _doubt(prediction: Prediction) -> str:
    widest = max(prediction.assumptions, key=lambda a: a.spread, default=None)
    if widest is not None and widest.spread > 2:
        return f"What makes the interval so wide is above all an assumption: {widest.text.rstrip('.')}."
    if not prediction.calibrated:
        return "The rates of this device were never measured, which makes the interval wide."
    return "The device is calibrated; what its compiler makes of the source is what the interval allows for."


def breakdown_section(kernel: KernelFacts, launch: LaunchFacts) -> list[Child]:
    prediction = launch.forecast.prediction
    if prediction is None:
        return []
    return [*_resources(prediction), *_lines(kernel, prediction), *_advice(prediction), *_assumptions(prediction)]


def _resources(prediction: Prediction) -> list[Child]:
    longest = max((r.time_us for r in prediction.resources), default=0.0)
    if longest <= 0:
        return []
    columns = (Column("Resource"), Column("Alone", "number"), Column("", "fill"))
    rows = [
        Row(
            [r.resource, format_duration_us(r.time_us), _bar(r.time_us / longest)],
            f"bound-{bound_of_resource(r.resource)}",
            r.resource,
        )
        for r in prediction.resources
        if r.time_us >= 0.001 * longest
    ]
    note = (
        "What each resource would need if it were alone and perfectly used. They overlap in part and none is used "
        "perfectly, so they do not add up to the prediction."
    )
    found = table(columns, rows, "resources full", "Time for each resource")
    return [tag("h4", "Resources"), found, tag("p", note, class_="soft")]


def _bar(share: float) -> Element:
    amount = tag("rect", x=0, y=1, width=max(0.5, share * 100), height=10, class_="amount")
    return tag("svg", amount, class_="bar", viewBox="0 0 100 12", preserveAspectRatio="none", aria_hidden="true")


def _lines(kernel: KernelFacts, prediction: Prediction) -> list[Child]:
    shown = [share for share in prediction.lines if share.line >= 0][:_MOST_LINES]
    if not shown:
        return []
    columns = (Column("Line", "number"), Column("Share", "number"), Column("Mostly", "words"), Column("", "fill", True))
    rows = [
        Row([str(s.line + 1), format_percent(s.share * 100), prose(s.what), _bar(s.share)], key=str(s.line + 1))
        for s in shown
    ]
    return [tag("h4", "Hottest lines"), table(columns, rows, "lines full", f"Lines of {kernel.file}")]


def _advice(prediction: Prediction) -> list[Child]:
    if not prediction.advice:
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
            f" (may cost a factor of {a.spread:.2g})." if a.spread > 1.005 else ".",
        )
        for a in prediction.assumptions
    ]
    return [tag("h4", "Taken for granted"), tag("ul", said, class_="assumptions")]
