"""Where work-items part ways: shares that enter branches, warps and groups that take both sides, uneven loops.

Conditions on ids are looked at lane by lane in the groups that matter (see `groups`); where the data decide, lanes are
taken to decide independently of each other, so that a warp of 32 agrees with probability p^32 + (1-p)^32.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from model.work.expressions.intervals import slopes_of
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.numbers import Value
from model.work.expressions.operations import BOOLEAN_KINDS
from model.work.expressions.symbolic import GLOBAL_ID, GLOBAL_SIZE, GROUP_ID, Expression
from model.work.memory.byte_footprints import number_at
from model.work.memory.groups import Group, Groups, groups_for, undecided
from model.work.memory.lane_functions import lane_function
from model.work.memory.lanes import LANE_IDS, MAX_WARPS, WARP_LANES, by_lane, lanes_of, warp_starts
from model.work.memory.scopes import Shape
from model.work.regions.enclosing_scopes import Setting, Settings, settings_of
from model.work.regions.flat_blocks import is_common
from model.work.regions.region import Block, Branch, Loop
from model.work.walk.access_extents import Point, Visit
from model.work.walk.sample import BranchSample, key_of
from model.work.walk.walk import Walk

MAX_COUNTER_VALUES = 3
FEW_WARPS = 4  # of a group whose loop lengths are looked at


class Decision(StrEnum):
    """What decides a branch or how often a loop runs."""

    CONSTANT = "constant"
    UNIFORM = "uniform"  # sizes, arguments, counters: the same for all work-items of a group
    IDS = "ids"
    DATA = "data"


@dataclass(frozen=True, slots=True)
class BranchFacts:
    """One `if`, `switch` case or `?:` of the source."""

    line: int
    come: float  # work-items that come there, over the launch, each time counted
    share: float  # of these, those that enter
    warps_diverging: float  # share of warps that come there whose lanes take both sides
    groups_diverging: float
    decided_by: Decision
    is_exact: bool
    was_seen: bool = False  # by a sample, where the data decide


@dataclass(frozen=True, slots=True)
class LoopFacts:
    """One loop of the source; `accumulators` are the sums it carries that do not wait for each other."""

    line: int
    depth: int  # 0 for outermost
    entries: float  # times work-items enter it, over the launch
    trips: float  # iterations each time, on average
    trip_kind: Decision
    has_barrier: bool
    chain: float  # additions each iteration waits for
    accumulators: int
    warp_efficiency: float | None  # mean over greatest number of trips within a warp; None where the data decide
    group_imbalance: float | None  # greatest over mean work of a group


@dataclass(frozen=True, slots=True)
class BarrierFacts:
    """One barrier of the source."""

    line: int
    count: float  # times work-groups execute it
    loop_line: int | None  # of the innermost loop around it
    divergent_line: int | None  # of a condition around it on which a group's work-items differ for sure


class Paths:
    """One walk over a kernel's blocks, and what stands around each of them."""

    def __init__(self, root: Block, walk: Walk, shape: Shape) -> None:
        self.root, self.walk, self.shape = root, walk, shape
        self.pinned: dict[tuple[int, tuple[tuple[int, int], ...]], list[Visit]] = {}  # see `working_sets`

    @cached_property
    def settings(self) -> Settings:
        return settings_of(self.root)

    @property
    def known(self) -> LaunchBindings:
        return self.walk.known

    @property
    def items(self) -> tuple[int, int, int]:
        first, second, third = (max(1, int(self.known.symbols[a])) for a in GLOBAL_SIZE)
        return first, second, third

    def runs(self, block: Block) -> float:
        return self.walk.runs.get(id(block), 0.0)


def decision(expression: Expression) -> Decision:
    if expression.constant is not None:
        return Decision.CONSTANT
    if not expression.evaluable or expression.has("load", "unknown"):
        return Decision.DATA
    return Decision.IDS if expression.leaves & {*LANE_IDS, *GROUP_ID} else Decision.UNIFORM


# --- branches --------------------------------------------------------------------------------------------


def branch_facts(paths: Paths) -> tuple[BranchFacts, ...]:
    return tuple(
        _branch(branch, setting, paths)
        for branch, setting, _ in paths.settings.branches
        if paths.runs(branch.then) + paths.runs(branch.otherwise) > 0
    )


def _branch(branch: Branch, setting: Setting, paths: Paths) -> BranchFacts:
    entered = paths.runs(branch.then)
    come = entered + paths.runs(branch.otherwise)
    share = entered / come
    by = decision(branch.condition)
    if by is Decision.DATA and is_common(branch):
        return BranchFacts(branch.line, come, share, 0.0, 0.0, by, is_exact=False)
    if by is Decision.DATA:
        warps, groups = (1 - share**n - (1 - share) ** n for n in (WARP_LANES, paths.shape.group_items))
        seen = paths.walk.seen.branches.get(key_of(branch)) if paths.walk.seen is not None else None
        if seen is not None:
            warps *= _apart(seen)
        return BranchFacts(branch.line, come, share, warps, groups, by, is_exact=False, was_seen=seen is not None)
    if not branch.condition.leaves & LANE_IDS:
        return BranchFacts(branch.line, come, share, 0.0, 0.0, by, is_exact=True)
    warps, groups, is_exact = _disagreement(branch.condition, setting, paths)
    return BranchFacts(branch.line, come, share, warps, groups, by, is_exact)


def _apart(seen: BranchSample) -> float:
    """Return how far lanes of one warp were seen to decide apart: 1 as if independently of each other, 0 all alike.

    What warps that enter have room for, beyond those who do, against what independent lanes would leave.
    """
    if seen.fullness is None or not 0 < seen.share < 1:
        return 1.0
    room = seen.share / seen.fullness - seen.share
    independent = 1 - (1 - seen.share) ** WARP_LANES - seen.share
    return min(1.0, max(0.0, room / independent)) if independent > 0 else 1.0


def _disagreement(condition: Expression, setting: Setting, paths: Paths) -> tuple[float, float, bool]:
    """Shares of the warps and of the groups that come to a condition and do not agree on it."""
    met = groups_met = parted = groups_parted = 0.0
    is_exact = True
    for chosen, outer in _chosen(condition, setting, paths):
        is_exact = is_exact and chosen.is_exact
        for group in chosen.groups:
            sides = [w for w in _by_warp(condition, outer, group, paths, MAX_WARPS) if w]
            mixed = sum(1 for w in sides if any(w) and not all(w))
            met += group.weight * len(sides)
            parted += group.weight * mixed
            groups_met += group.weight * bool(sides)
            groups_parted += group.weight * (any(map(any, sides)) and not all(map(all, sides)))
    return (parted / met if met else 0.0), (groups_parted / groups_met if groups_met else 0.0), is_exact


def _chosen(
    expression: Expression, setting: Setting, paths: Paths
) -> Iterator[tuple[Groups, list[tuple[Expression, bool]]]]:
    """Yield the groups to look at, and the conditions around that decide which lanes come there."""
    outer = [(c, holds) for c, holds, _ in setting.conditions if decision(c) is Decision.IDS]
    counters = _counters(expression, [c for c, _ in outer], setting, paths)
    for point in counters:
        found = groups_for([expression, *(c for c, _ in outer)], point, paths.known, paths.shape, paths.items)
        groups = tuple(Group(g.weight, {**g.point, **point}, g.ranges) for g in found.groups)
        yield Groups(groups, found.is_exact and len(counters) == 1 and not point), outer


def _counters(expression: Expression, outer: Sequence[Expression], setting: Setting, paths: Paths) -> list[Point]:
    """Counters of the loops around: the innermost at a few places of its range, the others in their middle."""
    leaves = expression.leaves.union(*(c.leaves for c in outer))
    loops = [loop for loop in setting.loops if loop.counter in leaves]
    middle: Point = {}
    trips = 0
    for loop in loops:
        ids = {a: paths.items[d] // 2 for d, a in enumerate(GLOBAL_ID)}
        trips = int(number_at(loop.trips, paths.known, {**ids, **middle}, {}) or 0)
        middle[loop.counter] = trips // 2
    looks = min(trips, MAX_COUNTER_VALUES)
    if looks <= 1:
        return [middle]
    return [{**middle, loops[-1].counter: (2 * j + 1) * trips // (2 * looks)} for j in range(looks)]


def _by_warp(
    expression: Expression, outer: Sequence[tuple[Expression, bool]], group: Group, paths: Paths, most: int
) -> list[list[Value]]:
    """Return the value of `expression` in each lane that comes there, warp by warp."""
    shape, known = paths.shape, paths.known
    left: list[tuple[Expression, bool]] = []
    for condition, holds in outer:
        open_part = undecided(condition, group, known)
        if not isinstance(open_part, bool):
            left.append((open_part, holds))
        elif open_part is not holds:
            return []
    tests = [(by_lane(part, group.point, group.ranges, known, shape), holds) for part, holds in left]
    whole = undecided(expression, group, known)
    constant = int(whole) if isinstance(whole, bool) and _is_condition(expression) else None
    asked = whole if isinstance(whole, Expression) else expression
    value = by_lane(asked, group.point, group.ranges, known, shape)
    is_plain = constant is not None or all(
        slopes_of(e, known) is not None for e in (asked, *(part for part, _ in left))
    )
    function = None if is_plain else lane_function(tuple(left), asked)
    warps: list[list[Value]] = []
    for start in warp_starts(shape, most):
        lanes = lanes_of(start, WARP_LANES, group.ranges, shape)
        at_once = function.values(asked, lanes, known, group.point) if function is not None else None
        if at_once is not None:
            warps.append(at_once)
            continue
        found: list[Value] = []
        for ids in lanes:
            if tests and any(bool(test(ids)) is not holds for test, holds in tests):
                continue
            number = constant if constant is not None else value(ids)
            if number is not None:
                found.append(number)
            if constant is not None and not tests:
                break  # the others are alike
        warps.append(found)
    return warps


def _is_condition(expression: Expression) -> bool:
    return expression.atom is not None and expression.atom.kind in BOOLEAN_KINDS


# --- loops -----------------------------------------------------------------------------------------------


def loop_facts(paths: Paths) -> tuple[LoopFacts, ...]:
    return tuple(
        _loop(loop, setting, parent, paths) for loop, setting, parent in paths.settings.loops if paths.runs(parent) > 0
    )


def _loop(loop: Loop, setting: Setting, parent: Block, paths: Paths) -> LoopFacts:
    entries = paths.runs(parent)
    by = decision(loop.trips)
    efficiency: float | None = 1.0
    imbalance: float | None = 1.0
    seen = paths.walk.seen.loops.get(key_of(loop)) if paths.walk.seen is not None else None
    if by is Decision.DATA:
        efficiency, imbalance = (seen.efficiency if seen is not None else None), None
    elif by is Decision.IDS:
        efficiency, imbalance = _evenness(loop.trips, setting, paths)
    return LoopFacts(
        line=loop.line,
        depth=len(setting.loops),
        entries=entries,
        trips=paths.runs(loop.body) / entries,
        trip_kind=by,
        has_barrier=any(loop in around.loops for _, around, _ in paths.settings.barriers),
        chain=loop.chain,
        accumulators=loop.accumulators,
        warp_efficiency=efficiency,
        group_imbalance=imbalance,
    )


def _evenness(trips: Expression, setting: Setting, paths: Paths) -> tuple[float | None, float | None]:
    """Mean over greatest number of trips within warps, and greatest over mean of groups."""
    done = held = weights = 0.0
    totals: list[float] = []
    for chosen, outer in _chosen(trips, setting, paths):
        for group in chosen.groups:
            total = 0.0
            for warp in _by_warp(trips, outer, group, paths, FEW_WARPS):
                if warp:
                    total += sum(warp)
                    held += group.weight * max(warp) * len(warp)
                    done += group.weight * sum(warp)
            totals.append(total)
            weights += group.weight
    mean = done / weights if weights else 0.0
    return (done / held if held else None), (max(totals) / mean if mean else None)


# --- barriers --------------------------------------------------------------------------------------------


def barrier_facts(paths: Paths) -> tuple[BarrierFacts, ...]:
    return tuple(
        BarrierFacts(
            line=line,
            count=paths.runs(block) / paths.shape.group_items,
            loop_line=setting.loops[-1].line if setting.loops else None,
            divergent_line=_divergent(setting, paths),
        )
        for line, setting, block in paths.settings.barriers
        if paths.runs(block) > 0
    )


def _divergent(setting: Setting, paths: Paths) -> int | None:
    """Return the first condition (or loop) around on which work-items of one group differ, whatever the data say."""
    for depth, (condition, _, line) in enumerate(setting.conditions):
        outer = Setting(setting.loops, setting.conditions[:depth])
        if decision(condition) is Decision.IDS and condition.leaves & LANE_IDS:
            _, groups, _ = _disagreement(condition, outer, paths)
            if groups > 0:
                return line
    for depth, loop in enumerate(setting.loops):
        if decision(loop.trips) is Decision.IDS and loop.trips.leaves & LANE_IDS:
            outer = Setting(setting.loops[:depth])
            for chosen, tests in _chosen(loop.trips, outer, paths):
                for group in chosen.groups:
                    lanes = [v for w in _by_warp(loop.trips, tests, group, paths, FEW_WARPS) for v in w]
                    if lanes and min(lanes) != max(lanes):
                        return loop.line
    return None
