"""A program's timeline: a row for each thread of the host, engine and recorded queue, a box for each command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from model.program.command import TRANSFERS, Command, CommandKind, CommandSequence
from model.program.timeline import Part, Timeline
from server.report.charts.axes import LinearAxis
from server.report.charts.frame import Format, picture
from server.report.charts.labels import text_width
from server.report.markup import Child, Element, tag
from server.text.format import format_duration_us

STYLE = """.box { stroke: none; fill: var(--soft); }
.box.kernels { fill: var(--predicted); } .box.transfers { fill: var(--memory); } .box.builds { fill: var(--compute); }
.row-name { fill: var(--text); } .lane { stroke: var(--line); stroke-width: 0.6; }
"""
LEGEND = (("box kernels", "kernels"), ("box transfers", "transfers"), ("box builds", "builds"), ("box calls", "calls"))
_WIDTHS = (720.0, 372.0)
_ROW, _BOX, _TOP, _BOTTOM, _LEFT, _RIGHT = 26.0, 16.0, 8.0, 30.0, 8.0, 14.0
_NAME = 15.0  # height of a row's name, above its boxes
_LEAST = 0.7  # pixels: what is nearer than that becomes one box
_MOST_BOXES = 2000


@dataclass(frozen=True, slots=True)
class Lane:
    """A row: its name, and what ran there as start, end [us] and part, by their start."""

    name: str
    spans: tuple[tuple[float, float, Part], ...]


def lanes(sequence: CommandSequence, timeline: Timeline) -> tuple[Lane, ...]:
    """Return what was predicted, and below it the queues as they were recorded if they had profiling."""
    rows: dict[str, list[tuple[float, float, Part]]] = {}
    for span in timeline.spans:
        command = sequence.commands[span.command]
        name = f"host thread {command.thread}" if span.engine is None else f"{span.engine.device}, {span.engine.name}"
        part = _call_part(command) if span.engine is None else _part(command)
        rows.setdefault(name, []).append((span.start_us, span.end_us, part))
    for command in sequence.commands:
        if command.queue is not None and command.start_us is not None and command.finish_us is not None:
            name = f"recorded: queue {command.queue} of {sequence.queues[command.queue].device}"
            rows.setdefault(name, []).append((command.start_us, command.finish_us, _part(command)))
    ordered = sorted(rows, key=lambda name: (name.startswith("recorded"), not name.startswith("host"), name))
    return tuple(Lane(name, tuple(sorted(rows[name], key=lambda span: span[0]))) for name in ordered)


def timeline_charts(chart_id: str, rows: Sequence[Lane]) -> list[Element]:
    """Draw the rows, from where the devices begin to work to the end."""
    devices = [span for row in rows if not row.name.startswith("host") for span in row.spans]
    begin_us = min((start for start, _, _ in devices), default=0.0)
    end_us = max((end for row in rows for _, end, _ in row.spans), default=begin_us + 1.0)
    return [
        _draw(chart_id, Format(name, width, 0.0), rows, begin_us, max(end_us, begin_us + 1e-3))
        for name, width in zip(("wide", "narrow"), _WIDTHS, strict=True)
    ]


def _draw(chart_id: str, format_: Format, rows: Sequence[Lane], begin_us: float, end_us: float) -> Element:
    height = _TOP + len(rows) * (_ROW + _NAME) + _BOTTOM
    axis = LinearAxis(0.0, end_us - begin_us, _LEFT, format_.width - _RIGHT)
    parts: list[Child] = [_ticks(axis, format_, height)]
    for number, row in enumerate(rows):
        top = _TOP + number * (_ROW + _NAME)
        parts.append(tag("text", row.name, x=_LEFT, y=top + 10, class_="row-name"))
        parts.extend(_boxes(row, axis, top + _NAME, begin_us))
    description = f"{len(rows)} rows over {format_duration_us(end_us - begin_us)}."
    return picture(format_, f"{chart_id}-{format_.name}", "Timeline of the program", description, parts, height)


def _ticks(axis: LinearAxis, format_: Format, height: float) -> Iterator[Child]:
    taken_to = float("-inf")
    for value in axis.ticks(6):
        at, words = axis.at(value), format_duration_us(value, 3)
        yield tag("line", class_="lane", x1=at, x2=at, y1=_TOP, y2=height - _BOTTOM + 4)
        half = text_width(words) / 2
        middle = max(at, half)  # the first one starts at the edge
        if middle - half > taken_to and middle + half <= format_.width:
            taken_to = middle + half + 6
            yield tag("text", words, x=middle, y=height - 10, class_="tick", text_anchor="middle")


def _boxes(row: Lane, axis: LinearAxis, top: float, begin_us: float) -> Iterator[Element]:
    """Yield boxes; neighbours of one part that are too near to be told apart become one."""
    boxes: list[tuple[float, float, Part]] = []
    for start_us, end_us, part in row.spans:
        if end_us <= begin_us:
            continue
        start, end = axis.at(max(start_us - begin_us, 0.0)), axis.at(end_us - begin_us)
        if boxes and boxes[-1][2] == part and start - boxes[-1][1] < _LEAST:
            boxes[-1] = boxes[-1][0], max(end, boxes[-1][1]), part
        else:
            boxes.append((start, end, part))
    for start, end, part in boxes[:_MOST_BOXES]:
        width = max(end - start, _LEAST)
        yield tag("rect", x=start, y=top, width=width, height=_BOX, class_=f"box {part}")


def _part(command: Command) -> Part:
    return Part.TRANSFER if command.kind in TRANSFERS else Part.KERNEL


def _call_part(command: Command) -> Part:
    if command.kind is CommandKind.BUILD:
        return Part.BUILD
    return Part.TRANSFER if command.kind is CommandKind.CREATE else Part.CALL
