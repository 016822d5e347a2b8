"""Segments expanded and masked, each alone as far as macro calls allow; kept from reading to reading."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from cachetools import LRUCache

from model.opencl.expansion import Brackets, Expanded, Expander, names_in, verbatim
from model.opencl.macros import MacroTable
from model.opencl.masking import Masked, mask
from model.opencl.preprocess_plan import Plan, Run
from model.opencl.segments import Segment

# Syntax takes about 70 bytes a character: without a bound, a day's typing in one file would fill hundreds of megabytes.
_LEAST_CHARACTERS = 1 << 14
Value = TypeVar("Value")


def let_go(kept: LRUCache[object, Value], characters: int) -> None:
    """Forget the oldest until what is kept is no larger than the text itself, which has `characters`."""
    most = max(_LEAST_CHARACTERS, characters)
    while kept.currsize > most:
        kept.popitem()


MAX_EXPANSION_CHARACTERS = 8 << 20
_KEPT_CHARACTERS = 4 << 20
_MAX_SEGMENTS_OF_A_CALL = 500

_STRUCTURE = re.compile(r'"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?|(?P<function>\)\s*\{)|[{};]')


@dataclass(frozen=True, slots=True, eq=False)
class ExpandedSegment:
    """Expanded text of one segment, or of several that a macro call spans. `is_own`: from the main file.

    `lowest` and `net` are how far its braces close and leave open what stands before it.
    """

    raw: str
    blank: str
    expanded: Expanded
    masked: Masked
    is_own: bool
    line_starts: tuple[int, ...]  # of `raw`
    has_kernel: bool
    ends_block: bool  # its last line begins with a closing brace
    lowest: int
    net: int
    shape: Shape

    @property
    def is_blank(self) -> bool:
        return not self.has_kernel and (not self.masked.text or self.masked.text.isspace())

    def place(self, raw: int) -> tuple[int, int]:
        """Line and byte column, both from 0, of an offset of `raw`."""
        line = bisect_right(self.line_starts, raw) - 1
        return line, raw - self.line_starts[line]


@dataclass(frozen=True, slots=True)
class Shape:
    """Where a text stands among top-level items: inside `depth` braces, or behind a part of one (`is_pending`)."""

    depth: int = 0
    is_function: bool = False  # the outermost open brace is a function's
    is_pending: bool = False
    ends_with_parenthesis: bool = False

    @property
    def is_complete(self) -> bool:
        return self.depth == 0 and not self.is_pending

    def after(self, text: str) -> Shape:
        """Return the shape behind `text` (masked), which follows."""
        depth, is_function, begins = self.depth, self.is_function, 0
        is_pending = self.is_pending
        for match in _STRUCTURE.finditer(text):
            token = match[0]
            if token[-1] == "{" and token[0] in ")}{":
                if depth == 0:
                    is_function = len(token) > 1 or (self.ends_with_parenthesis and not text[: match.start()].strip())
                depth += 1
            elif token == "}":
                depth -= 1
                if depth < 0 or (depth == 0 and is_function):
                    depth, is_pending, begins = max(depth, 0), False, match.end()
            elif token == ";" and depth == 0:
                is_pending, begins = False, match.end()
        rest = text[begins:].strip()
        if not rest:
            return Shape(depth, is_function, is_pending, self.ends_with_parenthesis and begins == 0)
        return Shape(depth, is_function, True, rest[-1] == ")")


class ExpandedSegments:
    """Owns the expander, and what was expanded lately: nothing here depends on the order of readings."""

    def __init__(self) -> None:
        self._expander = Expander()
        self._known: LRUCache[object, ExpandedSegment] = LRUCache(_KEPT_CHARACTERS, lambda unit: len(unit.raw) + 200)
        self._last: dict[object, ExpandedSegment] = {}
        self._now: dict[object, ExpandedSegment] = {}

    def of(self, plan: Plan) -> tuple[list[tuple[ExpandedSegment, bool, int]], bool]:
        """Return the units of a plan and whether all were read: not what is beyond 8 MB.

        Each has whether it is of the main file and the number of its first segment there.
        """
        self._now = {}
        found: list[tuple[ExpandedSegment, bool, int]] = []
        room = MAX_EXPANSION_CHARACTERS
        for run in plan.runs:
            for unit, first in self._of_run(plan.files[run.file].segments, run):
                room -= len(unit.expanded.text)
                if room < 0:
                    return found, False
                found.append((unit, run.file == 0, first))
        self._last = self._now
        let_go(self._known, sum(len(unit.raw) for unit in self._now.values()))
        return found, True

    def forget_recent(self) -> None:
        """Forget the units that the last plan does not use."""
        self._known.clear()

    def _of_run(self, segments: tuple[Segment, ...], run: Run) -> Iterator[tuple[ExpandedSegment, int]]:
        at = run.start
        is_own = run.file == 0
        while at < run.end:
            unit = self._unit((segments[at],), run.table, is_own=is_own)
            end = at + 1
            while unit.expanded.open_call is not None and end < run.end:
                further = _end_of_call(unit, segments, end, run.end)
                if further is None:
                    break
                end = further
                unit = self._unit(segments[at:end], run.table, is_own=is_own)
            yield unit, at
            at = end

    def _unit(self, segments: tuple[Segment, ...], table: MacroTable, *, is_own: bool) -> ExpandedSegment:
        key = (*segments, table, is_own)
        unit = self._last.get(key) or self._now.get(key)
        if unit is None:
            unit = self._by_content("".join(p.raw for p in segments), "".join(p.blank for p in segments), table, is_own)
        self._now[key] = unit
        return unit

    def _by_content(self, raw: str, blank: str, table: MacroTable, is_own: bool) -> ExpandedSegment:
        macros = table.used_by(names_in(blank))
        key = (raw, is_own, *((name, macro.text) for name, macro in macros.items()))
        unit = self._known.get(key)
        if unit is None:
            unit = _made(raw, blank, self._expander.expand(blank, macros, table) if macros else verbatim(blank), is_own)
            with suppress(ValueError):  # larger than all that is kept
                self._known[key] = unit
        return unit


def _end_of_call(unit: ExpandedSegment, segments: tuple[Segment, ...], behind: int, end: int) -> int | None:
    """Return the number of the segment behind the one in which the call that `unit` leaves open ends."""
    further = segments[behind : min(end, behind + _MAX_SEGMENTS_OF_A_CALL)]
    blank = [unit.blank, *(p.blank for p in further)]
    open_call = unit.expanded.open_call
    assert open_call is not None
    stop = Brackets("".join(blank)).group_end(open_call)
    if stop < 0:
        return None
    length = 0
    for number, part in enumerate(blank):
        length += len(part)
        if length >= stop:
            return behind + max(number, 1)
    return None


def _made(raw: str, blank: str, expanded: Expanded, is_own: bool) -> ExpandedSegment:
    masked = mask(expanded.text)
    lowest, net = _braces(masked.text)
    last_line = blank.rstrip().rpartition("\n")[2]
    return ExpandedSegment(
        raw, blank, expanded, masked, is_own, _line_starts(raw), "kernel" in masked.words, last_line.startswith("}"),
        lowest, net, _shape(masked),
    )  # fmt: skip


def _shape(masked: Masked) -> Shape:
    """Return the shape behind a segment; one that ends with `__kernel`, as before an `#endif`, has begun a function."""
    shape = Shape().after(masked.text)
    kernels = masked.offsets_of("kernel")
    is_begun = bool(kernels) and kernels[-1] >= len(masked.text.rstrip())
    return replace(shape, is_pending=True) if is_begun and shape.depth == 0 else shape


def _line_starts(text: str) -> tuple[int, ...]:
    starts, at = [0], text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return tuple(starts)


def _braces(text: str) -> tuple[int, int]:
    lowest = net = 0
    for match in _STRUCTURE.finditer(text):
        last = match[0][-1]
        if match[0][0] in "){}":
            net += (last == "{") - (last == "}")
            lowest = min(lowest, net)
    return lowest, net
