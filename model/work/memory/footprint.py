"""Distinct bytes: what a launch, a work-group and a work-item touch, against what they ask for.

Affine accesses are counted exactly (see `strided`), and accesses of one buffer share their bytes: the nine loads of
a stencil touch little more than one of them. Where the data decide the place, k draws out of n places are expected
to meet n (1 - (1 - 1/n)^k) different ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from model.work.expressions.launch_bindings import LaunchBindings
from model.work.memory.byte_footprints import touched
from model.work.memory.indirect_accesses import draws
from model.work.memory.scopes import Draws, Scope, Shape, executions
from model.work.memory.strided import Touched, blocks, rows_on_blocks, union_size
from model.work.regions.region import Access
from model.work.walk.access_extents import Extent, Visit
from model.work.walk.walk import Walk

LINE_BYTES = 64


@dataclass(frozen=True, slots=True)
class Footprint:
    """Bytes that executed loads and stores ask for, and how many of them are distinct.

    `line_bytes` are the distinct 64-byte cache lines, times 64, were the buffer to start on a line.
    `is_exact` where enumerating every address would give the same; else an estimate.
    """

    requested_bytes: float
    distinct_bytes: float
    line_bytes: float
    is_exact: bool

    @property
    def reuse(self) -> float | None:
        """How often each distinct byte is asked for; None where nothing is."""
        return self.requested_bytes / self.distinct_bytes if self.distinct_bytes else None


NOTHING = Footprint(0.0, 0.0, 0.0, is_exact=True)


def total(parts: Sequence[Footprint]) -> Footprint:
    """Of several buffers, which share nothing."""
    return Footprint(
        sum(p.requested_bytes for p in parts),
        sum(p.distinct_bytes for p in parts),
        sum(p.line_bytes for p in parts),
        all(p.is_exact for p in parts),
    )


class Reach:
    """One access with what a walk found of it, and the bytes that its buffer holds (or infinity)."""

    def __init__(self, access: Access, visits: list[Visit], extent: Extent, limit_bytes: float) -> None:
        self.access, self.visits, self.extent, self.limit_bytes = access, visits, extent, limit_bytes
        self._touched: dict[Scope, Touched | None] = {}
        self._draws: dict[Scope, Draws | None] = {}

    def requested_bytes(self, scope: Scope, shape: Shape) -> float:
        count = self.extent.count if scope is Scope.LAUNCH else executions(self.visits, scope, shape)
        return count * self.access.element_bytes

    def touched(self, scope: Scope, known: LaunchBindings, shape: Shape) -> Touched | None:
        """As `touched`, found once."""
        if scope not in self._touched:
            self._touched[scope] = touched(self.access, self.visits, scope, known, shape)
        return self._touched[scope]

    def draws(self, scope: Scope, known: LaunchBindings, shape: Shape) -> Draws | None:
        """As `draws`, found once."""
        if scope not in self._draws:
            self._draws[scope] = draws(self.access, self.visits, scope, known, shape)
        return self._draws[scope]


def footprint_of(
    reaches: Sequence[Reach], scope: Scope, walk: Walk, shape: Shape, *, lines: bool, rows_on_lines: bool = False
) -> Footprint:
    """Return the footprint of all `reaches` of one buffer together; `lines` asks for cache lines, too.

    With `rows_on_lines` these are counted as if each row of an array began on a line.
    """
    asked = {id(r): r.requested_bytes(scope, shape) for r in reaches}
    requested = sum(asked.values())
    if not requested:
        return NOTHING
    found = [(r, r.touched(scope, walk.known, shape)) for r in reaches]
    placed = [(r, t) for r, t in found if t is not None and t.sets]
    gathered = [r for r, t in found if t is None]
    distinct, line_bytes, is_exact = _of_placed(placed, lines=lines, rows_on_lines=rows_on_lines)
    if is_exact and not gathered:
        return Footprint(requested, distinct, line_bytes, is_exact=True)
    limit = min([_most(reaches, scope), max(r.limit_bytes for r in reaches)])
    distinct = min(distinct, sum(asked[id(r)] for r, _ in placed))
    for one in gathered:
        missed = max(0.0, 1 - distinct / limit) if limit and not math.isinf(limit) else 1.0
        bytes_of_one, lines_of_one = _drawn(one, asked[id(one)], scope, walk, shape)
        distinct += bytes_of_one * missed
        line_bytes += lines_of_one * missed
    distinct = min(distinct, limit, requested)
    line_bytes = max(distinct, min(line_bytes, _round_up(limit)))
    return Footprint(requested, distinct, line_bytes, is_exact=False)


def distinct_bytes(reaches: Sequence[Reach], walk: Walk, shape: Shape) -> float:
    """As `footprint_of` says of the launch."""
    if len(reaches) == 1:
        (one,) = reaches
        if not one.extent.count or not one.access.element_bytes:
            return 0.0
        found = one.touched(Scope.LAUNCH, walk.known, shape)
        if found is not None and found.sets and found.is_exact:
            size = union_size(found.sets)
            if size.is_exact:
                return size.count * found.scale
    return footprint_of(reaches, Scope.LAUNCH, walk, shape, lines=False).distinct_bytes


def working_sets(reach: Reach, walk: Walk) -> tuple[tuple[float, float], ...]:
    """Return shares of an access's executions, each with the bytes of lines among which these hit; () where unseen."""
    seen = walk.seen.accesses.get(id(reach.access)) if walk.seen is not None else None
    if seen is None or seen.lines is None:
        return ()
    most = _round_up(_places(reach, walk) * max(1, reach.access.element_bytes)) / LINE_BYTES
    return tuple((share, LINE_BYTES * lines) for share, lines in seen.lines.working_sets(reach.extent.count, most))


def expected_distinct(places: float, drawn: float) -> float:
    """Different places that so many independent draws hit: n (1 - (1 - 1/n)^k)."""
    if places <= 1:
        return min(1.0, drawn)
    return -places * math.expm1(drawn * math.log1p(-1 / places))


def _drawn(one: Reach, requested: float, scope: Scope, walk: Walk, shape: Shape) -> tuple[float, float]:
    """Distinct bytes, and bytes of distinct lines, of an access whose place the data decide."""
    width = max(1, one.access.element_bytes)
    places = _places(one, walk)
    seen = walk.seen.accesses.get(id(one.access)) if walk.seen is not None and scope is Scope.LAUNCH else None
    if seen is not None and seen.places is not None and seen.lines is not None:
        distinct = width * seen.places.at(requested / width, min(one.limit_bytes / width, places))
        lines = LINE_BYTES * seen.lines.at(requested / width, _round_up(places * width) / LINE_BYTES)
        return distinct, max(distinct, lines)
    drawn = one.draws(scope, walk.known, shape)
    if drawn is None:  # rows or lists that follow one another: each byte once
        distinct = min(requested, places * width)
        return distinct, distinct
    bytes_each, lines_each = max(width, drawn.bytes_each), max(1, drawn.lines_each) * LINE_BYTES
    number = min(drawn.number, requested / width)
    distinct = bytes_each * expected_distinct(places * width / bytes_each, number)
    lines = lines_each * expected_distinct(max(1.0, places * width / lines_each), number)
    return distinct, lines


def _of_placed(
    placed: Sequence[tuple[Reach, Touched]], *, lines: bool, rows_on_lines: bool
) -> tuple[float, float, bool]:
    sets = [s for _, t in placed for s in t.sets]
    if not sets:
        return 0.0, 0.0, True
    size = union_size(sets)
    alone = [(union_size(t.sets).count, t.scale) for _, t in placed] if any(t.scale > 1 for _, t in placed) else []
    scale = sum(count * by for count, by in alone) / sum(count for count, _ in alone) if alone else 1.0
    in_rows = rows_on_blocks(sets, LINE_BYTES) if rows_on_lines else sets
    in_lines = union_size(blocks(in_rows, LINE_BYTES)).count * LINE_BYTES if lines else 0
    is_exact = size.is_exact and all(t.is_exact for _, t in placed)
    return size.count * scale, in_lines * scale, is_exact


def _most(reaches: Sequence[Reach], scope: Scope) -> float:
    """From the first byte that any of them reaches to the last."""
    lows = [r.extent.low for r in reaches if r.extent.low is not None]
    highs = [r.extent.high for r in reaches if r.extent.high is not None]
    if not lows or not highs or not all(r.extent.is_known for r in reaches):
        return math.inf
    return float(max(highs) - min(lows))


def _places(one: Reach, walk: Walk) -> float:
    """Among how many places the data may choose."""
    reach = math.inf
    if one.extent.is_known and one.extent.low is not None and one.extent.high is not None:
        reach = float(one.extent.high - one.extent.low)
    reach = min(reach, one.limit_bytes)
    if math.isinf(reach):
        return max(1.0, one.extent.count)
    return max(1.0, reach / max(1, one.access.element_bytes))


def _round_up(limit: float) -> float:
    return limit if math.isinf(limit) else math.ceil(limit / LINE_BYTES) * LINE_BYTES + LINE_BYTES
