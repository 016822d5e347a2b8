"""How often each block runs: one walk over a kernel's blocks under one launch.

Ids and loop counters stay ranges as long as they can: a guard such as `i < n` cuts the range exactly, a loop
with a uniform bound multiplies. Where a condition or a trip count truly depends on several of them, one is
bound to its values (all of them, or a low-discrepancy sample when there are many), and the walk goes on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from model.work.conditions import is_linear, is_only_id, rests_on_floats
from model.work.evaluate import Knowledge, Memo, evaluate, interval
from model.work.forks import Forks
from model.work.guards import cut
from model.work.machine import likelihood
from model.work.numbers import Value
from model.work.odds import Odds
from model.work.operations import substituted
from model.work.reached import Extent, Point, Ranges, Reached, Visit
from model.work.region import DEFAULT_DATA_TRIPS, Block, Branch, Loop, decides
from model.work.samples import samples
from model.work.stairs import stairs
from model.work.symbolic import GLOBAL_ID, GROUP_ID, LOCAL_ID, LOCAL_SIZE, Atom, Expression, number

MAX_VISITS = 6_000
MAX_EXACT = 256  # values of an id tried one by one
_TRIED_IN_A_VISIT = 32  # values of an id for one condition: that takes as long as visiting a block
MAX_SHORT = 16  # ... even if it is one of several, as long as that does not go too far:
FREE_VISITS = 2_000
_SURE = frozenset({(1, 1), (0, 0)})  # intervals of conditions that hold for all or for none
_DIMENSION = {ids[d]: d for ids in (GLOBAL_ID, GROUP_ID, LOCAL_ID) for d in range(3)}
_PARTS = frozenset((*GROUP_ID, *LOCAL_ID))  # of a global id
_SAMPLES = (64, 32, 12, 6, 4, 3, 2)  # by how many ids or counters are bound already


@dataclass(slots=True)
class Walk:
    """Results by identity of block and access; `undecided` holds the lines of loops that nothing bounds."""

    known: Knowledge
    runs: dict[int, float] = field(default_factory=dict)
    undecided: set[int] = field(default_factory=set)
    visits: int = 0
    shares: dict[tuple[object, ...], float | None] = field(default_factory=dict)
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
        mean = self.odds.mean(loop.trips, point, ranges) if loop.leaves is None else None
        if mean is not None:
            self._repeat(loop, mean, weight, point, ranges)
            return
        unbound = self._unbound(loop.trips, ranges)
        if unbound and self.visits < MAX_VISITS:
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
            for part, now, rest in self._bind(unbound, point, ranges):
                self._loop(loop, weight * part, now, rest)
            return
        trips = self.odds.iterations(loop, point, ranges, _middle(ranges)) if loop.leaves is not None else None
        if trips is None:
            trips = evaluate(loop.trips, self.known, {**_middle(ranges), **point} if unbound else point)
        if trips is None:
            self.undecided.add(loop.line)
            trips = DEFAULT_DATA_TRIPS
        self._repeat(loop, trips, weight, point, ranges)

    def _repeat(self, loop: Loop, trips: Value, weight: float, point: Point, ranges: Ranges) -> None:
        if trips > 0:
            inner = {**ranges, loop.counter: (0, max(1, math.ceil(trips)))}
            self.visit(loop.body, weight * trips, point, inner)

    def _steps(
        self, trips: Expression, atom: Atom, point: Point, ranges: Ranges
    ) -> list[tuple[int, int, Value]] | None:
        """The parts of a range within which a loop runs equally often, where those are few: grid-stride loops."""

        now = dict(point)
        only_id = is_only_id(atom, trips)

        def at(value: int) -> Value | None:
            if only_id:
                now[atom] = value
                return evaluate(trips, self.known, now)
            then = {**point, atom: value}
            self._relate(atom, then, dict(ranges))
            return evaluate(trips, self.known, then)

        return stairs(at, *ranges[atom])

    def _unbound(self, expression: Expression, ranges: Ranges) -> list[Atom]:
        """The ids and counters in `expression` that are still ranges, the shortest first."""
        if ranges.keys().isdisjoint(expression.leaves):
            return []
        return sorted(expression.leaves & ranges.keys(), key=lambda a: (ranges[a][1] - ranges[a][0], a.serial))

    def _bind(self, unbound: list[Atom], point: Point, ranges: Ranges) -> Iterator[tuple[float, Point, Ranges]]:
        atom = unbound[0]
        low, high = ranges[atom]
        bound = sum(1 for a in point if a not in _PARTS)
        budget = _SAMPLES[min(bound, len(_SAMPLES) - 1)]
        if self.visits < FREE_VISITS:
            budget = max(budget, MAX_SHORT)
        for value, part in samples(low, high, budget):
            self.visits += 1
            rest = ranges.copy()
            del rest[atom]
            now = {**point, atom: value}
            self._relate(atom, now, rest)
            yield part, now, rest

    def _relate(self, atom: Atom, point: Point, ranges: Ranges) -> None:
        """A global id decides its group and local id; a local id within a group decides the global id."""
        d = _DIMENSION.get(atom)
        if d is None:  # a counter
            return
        size = self.known.symbols.get(LOCAL_SIZE[d], 1)
        if atom is GLOBAL_ID[d]:
            for other, value in ((GROUP_ID[d], point[atom] // size), (LOCAL_ID[d], point[atom] % size)):
                if other in ranges:
                    point[other] = value
                    del ranges[other]
        elif GROUP_ID[d] in point and LOCAL_ID[d] in point and GLOBAL_ID[d] in ranges:
            point[GLOBAL_ID[d]] = point[GROUP_ID[d]] * size + point[LOCAL_ID[d]]
            del ranges[GLOBAL_ID[d]]

    # --- branches ----------------------------------------------------------------------------------------

    def _branch(self, branch: Branch, weight: float, point: Point, ranges: Ranges) -> None:
        if self.visits > MAX_VISITS:
            self._branch_roughly(branch, weight, point, ranges)
            return
        parts = [
            (part, now, rest, taken, [*self.odds.assumed, (branch.condition, taken)])
            for part, now, rest, taken in self._split(branch.condition, 1.0, point, ranges, branch)
            if part > 0
        ]
        if len(parts) > 1 and len({taken for _, _, _, taken, _ in parts}) == 1:  # the ids did not matter after all
            taken = parts[0][3]
            parts = [(1.0, point, ranges, taken, [*self.odds.assumed, (branch.condition, taken)])]
        outside = self.odds.assumed
        for part, now, rest, taken, assumed in parts:
            self.odds.assumed = assumed
            self.visit(branch.then if taken else branch.otherwise, weight * part, now, rest)
        self.odds.assumed = outside

    def _branch_roughly(self, branch: Branch, weight: float, point: Point, ranges: Ranges) -> None:
        """By the work-item in the middle, or by the default: an editor waits no longer."""
        value = None
        if branch.condition.evaluable and not branch.condition.has("load"):
            value = evaluate(branch.condition, self.known, {**_middle(ranges), **point})
        share = likelihood(branch.condition) if value is None else float(bool(value))
        for side, part in ((branch.then, share), (branch.otherwise, 1 - share)):
            if part > 0:
                self.visit(side, weight * part, point, ranges)

    def _split(
        self, condition: Expression, weight: float, point: Point, ranges: Ranges, branch: Branch
    ) -> Iterator[tuple[float, Point, Ranges, bool]]:
        """Divide the work-items within `ranges` into those for which `condition` holds and the others."""
        self.visits += 1
        atom = condition.atom
        arguments = atom.operands if atom is not None else ()
        if atom is not None and atom.kind == "not":
            for part, now, rest, taken in self._split(arguments[0], weight, point, ranges, branch):
                yield part, now, rest, not taken
            return
        if atom is not None and atom.kind in ("and", "or"):
            bounds = interval(condition, self.known, point, ranges) if condition.evaluable else None
            if bounds in _SURE:
                yield weight, point, ranges, bounds == (1, 1)
                return
            met = None if is_linear(condition, ranges) else self._exact_share(condition, point, ranges, branch)
            if met is not None:  # `i % 4 == 2 || i % 4 == 3` is more than its parts
                yield weight * met, point, ranges, True
                yield weight * (1 - met), point, ranges, False
                return
            if not is_linear(condition, ranges) and self._is_shared(arguments, ranges):
                for part, now, rest in self._bind(self._unbound(condition, ranges), point, ranges):
                    yield from self._split(condition, weight * part, now, rest, branch)
                return
            settles = atom.kind == "or"
            for part, now, rest, taken in self._split(arguments[0], weight, point, ranges, branch):
                if taken == settles:
                    yield part, now, rest, taken
                else:
                    self.odds.assumed.append((arguments[0], taken))
                    yield from self._split(arguments[1], part, now, rest, branch)
                    self.odds.assumed.pop()
            return
        condition = self._in_groups(condition, point, ranges)
        atom = condition.atom
        arguments = atom.operands if atom is not None else ()
        if not condition.evaluable or condition.has("load"):
            yield from self._by_share(condition, weight, point, ranges, branch)
            return
        unbound = self._unbound(condition, ranges)
        if not unbound:
            value = self._value(condition, point)
            if value is None:
                yield from self._by_odds(condition, weight, point, ranges, branch)
            else:
                yield weight, point, ranges, bool(value)
            return
        if atom is not None and atom.kind in ("lt0", "eq0"):
            exact = cut(arguments[0], atom.kind, unbound, self.known, point, ranges)
            if exact is not None:
                for share, kept, taken in exact:
                    yield weight * share, point, kept, taken
                return
        if self.visits > MAX_VISITS:
            value = evaluate(condition, self.known, {**_middle(ranges), **point})
            yield weight, point, ranges, bool(value)
            return
        met = None
        if rests_on_floats(condition) and not any(
            decides(branch.then, a) or decides(branch.otherwise, a) for a in unbound
        ):
            met = self.odds.share(condition, point, ranges)  # all draws at once: trying id by id takes too long
        if met is None:
            met = self._exact_share(condition, point, ranges, branch)
        if met is not None:
            yield weight * met, point, ranges, True
            yield weight * (1 - met), point, ranges, False
            return
        for part, now, rest in self._bind(unbound, point, ranges):
            yield from self._split(condition, weight * part, now, rest, branch)

    def _value(self, expression: Expression, point: Point) -> Value | None:
        """At a point where other parts of a condition may have been asked for just before."""
        if self.here[0] is not point:
            self.here = (point, {})
        return evaluate(expression, self.known, point, self.here[1])

    def _in_groups(self, condition: Expression, point: Point, ranges: Ranges) -> Expression:
        """A condition on a global id over group and local id, where an enclosing branch has narrowed the local one."""
        for d in range(3):
            if GLOBAL_ID[d] not in condition.leaves or GLOBAL_ID[d] not in ranges:
                continue
            size = int(self.known.symbols.get(LOCAL_SIZE[d], 1))
            low, high = ranges.get(LOCAL_ID[d], (0, size))
            if LOCAL_ID[d] in point or high - low < min(size, ranges[GLOBAL_ID[d]][1] - ranges[GLOBAL_ID[d]][0]):
                local = number(low) if high - low == 1 else Expression({(LOCAL_ID[d],): 1})
                whole = Expression({(GROUP_ID[d],): size}) + local
                condition = substituted(condition, {GLOBAL_ID[d]: whole})
        return condition

    def _is_shared(self, parts: Sequence[Expression], ranges: Ranges) -> bool:
        """Whether `parts` ask for the same id or counter, so that one being met tells of the other."""
        if self.visits > FREE_VISITS or any(not p.evaluable or p.has("load") for p in parts):
            return False
        return bool(parts[0].leaves & parts[1].leaves & ranges.keys())

    def _exact_share(self, condition: Expression, point: Point, ranges: Ranges, branch: Branch) -> float | None:
        """The share of a short range that meets a condition like `lane % 6 == 0`, where nothing inside asks which."""
        unbound = self._unbound(condition, ranges)
        if len(unbound) != 1 or not condition.evaluable or condition.has("load"):
            return None
        atom = unbound[0]
        low, high = ranges[atom]
        if high - low > MAX_EXACT or decides(branch.then, atom) or decides(branch.otherwise, atom):
            return None
        key = (condition, low, high, *((leaf, point[leaf]) for leaf in condition.leaves if leaf in point))
        if key not in self.shares:  # conditions nested in others come by again and again
            self.shares[key] = self._tried_share(condition, atom, point, ranges)
        return self.shares[key]

    def _tried_share(self, condition: Expression, atom: Atom, point: Point, ranges: Ranges) -> float | None:
        low, high = ranges[atom]
        self.visits += (high - low) // _TRIED_IN_A_VISIT
        met = 0
        now = dict(point)
        only_id = is_only_id(atom, condition)
        for value in range(low, high):
            if only_id:
                now[atom] = value
            else:
                now = {**point, atom: value}
                self._relate(atom, now, dict(ranges))
            holds = evaluate(condition, self.known, now)
            if holds is None:
                return None
            met += bool(holds)
        return met / (high - low)

    def _by_share(
        self, condition: Expression, weight: float, point: Point, ranges: Ranges, branch: Branch
    ) -> Iterator[tuple[float, Point, Ranges, bool]]:
        bounds = interval(condition, self.known, point, ranges) if condition.evaluable else None
        if bounds in _SURE:
            yield weight, point, ranges, bool(bounds[0])
            return
        yield from self._by_odds(condition, weight, point, ranges, branch)

    def _by_odds(
        self, condition: Expression, weight: float, point: Point, ranges: Ranges, branch: Branch
    ) -> Iterator[tuple[float, Point, Ranges, bool]]:
        share = self.odds.share(condition, point, ranges)
        if share is None:
            parameter = self.known.parameters.get(branch.share) if branch.share is not None else None
            is_whole = condition == branch.condition and parameter is not None
            share = parameter.default if is_whole and parameter is not None else likelihood(condition)
        yield weight * share, point, ranges, True
        yield weight * (1 - share), point, ranges, False


def _middle(ranges: Mapping[Atom, tuple[int, int]]) -> Point:
    return {a: (low + high - 1) // 2 for a, (low, high) in ranges.items()}
