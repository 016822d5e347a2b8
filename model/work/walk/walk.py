"""How often each block runs: one walk over a kernel's blocks under one launch.

Ids and loop counters stay ranges as long as they can: a guard such as `i < n` cuts the range exactly, a loop
with a uniform bound multiplies. Where a condition or a trip count truly depends on several of them, one is
bound to its values (all of them, or a low-discrepancy sample when there are many), and the walk goes on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from model.work.expressions.conditions import is_linear, is_only_id, is_sum_of_loads, likelihood, rests_on_floats
from model.work.expressions.evaluate import Memo, evaluate
from model.work.expressions.intervals import interval
from model.work.expressions.loop_simulation import runs_in
from model.work.expressions.numbers import Value
from model.work.expressions.symbolic import Atom, Expression
from model.work.expressions.trips import ENDLESS
from model.work.regions.region import DEFAULT_DATA_TRIPS, Block, Branch, Loop, decides, estimated_in
from model.work.walk.access_extents import Extent, Point, Ranges, Reached, Visit
from model.work.walk.binding import FREE_VISITS, MAX_EXACT, MAX_SHORT, Binding
from model.work.walk.branch_probability import Odds
from model.work.walk.conditional_trips import Forks
from model.work.walk.range_splits import Part, cut, stairs, with_share, with_undecided_share
from model.work.walk.sample import BranchSample, Seen, key_of

MAX_VISITS = 6_000
MAX_APART = 16  # ways through a condition that are followed one by one
Split = tuple[
    float, Point, Ranges, bool, bool
]  # a share, where it is, whether the condition holds, whether that is sure
_SURE = frozenset({(1, 1), (0, 0)})  # intervals of conditions that hold for all or for none


@dataclass(slots=True)
class Walk(Binding):
    """Results by identity of block and access.

    `undecided` holds the lines of loops that nothing bounds, `estimated` of those that were followed for some of the
    work-items only.

    `seen` is what running some work-items told; without, `assumed` holds what would have to be asked of that, by
    `key_of`, and `met` for each branch that data decide how many came, how many of them the launch lets in, and how
    many it leaves undecided. `rewritten` are the buffers that the kernel stores to. What is `inside` something that was
    `seen` goes by that: ids matter otherwise there.
    """

    seen: Seen | None = None
    rewritten: frozenset[str] = frozenset()
    most_visits: int = MAX_VISITS
    runs: dict[int, float] = field(default_factory=dict)
    undecided: set[int] = field(default_factory=set)
    estimated: set[int] = field(default_factory=set)
    assumed: set[int] = field(default_factory=set)
    met: dict[int, tuple[float, float, float]] = field(default_factory=dict)
    inside: bool = False
    here: tuple[Point, Memo] = field(default_factory=lambda: ({}, {}))  # worked out at one point
    forks: Forks = field(default_factory=Forks)
    odds: Odds = field(init=False)
    reached: Reached = field(init=False)

    def __post_init__(self) -> None:
        self.odds = Odds(self.known)
        self.reached = Reached(self.known)

    @property
    def extents(self) -> Mapping[int, Extent]:
        """The bytes that each access reaches."""
        return self.reached.extents

    @property
    def points(self) -> Mapping[int, tuple[Point, Ranges]]:
        """A typical visit of each access."""
        return self.reached.points

    @property
    def visited(self) -> Mapping[int, list[Visit]]:
        """The first MAX_KEPT visits of each access."""
        return self.reached.visited

    def whole(self, root: Block, work_items: float, ranges: Ranges) -> None:
        """Visit a kernel's `root` and all within; counts outlive this by far, what is noted from visit to visit not."""
        self.visit(root, work_items, {}, ranges)
        self.reached.count(self.runs)
        if self.known.estimated:
            estimated = list(estimated_in(root, self.runs, self.known.estimated))
            self.assumed |= {key_of(inner) for inner in estimated}
            self.estimated = {i.line for i in estimated if isinstance(i, Loop)} - self.undecided
        self.odds, self.shares, self.here, self.forks = Odds(self.known), {}, ({}, {}), Forks()

    def visit(self, block: Block, weight: float, point: Point, ranges: Ranges) -> None:
        """Count `weight` executions of `block`, by work-items within `ranges`."""
        self.visits += 1
        key = id(block)
        before = self.runs.get(key)
        self.runs[key] = weight if before is None else before + weight
        if block.accesses:
            self.reached.visit(block, weight, point, ranges)
        for inner in block.inner:
            if isinstance(inner, Loop):
                self._loop(inner, weight, point, ranges)
            else:
                self._branch(inner, weight, point, ranges)

    # --- loops -------------------------------------------------------------------------------------------

    def _loop(self, loop: Loop, weight: float, point: Point, ranges: Ranges) -> None:
        observed = self._observed(loop, point, ranges)
        if observed is not None:
            outside, self.inside = self.inside, True
            self._repeat(loop, observed, weight, point, ranges)
            self.inside = outside
            return
        mean = self.odds.mean(loop.trips, point, ranges) if loop.leaves is None else None
        if mean is not None:
            if not is_sum_of_loads(loop.trips):
                self.assumed.add(key_of(loop))
            self._repeat(loop, mean, weight, point, ranges)
            return
        unbound = self.unbound(loop.trips, ranges)
        if unbound and self.visits < self.most_visits:
            fork = self.forks.of(loop)
            if fork is not None:
                self._branch(fork, weight, point, ranges)
                return
            steps = (
                self._steps(loop.trips, unbound[0], point, ranges) if len(unbound) == 1 and not loop.leaves else None
            )
            if steps is not None:
                low, high = ranges[unbound[0]]
                for start, end, count in steps:
                    if count > 0:
                        inner = {**ranges, unbound[0]: (start, end), loop.counter: (0, max(1, math.ceil(count)))}
                        self.visit(loop.body, weight * count * (end - start) / (high - low), point, inner)
                return
            low, high = ranges[unbound[0]]
            if high - low > MAX_SHORT and runs_in(loop.trips):
                self.assumed.add(key_of(loop))  # the few that are tried stand for many, and no two need be alike
            for part, now, rest in self.bind(unbound, point, ranges):
                self._loop(loop, weight * part, now, rest)
            return
        trips = self.odds.iterations(loop, point, ranges, _middle(ranges)) if loop.leaves is not None else None
        if unbound or loop.leaves is not None or loop.trips.has("unknown"):
            self.assumed.add(key_of(loop))
        if trips is None:
            trips = evaluate(loop.trips, self.known, {**_middle(ranges), **point} if unbound else point)
        if trips is None or trips >= ENDLESS:
            self.undecided.add(loop.line)
            self.assumed.add(key_of(loop))
            trips = DEFAULT_DATA_TRIPS
        self._repeat(loop, trips, weight, point, ranges)

    def _observed(self, loop: Loop, point: Point, ranges: Ranges) -> float | None:
        """Return iterations that were seen, where the launch does not say how many there are."""
        if self.seen is None:
            return None
        key = key_of(loop)
        found = self.seen.loops.get(key)
        if found is None:
            return None
        trips = loop.trips
        by_data = loop.leaves is not None or trips.has("load", "unknown") or not trips.evaluable
        if (
            by_data
            and not self.inside
            and loop.leaves is None
            and is_sum_of_loads(trips)
            and key not in self.seen.asked
        ):
            return None
        if by_data or key in self.seen.asked or (self.inside and _varies(trips, point, ranges)):
            return found.trips
        return None

    def _repeat(self, loop: Loop, trips: Value, weight: float, point: Point, ranges: Ranges) -> None:
        if trips > 0:
            inner = {**ranges, loop.counter: (0, max(1, math.ceil(trips)))}
            self.visit(loop.body, weight * trips, point, inner)

    def _steps(
        self, trips: Expression, atom: Atom, point: Point, ranges: Ranges
    ) -> list[tuple[int, int, Value]] | None:
        """Return the parts of a range within which a loop runs equally often, where those are few.

        Grid-stride loops.
        """
        now = dict(point)
        only_id = is_only_id(atom, trips)

        def at(value: int) -> Value | None:
            if only_id:
                now[atom] = value
                count = evaluate(trips, self.known, now)
            else:
                then = {**point, atom: value}
                self.relate(atom, then, dict(ranges))
                count = evaluate(trips, self.known, then)
            return count if count is None or count < ENDLESS else None

        return stairs(at, *ranges[atom])

    # --- branches ----------------------------------------------------------------------------------------

    def _branch(self, branch: Branch, weight: float, point: Point, ranges: Ranges) -> None:
        found = self.seen.branches.get(key_of(branch)) if self.seen is not None else None
        if self.visits > self.most_visits:
            self._branch_roughly(branch, weight, point, ranges, found)
            return
        parts = [Part(*split) for split in self._split(branch.condition, 1.0, point, ranges, branch) if split[0] > 0]
        if len(parts) > 1 and len({part.taken for part in parts}) == 1:  # the ids did not matter after all
            parts = [Part(1.0, point, ranges, parts[0].taken, all(part.is_sure for part in parts))]
        is_sure = all(part.is_sure for part in parts)
        if found is None and not is_sure:
            came, let_in, open_ = self.met.get(id(branch), (0.0, 0.0, 0.0))
            sure = sum(part.share for part in parts if part.is_sure and part.taken)
            unsure = sum(part.share for part in parts if not part.is_sure)
            self.met[id(branch)] = (came + weight, let_in + weight * sure, open_ + weight * unsure)
        if found is not None and self.seen is not None:
            is_whole = key_of(branch) in self.seen.asked and is_sure
            if is_whole or (self.inside and (not is_sure or _varies(branch.condition, point, ranges))):
                parts, is_sure = with_share(parts, found.share, point, ranges), False
            elif not is_sure:
                parts = with_undecided_share(parts, found.undecided_share, point, ranges)
        outside, inside = self.odds.assumed, self.inside
        for part in parts:
            if part.share > 0:
                self.odds.assumed = [*outside, (branch.condition, part.taken)]
                self.inside = inside or (found is not None and not is_sure)
                self.visit(
                    branch.then if part.taken else branch.otherwise, weight * part.share, part.point, part.ranges
                )
        self.odds.assumed, self.inside = outside, inside

    def _branch_roughly(
        self, branch: Branch, weight: float, point: Point, ranges: Ranges, found: BranchSample | None
    ) -> None:
        """By what was seen, by the work-item in the middle, or by the default: an editor waits no longer."""
        value = None
        if found is not None:
            share = found.share
        elif branch.condition.evaluable and not branch.condition.has("load"):
            value = evaluate(branch.condition, self.known, {**_middle(ranges), **point})
        if found is None:
            self.assumed.add(key_of(branch))
            share = likelihood(branch.condition) if value is None else float(bool(value))
        for side, part in ((branch.then, share), (branch.otherwise, 1 - share)):
            if part > 0:
                self.visit(side, weight * part, point, ranges)

    def _split(
        self, condition: Expression, weight: float, point: Point, ranges: Ranges, branch: Branch
    ) -> Iterator[Split]:
        """Divide the work-items within `ranges` into those for which `condition` holds and the others.

        Yields their share, where they are, whether it holds, and whether the launch says so.
        """
        self.visits += 1
        atom = condition.atom
        arguments = atom.operands if atom is not None else ()
        if atom is not None and atom.kind == "not":
            for part, now, rest, taken, sure in self._split(arguments[0], weight, point, ranges, branch):
                yield part, now, rest, not taken, sure
            return
        if atom is not None and atom.kind in ("and", "or"):
            bounds = interval(condition, self.known, point, ranges) if condition.evaluable else None
            if bounds in _SURE:
                yield weight, point, ranges, bounds == (1, 1), True
                return
            met = None if is_linear(condition, ranges) else self.exact_share(condition, point, ranges, branch)
            if met is not None:  # `i % 4 == 2 || i % 4 == 3` is more than its parts
                yield weight * met, point, ranges, True, True
                yield weight * (1 - met), point, ranges, False, True
                return
            if not is_linear(condition, ranges) and self._is_shared(arguments, ranges):
                for part, now, rest in self.bind(self.unbound(condition, ranges), point, ranges):
                    yield from self._split(condition, weight * part, now, rest, branch)
                return
            settles = atom.kind == "or"
            for part, now, rest, taken, sure in _few(self._split(arguments[0], weight, point, ranges, branch)):
                if taken == settles:
                    yield part, now, rest, taken, sure
                else:
                    self.odds.assumed.append((arguments[0], taken))
                    for *split, also_sure in self._split(arguments[1], part, now, rest, branch):
                        yield (*split, sure and also_sure)  # type: ignore[misc]
                    self.odds.assumed.pop()
            return
        condition = self.in_groups(condition, point, ranges)
        atom = condition.atom
        arguments = atom.operands if atom is not None else ()
        if not condition.evaluable or condition.has("load"):
            yield from self._by_share(condition, weight, point, ranges, branch)
            return
        unbound = self.unbound(condition, ranges)
        if not unbound:
            value = self._value(condition, point)
            if value is None:
                yield from self._by_odds(condition, weight, point, ranges, branch)
            else:
                yield weight, point, ranges, bool(value), True
            return
        if atom is not None and atom.kind in ("lt0", "eq0"):
            exact = cut(arguments[0], atom.kind, unbound, self.known, point, ranges)
            if exact is not None:
                for share, kept, taken in exact:
                    yield weight * share, point, kept, taken, True
                return
        if self.visits > self.most_visits:
            value = evaluate(condition, self.known, {**_middle(ranges), **point})
            self.assumed.add(key_of(branch))
            yield weight, point, ranges, bool(value), False
            return
        met = None
        if rests_on_floats(condition) and not any(
            decides(branch.then, a) or decides(branch.otherwise, a) for a in unbound
        ):
            met = self.odds.share(condition, point, ranges)  # all draws at once: trying id by id takes too long
        if met is None:
            met = self.exact_share(condition, point, ranges, branch)
        if met is not None:
            yield weight * met, point, ranges, True, True
            yield weight * (1 - met), point, ranges, False, True
            return
        low, high = ranges[unbound[0]]
        if high - low > MAX_EXACT:
            self.assumed.add(key_of(branch))  # a few that are tried may all be even where every other one is
        for part, now, rest in self.bind(unbound, point, ranges):
            yield from self._split(condition, weight * part, now, rest, branch)

    def _value(self, expression: Expression, point: Point) -> Value | None:
        """At a point where other parts of a condition may have been asked for just before."""
        if self.here[0] is not point:
            self.here = (point, {})
        return evaluate(expression, self.known, point, self.here[1])

    def _is_shared(self, parts: Sequence[Expression], ranges: Ranges) -> bool:
        """Return whether `parts` ask for the same id or counter, so that one being met tells of the other."""
        if self.visits > FREE_VISITS or any(not p.evaluable or p.has("load") for p in parts):
            return False
        return bool(parts[0].leaves & parts[1].leaves & ranges.keys())

    def _by_share(
        self, condition: Expression, weight: float, point: Point, ranges: Ranges, branch: Branch
    ) -> Iterator[Split]:
        bounds = interval(condition, self.known, point, ranges) if condition.evaluable else None
        if bounds in _SURE:
            yield weight, point, ranges, bool(bounds[0]), True
            return
        yield from self._by_odds(condition, weight, point, ranges, branch)

    def _by_odds(
        self, condition: Expression, weight: float, point: Point, ranges: Ranges, branch: Branch
    ) -> Iterator[Split]:
        share = self.odds.share(condition, point, ranges)
        if share is None or any(a.kind == "load" and a.arguments[0] in self.rewritten for a in condition.leaves):
            self.assumed.add(key_of(branch))  # a fill says what was there before the kernel stored there, too
        if share is None:
            parameter = self.known.parameters.get(branch.share) if branch.share is not None else None
            is_whole = condition == branch.condition and parameter is not None
            share = parameter.default if is_whole and parameter is not None else likelihood(condition)
        yield weight * share, point, ranges, True, False
        yield weight * (1 - share), point, ranges, False, False


def _few(splits: Iterator[Split]) -> Iterator[Split]:
    """Put those from the `MAX_APART`-th on together that differ in their share alone.

    `(a || b) && c || d ...` has more ways from term to term: with 40 terms that only data decide, millions.
    """
    yield from islice(splits, MAX_APART)
    together: dict[tuple[int, int, bool, bool], Split] = {}
    for share, now, rest, taken, sure in splits:
        key = (id(now), id(rest), taken, sure)
        known = together.get(key)
        together[key] = (share if known is None else known[0] + share, now, rest, taken, sure)
    yield from together.values()


def _varies(expression: Expression, point: Point, ranges: Ranges) -> bool:
    """Return whether ids or counters decide it."""
    return any(leaf in point or leaf in ranges for leaf in expression.leaves)


def _middle(ranges: Mapping[Atom, tuple[int, int]]) -> Point:
    return {a: (low + high - 1) // 2 for a, (low, high) in ranges.items()}
