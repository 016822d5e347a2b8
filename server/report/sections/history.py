"""Measurements of this kernel so far, the newest first."""

from __future__ import annotations

from collections.abc import Sequence

from server.report.charts.legend import legend
from server.report.charts.trend import trend_charts
from server.report.facts import HistoryRow, KernelFacts
from server.report.markup import Child, tag
from server.report.sections.tables import Column, Row, table
from server.text.device_names import shown_name
from server.text.format import format_duration_us, format_interval, format_percent

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
