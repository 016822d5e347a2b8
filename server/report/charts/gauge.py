"""One rate on a log scale between the rates that the device sustains: for launches that have no place on a roofline."""

from __future__ import annotations

from collections.abc import Sequence

from server.report.charts.axes import LogAxis
from server.report.charts.frame import FORMATS, WIDE, Format, bar, measured_mark, picture, predicted_mark
from server.report.charts.labels import text_width
from server.report.markup import Child, Element, tag
from server.text.format import format_count

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
