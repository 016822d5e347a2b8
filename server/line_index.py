"""Where the lines of a text begin, kept in blocks, so that an edit costs the block it stands in and not the file."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import overload

_BLOCK = 256  # lines; a block that has grown to twice as many is cut


class LineIndex(Sequence[int]):
    """Offsets, ascending, the first of them 0. Immutable.

    Each block holds its offsets from its own first one, which alone moves when something is typed before it.
    """

    __slots__ = ("_bases", "_blocks", "_numbers")

    def __init__(self, blocks: tuple[tuple[int, ...], ...], bases: tuple[int, ...]) -> None:
        self._blocks = blocks
        self._bases = bases  # the first offset of each block
        self._numbers = (0, *accumulate(map(len, blocks)))  # of the line that each block begins with

    @classmethod
    def of(cls, offsets: Sequence[int]) -> LineIndex:
        return cls(*_blocks(offsets))

    def __len__(self) -> int:
        return self._numbers[-1]

    @overload
    def __getitem__(self, line: int) -> int: ...
    @overload
    def __getitem__(self, line: slice) -> tuple[int, ...]: ...
    def __getitem__(self, line: int | slice) -> int | tuple[int, ...]:
        if isinstance(line, slice):
            return tuple(self)[line]
        count = self._numbers[-1]
        if line < 0:
            line += count
        if not 0 <= line < count:
            raise IndexError(line)
        block = bisect_right(self._numbers, line) - 1
        return self._bases[block] + self._blocks[block][line - self._numbers[block]]

    def bounds(self, line: int) -> tuple[int, int | None]:
        """Return where a line and the next one begin; None if there is no next one."""
        block = bisect_right(self._numbers, line) - 1
        place = line - self._numbers[block]
        base, offsets = self._bases[block], self._blocks[block]
        if place + 1 < len(offsets):
            return base + offsets[place], base + offsets[place + 1]
        return base + offsets[place], self._bases[block + 1] if block + 1 < len(self._bases) else None

    def __iter__(self) -> Iterator[int]:
        for base, block in zip(self._bases, self._blocks, strict=True):
            yield from (base + offset for offset in block)

    def line_at(self, offset: int) -> int:
        block = bisect_right(self._bases, offset) - 1
        return self._numbers[block] + bisect_right(self._blocks[block], offset - self._bases[block]) - 1

    def edited(self, value: str, start: int, end: int, length: int, line_end: re.Pattern[str]) -> LineIndex:
        """Return the index of `value`, in which `length` characters replace the old text's [start, end).

        Whether a line begins at an offset follows from the characters before and behind it: those that stay next to
        each other still say the same.
        """
        first = self.line_at(start - 1) + 1 if start else 1
        last = self.line_at(end) + 1
        ends = (match.end() for match in line_end.finditer(value, max(0, start - 1), start + length + 1))
        found = [at for at in ends if start <= at <= start + length and at]
        low, high = self._block_of(first - 1), self._block_of(last - 1)
        shift = length - (end - start)
        base = self._bases[low]
        kept = (base + offset for offset in self._blocks[low][: first - self._numbers[low]])
        behind_base = self._bases[high] + shift
        behind = (behind_base + offset for offset in self._blocks[high][last - self._numbers[high] :])
        blocks, bases = _blocks(list(chain(kept, found, behind)))
        return LineIndex(
            (*self._blocks[:low], *blocks, *self._blocks[high + 1 :]),
            (*self._bases[:low], *bases, *(each + shift for each in self._bases[high + 1 :])),
        )

    def _block_of(self, line: int) -> int:
        return bisect_right(self._numbers, line) - 1


def _blocks(offsets: Sequence[int]) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """Cut into blocks, and what each begins with."""
    if len(offsets) < 2 * _BLOCK:
        parts = [offsets]
    else:
        parts = [offsets[at : at + _BLOCK] for at in range(0, len(offsets), _BLOCK)]
    return tuple(tuple(offset - part[0] for offset in part) for part in parts), tuple(part[0] for part in parts)
