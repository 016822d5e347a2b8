"""Whole top-level items, about a function each, parsed alone.

What an item is follows from braces and semicolons. A brace that is never closed costs its own function: an item ends
before the next kernel at the latest, and then with the first line that begins with a closing brace.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from model.opencl.expanded_segments import ExpandedSegment, Shape
from model.opencl.kernel import SourceRange
from model.opencl.masking import Masked

_MOST_UNITS = 1000


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a unit begins: line and byte column from 0. Of units of other files: the line that includes them."""

    line: int
    byte: int


class TopLevelItem:
    """Expanded segments that belong together, and where each begins, in lines from the first one's."""

    __slots__ = ("_lines", "_unit_starts", "masked", "spots", "text", "units")

    def __init__(self, units: tuple[ExpandedSegment, ...], spots: tuple[Spot, ...]) -> None:
        self.units = units
        self.spots = spots
        self._lines: tuple[list[int], list[int]] | None = None
        starts, length = [], 0
        for unit in units:
            starts.append(length)
            length += len(unit.expanded.text)
        self._unit_starts = starts
        if len(units) == 1:
            self.text, self.masked = units[0].expanded.text, units[0].masked
            return
        self.text = "".join(u.expanded.text for u in units)
        self.masked = Masked(
            "".join(u.masked.text for u in units),
            tuple(o + start for u, start in zip(units, starts, strict=True) for o in u.masked.offsets),
            tuple(word for u in units for word in u.masked.words),
        )

    def is_own(self, offset: int) -> bool:
        """Return whether the text at `offset` comes from the main file."""
        return self.units[self._unit(offset)].is_own

    def range(self, start: int, end: int) -> SourceRange:
        """Return the user's text behind [start, end): lines from the item's first, columns of the file."""
        first, last = self._unit(start), self._unit(max(start, end - 1))
        low = self._place(first, self.units[first].expanded.origin(start - self._unit_starts[first]))
        raw_end = self.units[last].expanded.origin_end(end - self._unit_starts[last])
        high = self._place(last, raw_end)
        return SourceRange(*low, *max(low, high))

    def layout(self, start: int, end: int) -> str:
        """On which line, from the first, what stands in [start, end); comments and the width of space are left out."""
        first, last = self._unit(start), self._unit(max(start, end - 1))
        low = self.units[first].expanded.origin(start - self._unit_starts[first])
        high = self.units[last].expanded.origin_end(end - self._unit_starts[last])
        line = self._place(first, low)[0]
        told = []
        for number in range(first, last + 1):
            unit = self.units[number]
            text = unit.blank[low if number == first else 0 : high if number == last else len(unit.blank)]
            if number > first:  # directives stand between units
                told.append(f"#{self.spots[number].line - line}")
            told.append("\n".join(" ".join(part.split()) for part in text.split("\n")))
        return "\n".join(told)

    def lines(self) -> tuple[list[int], list[int]]:
        """Offsets, ascending, from which on each line holds; -1 for what comes from other files."""
        if self._lines is None:
            starts: list[int] = []
            lines: list[int] = []
            for offset, line in self._line_changes():
                starts.append(offset)
                lines.append(line)
            self._lines = starts, lines
        return self._lines

    def _line_changes(self) -> Iterator[tuple[int, int]]:
        for unit, spot, begin in zip(self.units, self.spots, self._unit_starts, strict=True):
            if not unit.is_own:
                yield begin, -1
                continue
            for fragment in unit.expanded.fragments:
                line = unit.place(fragment.start)[0]
                yield begin + fragment.at, spot.line + line
                if fragment.verbatim:
                    for start in unit.line_starts[line + 1 :]:
                        if start >= fragment.end:
                            break
                        line += 1
                        yield begin + fragment.at + start - fragment.start, spot.line + line

    def _unit(self, offset: int) -> int:
        return max(0, bisect_right(self._unit_starts, offset) - 1) if len(self.units) > 1 else 0

    def _place(self, number: int, raw: int) -> tuple[int, int]:
        unit, spot = self.units[number], self.spots[number]
        if not unit.is_own:
            return spot.line, spot.byte
        line, byte = unit.place(raw)
        return spot.line + line, byte if line else spot.byte + byte


def grouped(units: Sequence[ExpandedSegment]) -> Iterator[tuple[int, int]]:
    """Yield the half-open parts of `units` that are items; blank ones between them belong to none."""
    at = 0
    while at < len(units):
        unit = units[at]
        if unit.is_blank:
            at += 1
            continue
        end = at + 1 if unit.shape.is_complete else _end(units, at)
        yield at, end
        at = end


def _end(units: Sequence[ExpandedSegment], at: int) -> int:
    shape = units[at].shape
    limit = min(len(units), at + _MOST_UNITS)
    for number in range(at + 1, limit):
        unit = units[number]
        if unit.is_blank:
            continue
        if shape.depth and unit.has_kernel:
            limit = number
            break
        if shape.depth + unit.lowest > 0:
            shape = Shape(shape.depth + unit.net, shape.is_function, is_pending=True)
        else:
            shape = shape.after(unit.masked.text)
        if shape.is_complete:
            return number + 1
    if not shape.depth:
        return limit
    return next((n + 1 for n in range(at, limit) if units[n].ends_block), limit)
