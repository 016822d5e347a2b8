"""Roofline, or what stands in its place where nothing computes or nothing is loaded."""

from __future__ import annotations

from collections.abc import Sequence

from model.prediction import Prediction
from model.roofline import Roofline
from server.report.charts.axes import LogAxis
from server.report.charts.frame import FORMATS, WIDE, Format, bar, legend, measured_mark, picture, predicted_mark
from server.report.charts.labels import text_width
from server.report.charts.roofline import legend_entries, roofline_charts
from server.report.facts import LaunchFacts
from server.report.markup import Child, Element, tag
from server.text.account import limit_text, share_text
from server.text.format import format_bytes, format_count


def roofline_section(launch: LaunchFacts, chart_id: str, device_name: str) -> list[Child]:
    prediction, roof = launch.forecast.prediction, launch.roofline
    if prediction is None or roof is None:
        return []
    if roof.intensity is not None and roof.slopes and roof.ceilings:
        charts = roofline_charts(chart_id, roof, prediction.runtime_us, launch.measured)
        key = legend(legend_entries(roof, is_measured=launch.measured is not None))
        caption = tag("figcaption", _caption(roof, device_name, prediction))
        return [_heading("Roofline"), tag("figure", charts, key, caption, class_="roofline")]
    if roof.requested_bytes and roof.slopes:
        levels = [("caches" if s.up_to_bytes else "memory", s.read_gb_s * 1e9) for s in roof.slopes]
        charts = gauges(chart_id, "Bytes a second", "B/s", levels[-2:], _marks(launch, roof.requested_bytes))
        what = (
            "This launch computes nothing that a roofline counts, so this is how fast it moves the "
            f"{format_bytes(roof.requested_bytes)} that it asks of global memory, beside what {device_name} sustains."
        )
    elif roof.operations:
        unit, limits = f"{roof.unit}/s", [(c.name, c.gop_s * 1e9) for c in roof.ceilings]
        charts = gauges(chart_id, f"{roof.unit}s a second", unit, limits, _marks(launch, roof.operations))
        what = (
            "This launch asks nothing of global memory, so it has no place on a roofline; this is how fast it "
            f"computes, beside what {device_name} sustains."
        )
    else:
        said = "As far as its source tells, this launch neither computes nor asks for global memory: no roofline."
        return [_heading("Roofline"), tag("p", said, class_="no-roofline soft")]
    return [_heading("Rate"), tag("figure", charts, tag("figcaption", what), class_="rate")]


def _heading(text: str) -> Child:
    return tag("h4", text)


def _marks(launch: LaunchFacts, amount: float) -> list[Mark]:
    """Return predicted and measured rates a second."""
    prediction, measured = launch.forecast.prediction, launch.measured
    assert prediction is not None
    q = prediction.runtime_us
    marks: list[Mark] = [("predicted", *_rates(amount, q.p90, q.p50, q.p10))]
    if measured:
        marks.append(("measured", *_rates(amount, measured.p90_us, measured.median_us, measured.p10_us)))
    return marks


def _rates(amount: float, low_us: float, middle_us: float, high_us: float) -> tuple[float, float, float]:
    """Return the rates, those of the longest time first, so that they ascend."""
    return 1e6 * amount / low_us, 1e6 * amount / middle_us, 1e6 * amount / high_us


def _caption(roof: Roofline, device_name: str, prediction: Prediction) -> str:
    integers = " It computes with integers alone, so operations on these are counted." if roof.unit == "int op" else ""
    return (
        f"{format_count(roof.operations, roof.unit)}s for {format_bytes(roof.requested_bytes)} of global memory, under "
        f"the roofs of {device_name}.{integers} Bytes are counted as loads and stores ask for them, so a kernel that "
        "reads its data again from a cache may lie above the roof of memory. The bar is the 80 % range. "
        f"{share_text(_limit_share(prediction))} of the launch's time goes to {limit_text(prediction.account)}."
    )


def _limit_share(prediction: Prediction) -> float:
    return next((share for _, share in prediction.account.kinds), 0.0)


_ROW, _NAME = 32.0, 18.0

Mark = tuple[str, float, float, float]  # `predicted` or `measured`; low, middle and high rate


def gauges(
    chart_id: str, title: str, unit: str, limits: Sequence[tuple[str, float]], marks: Sequence[Mark]
) -> list[Element]:
    """Draw `limits` with their names, and `marks`, in `unit` a second."""
    return [_draw(chart_id, format_, title, unit, limits, marks) for format_ in FORMATS]


def _draw(
    chart_id: str,
    format_: Format,
    title: str,
    unit: str,
    limits: Sequence[tuple[str, float]],
    marks: Sequence[Mark],
) -> Element:
    left, right = 86.0, format_.width - 14
    values = [v for _, *three in marks for v in three] + [rate for _, rate in limits]
    x = LogAxis.around(values, left, right, least_decades=2)
    top = _NAME * len(limits) + 8
    bottom = top + _ROW * len(marks)
    parts: list[Child] = []
    for value in x.ticks(8 if format_ is WIDE else 4):
        at = x.at(value)
        parts.append(tag("line", class_="grid", x1=at, x2=at, y1=top, y2=bottom))
        parts.append(_text(format_count(value, unit), at, bottom + 14, "tick", "middle"))
    # The slowest on top: no line then goes through the name of another.
    for row, (name, rate) in enumerate(sorted(limits, key=lambda limit: limit[1])):
        at, level = x.at(rate), _NAME * (row + 0.5)
        parts.append(tag("line", class_="roof memory", x1=at, x2=at, y1=level - 6, y2=bottom))
        words = f"{name}, {format_count(rate, unit)}"
        fits = at + 6 + text_width(words) < format_.width
        parts.append(_text(words, at + 6 if fits else at - 6, level, "label roof-name", "start" if fits else "end"))
    for row, (word, low, middle, high) in enumerate(marks):
        level = top + _ROW * (row + 0.5)
        parts.append(_text(word, left - 12, level, "tick", "end"))
        mark = measured_mark if word == "measured" else predicted_mark
        parts += [*bar(x.at(low), level, x.at(high), level, f"range {word}"), mark(x.at(middle), level)]
    said = "; ".join(f"{word} {format_count(middle, unit)}" for word, _, middle, _ in marks)
    return picture(format_, f"{chart_id}-{format_.name}", title, f"{said}.", parts, height=bottom + 24)


def _text(text: str, x: float, y: float, class_: str, anchor: str) -> Element:
    return tag("text", text, x=x, y=y, class_=class_, text_anchor=anchor, dominant_baseline="central")
