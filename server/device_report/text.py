"""A device's roofline for a terminal: characters on a log-log grid, told apart by shape and never by colour."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from model.device import Device
from model.device_curves import MemoryLevel
from model.roofline import Ceiling
from server.device_report.facts import ceilings, intensities, level_name, levels
from server.text.format import format_count

LEAST_WIDTH, MOST_WIDTH = 36, 100
_ROWS = 16
_MARGIN = 14  # columns for the words of the vertical axis
_PLAIN = str.maketrans({"─": "-", "│": "|", "└": "+", "µ": "u", "±": "~"})


def roofline_lines(device: Device, width: int) -> list[str]:
    """Return the plot and its legend, no line longer than `width` (36 at least).

    Empty where nothing is known of memory.
    """
    slopes, roofs = levels(device), ceilings(device)
    if not slopes or not roofs:
        return []
    columns = max(LEAST_WIDTH, min(width, MOST_WIDTH)) - _MARGIN - 1
    return [*_plot(slopes, roofs, columns), "", *_legend(slopes, roofs, width)]


def plain(text: str) -> str:
    """Return the text without line drawing, for terminals and files that cannot hold it."""
    return text.translate(_PLAIN)


def _plot(slopes: Sequence[MemoryLevel], roofs: Sequence[Ceiling], columns: int) -> Iterator[str]:
    low, high = intensities(slopes, roofs)
    top = math.log10(roofs[0].gop_s)
    bottom = min(math.log10(slopes[-1].read_gb_s * low), math.log10(roofs[-1].gop_s)) - 0.1
    grid = [[" "] * columns for _ in range(_ROWS)]

    def row_of(gop_s: float) -> int:
        return round((top - math.log10(gop_s)) / (top - bottom) * (_ROWS - 1))

    def at(column: int) -> float:
        return 10 ** (math.log10(low) + column / (columns - 1) * math.log10(high / low))

    for roof in roofs:
        for column in range(columns):
            if at(column) * slopes[0].read_gb_s >= roof.gop_s:
                grid[row_of(roof.gop_s)][column] = "─"
    for mark, slope in reversed(list(zip(_marks(slopes), slopes, strict=True))):
        for column in range(columns):
            row = row_of(at(column) * slope.read_gb_s)
            if 0 <= row < _ROWS:
                grid[row][column] = mark
    rows_of = {row_of(roof.gop_s): roof for roof in reversed(roofs)}
    yield f"{'Gop/s':>{_MARGIN - 1}}"
    for row, cells in enumerate(grid):
        named = rows_of.get(row)
        words = f"{named.name.split()[-1]} {_short(named.gop_s)}" if named else ""
        yield f"{words:>{_MARGIN - 1}} │{''.join(cells)}".rstrip()
    yield f"{'':{_MARGIN}}└{'─' * (columns - 1)}"
    left, most = f"{low:.2g}", f"{high:.0f}" if high >= 10 else f"{high:.2g}"
    right = next(w for w in (f"{most} op for each byte", f"{most} op/B", "") if len(w) + len(left) < columns)
    yield f"{'':{_MARGIN}}{left}{right:>{max(0, columns - len(left))}}"


def _legend(slopes: Sequence[MemoryLevel], roofs: Sequence[Ceiling], width: int) -> Iterator[str]:
    for mark, slope in zip(_marks(slopes), slopes, strict=True):
        yield f"{mark} {level_name(slope)}: {format_count(slope.read_gb_s * 1e9, 'B/s')}"[:width]
    named = ", ".join(f"{roof.name} {_short(roof.gop_s)}" for roof in roofs)
    line = "─"
    for word in f"{named} Gop/s".split(" "):
        if len(line) + len(word) + 1 > width:
            yield line
            line = " "
        line += f" {word}"
    yield line


def _marks(slopes: Sequence[MemoryLevel]) -> list[str]:
    return [*(str(number) for number in range(1, len(slopes))), "m"]


def _short(gop_s: float) -> str:
    return f"{gop_s:,.0f}" if gop_s >= 100 else f"{gop_s:.3g}"
