"""Byte offsets of a text <-> (line, byte column)."""

from __future__ import annotations

from bisect import bisect_right

from model.opencl.kernel import SourceRange


class LineIndex:
    """Where each line of a text begins. Offsets are bytes of the UTF-8 text; lines end at `\\n`."""

    def __init__(self, text: str) -> None:
        """`text` holds one character a byte (UTF-8 decoded as latin-1)."""
        starts = [0]
        at = text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        self._starts = starts
        self.size = len(text)

    def line(self, offset: int) -> int:
        return bisect_right(self._starts, offset) - 1

    def point(self, offset: int) -> tuple[int, int]:
        line = self.line(offset)
        return line, offset - self._starts[line]

    def range(self, start: int, end: int) -> SourceRange:
        return SourceRange(*self.point(start), *self.point(end))
