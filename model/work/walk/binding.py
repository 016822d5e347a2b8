"""Ids and loop counters that become bound to values: all of them, or a low-discrepancy sample when there are many."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from model.work.expressions.conditions import is_only_id
from model.work.expressions.evaluate import evaluate
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.operations import substituted
from model.work.expressions.symbolic import GLOBAL_ID, GROUP_ID, LOCAL_ID, LOCAL_SIZE, Atom, Expression, number
from model.work.regions.region import Branch, decides
from model.work.walk.access_extents import Point, Ranges

MAX_EXACT = 256  # values of an id tried one by one
_TRIED_IN_A_VISIT = 32  # values of an id for one condition: that takes as long as visiting a block
MAX_SHORT = 16  # ... even if it is one of several, as long as that does not go too far:
FREE_VISITS = 2_000
_DIMENSION = {ids[d]: d for ids in (GLOBAL_ID, GROUP_ID, LOCAL_ID) for d in range(3)}
_PARTS = frozenset((*GROUP_ID, *LOCAL_ID))  # of a global id
_SAMPLES = (64, 32, 12, 6, 4, 3, 2)  # by how many ids or counters are bound already


@dataclass(slots=True)
class Binding:
    """Under one launch; `visits` bounds how far it goes."""

    known: LaunchBindings
    visits: int = field(default=0, kw_only=True)
    shares: dict[tuple[object, ...], float | None] = field(default_factory=dict, kw_only=True)

    def unbound(self, expression: Expression, ranges: Ranges) -> list[Atom]:
        """Return the ids and counters in `expression` that are still ranges, the shortest first."""
        if ranges.keys().isdisjoint(expression.leaves):
            return []
        return sorted(expression.leaves & ranges.keys(), key=lambda a: (ranges[a][1] - ranges[a][0], a.serial))

    def bind(self, unbound: list[Atom], point: Point, ranges: Ranges) -> Iterator[tuple[float, Point, Ranges]]:
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
            self.relate(atom, now, rest)
            yield part, now, rest

    def relate(self, atom: Atom, point: Point, ranges: Ranges) -> None:
        """Bind what `atom` decides: a global id its group and local id, a local id within a group the global id."""
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

    def in_groups(self, condition: Expression, point: Point, ranges: Ranges) -> Expression:
        """Return a condition on a global id over group and local id, where a branch has narrowed the local one."""
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

    def exact_share(self, condition: Expression, point: Point, ranges: Ranges, branch: Branch) -> float | None:
        """Return the share of a short range that meets a condition like `i % 6 == 0` whose id nothing inside uses."""
        unbound = self.unbound(condition, ranges)
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
                self.relate(atom, now, dict(ranges))
            holds = evaluate(condition, self.known, now)
            if holds is None:
                return None
            met += bool(holds)
        return met / (high - low)


_GOLDEN = (math.sqrt(5) - 1) / 2


def samples(low: int, high: int, budget: int) -> Iterator[tuple[int, float]]:
    """(value, weight): all values of a short range, else one of each of `budget` strata.

    The place within a stratum follows the golden ratio, so that a stride in the data is not met in step.
    """
    length = high - low
    if length <= max(budget, 1):
        for value in range(low, high):
            yield value, 1 / length
        return
    for j in range(budget):
        yield low + int((j + (j * _GOLDEN + 0.5) % 1.0) * length / budget), 1 / budget
