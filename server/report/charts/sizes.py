"""Runtime against problem size, log-log: the prediction as a curve in its band, measurements as diamonds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from server.report.charts.axes import LogAxis
from server.report.charts.frame import FORMATS, Format, Frame, band, bar, measured_mark, polyline, predicted_mark
from server.report.facts import Sizes
from server.report.markup import Element
from server.text.format import format_count, format_duration_us


def size_charts(chart_id: str, sizes: Sizes) -> list[Element]:
    """Return one for wide and one for narrow pages; `sizes` must hold two points at least."""
    return [_draw(chart_id, format_, sizes) for format_ in FORMATS]


def _draw(chart_id: str, format_: Format, sizes: Sizes) -> Element:
    plot, points = format_.plot, sizes.points
    first, last = points[0].work_items, points[-1].work_items
    shown = [m for m in sizes.measured if first / 4 <= m.work_items <= last * 4]
    items = [float(p.work_items) for p in points] + [float(m.work_items) for m in shown]
    times = [t for p in points for t in (p.runtime_us.p10, p.runtime_us.p90)]
    times += [t for m in shown for t in (m.p10_us, m.p90_us)]
    x = LogAxis.around(items, plot.left, plot.right)
    y = LogAxis.around(times, plot.bottom, plot.top)
    frame = Frame(format_, x, y)
    frame.axes("work-items", "runtime", format_count, lambda v: format_duration_us(v, 1))
    curve = [(x.at(p.work_items), y.at(p.runtime_us.p50)) for p in points]
    frame.add(
        band(
            [(x.at(p.work_items), y.at(p.runtime_us.p90)) for p in points],
            [(x.at(p.work_items), y.at(p.runtime_us.p10)) for p in points],
            "band",
        ),
        polyline(curve, "curve"),
    )
    for (x1, y1), (x2, y2) in pairwise(curve):
        frame.labels.keep_line_free(x1, y1, x2, y2)
    for m in shown:
        frame.labels.keep_free(x.at(m.work_items), y.at(m.median_us), 7)
    current = next(p for p in points if p.is_current)
    here = x.at(current.work_items), y.at(current.runtime_us.p50)
    frame.labels.keep_free(*here)
    frame.add(predicted_mark(*here))
    now = format_duration_us(current.runtime_us.p50)
    frame.add(frame.labels.beside([f"this launch, {now}", now], *here, "label predicted"))
    for m in shown:
        at, level = x.at(m.work_items), y.at(m.median_us)
        frame.add(bar(at, y.at(m.p10_us), at, y.at(m.p90_us), "range measured"), measured_mark(at, level))
        # Whatever is above a rising curve has room on its left.
        side = "end" if level < _height(curve, at) else "start"
        took = format_duration_us(m.median_us)
        frame.add(frame.labels.beside([f"measured {took}", took], at, level, "label measured", first=side))
    description = (
        f"From {format_duration_us(points[0].runtime_us.p50)} at {first:,} work-items to "
        f"{format_duration_us(points[-1].runtime_us.p50)} at {last:,}; this launch takes "
        f"{format_duration_us(current.runtime_us.p50)} at {current.work_items:,}. {len(shown)} sizes were measured."
    )
    return frame.svg(chart_id, "Predicted runtime against problem size", description)


def _height(curve: Sequence[tuple[float, float]], at: float) -> float:
    """Return the height of the curve at a place on the x axis; beyond its ends, that of the nearest."""
    for (x1, y1), (x2, y2) in pairwise(curve):
        if x1 <= at <= x2:
            return y1 + (y2 - y1) * (at - x1) / ((x2 - x1) or 1.0)
    return curve[0][1] if at < curve[0][0] else curve[-1][1]
