"""Measurements of one launch in the order in which they were made, to see whether it is getting faster."""

from __future__ import annotations

from collections.abc import Sequence

from server.report.charts.axes import LinearAxis
from server.report.charts.frame import Format, Frame, bar, measured_mark, polyline
from server.report.facts import HistoryRow
from server.report.markup import Element, tag
from server.text.format import format_duration_us

_FORMATS = (Format("wide", 720, 200), Format("narrow", 372, 200))


def trend_charts(chart_id: str, rows: Sequence[HistoryRow]) -> list[Element]:
    """Draw `rows` of one launch on one device, the oldest first; at least two."""
    return [_draw(chart_id, format_, rows) for format_ in _FORMATS]


def _draw(chart_id: str, format_: Format, rows: Sequence[HistoryRow]) -> Element:
    plot = format_.plot
    predicted = [r.predicted_us for r in rows if r.predicted_us is not None]
    highest = max([*(r.measurement.p90_us for r in rows), *predicted])
    x = LinearAxis(-0.5, len(rows) - 0.5, plot.left, plot.right)
    y = LinearAxis(0.0, highest * 1.1, plot.bottom, plot.top)
    frame = Frame(format_, LinearAxis(0, 0, plot.left, plot.right), y)
    first, last = rows[0].measurement, rows[-1].measurement
    frame.axes(
        f"{len(rows)} measurements, {first.measured_at[:10]} to {last.measured_at[:10]}",
        "runtime",
        lambda _: "",
        format_duration_us,
    )
    frame.add(polyline([(x.at(i), y.at(r.measurement.median_us)) for i, r in enumerate(rows)], "curve measured"))
    for place, row in enumerate(rows):
        at, m = x.at(place), row.measurement
        if row.predicted_us is not None:
            level = y.at(row.predicted_us)
            frame.add(tag("line", x1=at - 8, x2=at + 8, y1=level, y2=level, class_="dash predicted"))
        mark = measured_mark(at, y.at(m.median_us), 5)
        if not row.is_same_source:
            mark.set("class", "mark measured old")
        frame.add(bar(at, y.at(m.p10_us), at, y.at(m.p90_us), "range measured"), mark)
    description = f"From {format_duration_us(first.median_us)} to {format_duration_us(last.median_us)}."
    return frame.svg(chart_id, "Measurements of this launch over time", description)
