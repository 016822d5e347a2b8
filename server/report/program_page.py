"""A page about a whole program: its parts, kernels and timeline."""

from __future__ import annotations

from collections.abc import Sequence

from model.program.command import CommandSequence
from model.program.timeline import Timeline
from server.report.charts import timeline as chart
from server.report.charts.frame import legend
from server.report.markup import Child, Column, Row, prose, table, tag
from server.report.page import self_contained

Cells = Sequence[str]


def program_page(
    title: str,
    sentences: Sequence[str],
    tables: Sequence[tuple[str, Cells, Sequence[Cells]]],
    sequence: CommandSequence,
    timeline: Timeline,
    notes: Sequence[str],
) -> str:
    """Return a self-contained page; `tables` have a title, the names of columns, and rows."""
    rows = chart.lanes(sequence, timeline)
    figure: list[Child] = [chart.timeline_charts("program", rows), legend(chart.LEGEND)]
    body = tag(
        "main",
        tag("h1", title),
        [tag("p", prose(each), class_="lead") for each in sentences],
        tag("figure", figure, class_="timeline"),
        [
            [tag("h3", name), table(_columns(columns), [Row(cells) for cells in cells_of], "full", name)]
            for name, columns, cells_of in tables
            if cells_of
        ],
        [tag("p", prose(note), class_="soft") for note in notes],
    )
    return self_contained(title, body, chart.STYLE)


def _columns(names: Cells) -> list[Column]:
    return [Column(name, "number" if place else "") for place, name in enumerate(names)]
