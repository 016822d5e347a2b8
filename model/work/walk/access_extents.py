"""What the accesses of a kernel reach, visit by visit of the blocks that they stand in."""

from __future__ import annotations

from dataclasses import dataclass, field

from model.work.expressions.evaluate import Memo
from model.work.expressions.intervals import Bounds, interval, slopes_of
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.linear_sums import Slopes
from model.work.expressions.numbers import Value
from model.work.expressions.symbolic import Atom, Expression
from model.work.regions.region import Block

MAX_KEPT = 128

Ranges = dict[Atom, tuple[int, int]]  # half-open
Point = dict[Atom, Value]
Visit = tuple[float, Point, Ranges]  # executions, what is bound, what is not


@dataclass(slots=True)
class Extent:
    """The bytes that one access reaches: `low` to `high` (past the end). None where the data decide."""

    count: float = 0.0
    low: Value | None = None
    high: Value | None = None
    is_known: bool = True
    is_sum: bool = False  # of ids and counters times constants: both ends are reached where the access is executed

    @property
    def end_bytes(self) -> float | None:
        """The furthest end that is surely reached."""
        return float(self.high) if self.is_sum and self.is_known and self.high is not None else None


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """A block with what its accesses share. `moving` are those whose place differs from visit to visit."""

    block: Block
    visits: list[Visit]
    moving: list[tuple[Expression, int, Slopes | None, Extent]]  # where, how wide, what it reaches


@dataclass(slots=True)
class Reached:
    """By identity of the access: its extent, a typical visit, and the first MAX_KEPT visits."""

    known: LaunchBindings
    extents: dict[int, Extent] = field(default_factory=dict)
    points: dict[int, tuple[Point, Ranges]] = field(default_factory=dict)
    visited: dict[int, list[Visit]] = field(default_factory=dict)
    seen: dict[int, _Seen] = field(default_factory=dict)  # by identity of the block

    def visit(self, block: Block, weight: float, point: Point, ranges: Ranges) -> None:
        seen = self.seen.get(id(block))
        if seen is None:
            seen = self.seen[id(block)] = self._arrive(block, point, ranges)
        if len(seen.visits) < MAX_KEPT:
            seen.visits.append((weight, point, ranges))
        if not seen.moving:
            return
        memo: tuple[Memo, Bounds] = ({}, {})
        for offset, element_bytes, plain, extent in seen.moving:
            bounds = (
                plain.bounds(point, ranges) if plain is not None else interval(offset, self.known, point, ranges, memo)
            )
            if bounds is None:
                extent.is_known = False
                continue
            low, high = bounds[0], bounds[1] + element_bytes
            if extent.low is None or low < extent.low:
                extent.low = low
            if extent.high is None or high > extent.high:
                extent.high = high

    def _arrive(self, block: Block, point: Point, ranges: Ranges) -> _Seen:
        """At a block for the first time: what its accesses reach whenever they are executed is found now."""
        seen = _Seen(block, [], [])
        typical = (point, ranges)
        for access in block.accesses:
            extent = self.extents[id(access)] = Extent()
            self.points[id(access)] = typical
            self.visited[id(access)] = seen.visits
            offset = access.offset
            if offset is None:
                extent.is_known = False
                continue
            plain = slopes_of(offset, self.known)
            extent.is_sum = plain is not None
            if plain is not None and not plain.slopes:
                extent.low, extent.high = plain.base, plain.base + access.element_bytes
                continue
            seen.moving.append((offset, access.element_bytes, plain, extent))
        return seen

    def count(self, runs: dict[int, float]) -> None:
        """How often accesses are executed: as often as their blocks. The last word: no visit comes after it."""
        for key, seen in self.seen.items():
            for access in seen.block.accesses:
                self.extents[id(access)].count = runs[key]
        self.seen.clear()
