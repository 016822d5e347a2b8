"""Measurements of this kernel so far, the newest first."""

from __future__ import annotations

from collections.abc import Sequence

from server.report.charts.axes import LinearAxis
from server.report.charts.frame import Format, Frame, bar, legend, measured_mark, polyline
from server.report.facts import HistoryRow, KernelFacts
from server.report.markup import Child, Column, Element, Row, table, tag
from server.text.format import format_duration_us, format_interval, format_percent, shown_name

_MOST_ROWS = 30
_COLUMNS = (
    Column("Date, UTC"),
    Column("Device", "name"),
    Column("Launch"),
    Column("Median", "number"),
    Column("80 % range", "number"),
    Column("Repeatability", "number"),
    Column("Predicted", "number"),
    Column("Off", "number"),
    Column("Source"),
)
_NOTE = (
    "Repeatability: how far apart the medians of separate batches of runs lie. Predicted and Off: "
    "what the prediction was then, and how far from the median. Source: whether the kernel is the same as now."
)


def history_section(kernel: KernelFacts, chart_id: str) -> list[Child]:
    heading = tag("h3", "Measurements")
    if not kernel.history:
        how = (
            "The code action Measure, or kernelcast measure, runs the kernel and keeps the result."
            if kernel.is_device_here
            else f"{shown_name(kernel.device.name)} is not in this machine."
        )
        why = kernel.memory_problem or f"None yet. {how}"
        return [heading, tag("p", why, class_="soft no-history")]
    found: list[Child] = [heading]
    for place, rows in enumerate(_series(kernel.history)[:2]):
        title = f"{rows[0].launch_name} on {shown_name(rows[0].measurement.device_name)}"
        entries = [("mark measured", "measured median, with its 80 % range"), ("dash predicted", "predicted then")]
        if not all(r.is_same_source for r in rows):
            entries.append(("mark measured old", "measured of another state of the source"))
        figure: list[Child] = [
            trend_charts(f"{chart_id}-{place}", rows),
            legend(entries),
            tag("figcaption", f"{title}."),
        ]
        found.append(tag("figure", figure, class_="trend"))
    shown = kernel.history[:_MOST_ROWS]
    found.append(table(_COLUMNS, [_row(row) for row in shown], "history full", "Measurements of this kernel"))
    found.append(tag("p", _NOTE, class_="soft"))
    if len(kernel.history) > len(shown):
        found.append(tag("p", f"{len(kernel.history) - len(shown)} older ones are not shown.", class_="soft"))
    if kernel.memory_problem:
        found.append(tag("p", kernel.memory_problem, class_="warning"))
    return found


def _series(history: Sequence[HistoryRow]) -> list[list[HistoryRow]]:
    """Return the measurements of each launch on one device, the oldest first, if there are several."""
    found: dict[tuple[str, str], list[HistoryRow]] = {}
    for row in reversed(history):
        if row.launch_name is not None:
            found.setdefault((row.measurement.launch_key, row.measurement.device_id), []).append(row)
    return [rows[-40:] for rows in found.values() if len(rows) > 2]


def _row(row: HistoryRow) -> Row:
    m = row.measurement
    cells: list[Child] = [
        m.measured_at[:16].replace("T", " "),
        shown_name(m.device_name),
        row.launch_name or m.launch,
        format_duration_us(m.median_us),
        format_interval(m.p10_us, m.p90_us),
        f"±{format_percent(m.batch_spread_percent)}",
        "" if row.predicted_us is None else format_duration_us(row.predicted_us),
        "" if row.error_percent is None else format_percent(row.error_percent, signed=True),
        "as now" if row.is_same_source else "changed",
    ]
    return Row(cells, None if row.is_same_source and row.launch_name else "other")


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
