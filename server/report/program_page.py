"""A page about a whole program: its parts, kernels and timeline."""

from __future__ import annotations

from collections.abc import Sequence

from model.program.command import CommandSequence
from model.program.timeline import Timeline
from server.report.charts import timeline as chart
from server.report.markup import Child, document, prose, tag
from server.report.page import POLICY
from server.report.sections.tables import Column, Row, table
from server.report.style import STYLE

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
    figure: list[Child] = [chart.timeline_charts("program", rows), chart.legend_of()]
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
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} - Kernelcast"),
        tag("style", STYLE + chart.STYLE),
    )
    return document(tag("html", head, tag("body", body), lang="en"))


def _columns(names: Cells) -> list[Column]:
    return [Column(name, "number" if place else "") for place, name in enumerate(names)]
