"""What fills say on the way through a kernel: of conditions under those met before, and of loops that data end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from model.work.expressions.evaluate import evaluate
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.numbers import Value
from model.work.expressions.symbolic import Atom, Expression
from model.work.expressions.trips import MAX_SIMULATED_TRIPS
from model.work.regions.region import Leaves, Loop
from model.work.walk.chances import Assumed, Budget, chance, expected, is_described

MAX_FOLLOWED = 16  # iterations of a loop whose first one ends it otherwise than most do
MUCH = 0.05

Point = Mapping[Atom, Value]
Ranges = Mapping[Atom, tuple[int, int]]


@dataclass(slots=True)
class Odds:
    """`assumed` are the conditions over data that hold, or do not, where the walk is."""

    known: LaunchBindings
    assumed: list[Assumed] = field(default_factory=list)
    budget: Budget = field(default_factory=Budget)
    open: dict[Expression, bool] = field(default_factory=dict)
    worked_out: dict[tuple[object, ...], float | None] = field(default_factory=dict)

    def share(self, condition: Expression, point: Point, ranges: Ranges) -> float | None:
        """Return the share of executions, 0 to 1, that meet `condition`; None where no fill says.

        Worked out once for all visits that see the same of it.
        """
        if condition.constant is not None:
            return float(bool(condition.constant))
        if self.budget.left < 0 or self._is_open(condition):
            return None
        leaves = condition.leaves.union(*(e.leaves for e, _ in self.assumed))
        seen = tuple((a, point.get(a), ranges.get(a)) for a in sorted(leaves, key=lambda a: a.serial))
        key = (condition, tuple(self.assumed), seen)
        if key not in self.worked_out:
            self.worked_out[key] = chance(condition, self.assumed, self.known, point, ranges, self.budget)
        return self.worked_out[key]

    def _is_open(self, condition: Expression) -> bool:
        """Return whether it rests on something that no fill describes, wherever the walk is."""
        if condition not in self.open:
            self.open[condition] = not all(is_described(leaf, self.known) for leaf in condition.leaves)
        return self.open[condition]

    def mean(self, expression: Expression, point: Point, ranges: Ranges) -> float | None:
        """Return what to expect of a number that the data decide; None where no fill says."""
        if not expression.has("load") or self.budget.left < 0:
            return None
        return expected(expression, self.known, point, ranges, self.budget)

    def iterations(self, loop: Loop, point: Point, ranges: Ranges, middle: Point) -> Value | None:
        """Return iterations to expect of a loop that data end.

        Each meets new data, or follows them from where it stands.
        """
        if loop.leaves is None:
            return None
        limit: Value | None = MAX_SIMULATED_TRIPS
        if loop.leaves.limit is not None:
            limit = evaluate(loop.leaves.limit, self.known, {**middle, **point})
        if limit is None or limit <= 0:
            return limit
        usual = self._goes_on(loop.leaves, point, {**ranges, loop.counter: (0, math.ceil(limit))})
        first = self._goes_on(loop.leaves, {**point, loop.counter: 0}, ranges)
        if usual is None or first is None:
            return None
        reached, count = 1.0, 0.0
        for iteration in range(min(MAX_FOLLOWED, math.ceil(limit)) if _differ(usual, first) else 0):
            now = self._goes_on(loop.leaves, {**point, loop.counter: iteration}, ranges)
            begun, finished = now if now is not None else usual
            count += reached * begun
            reached *= begun * finished
            limit -= 1
        begun, finished = usual
        stays = begun * finished
        return count + reached * begun * (limit if stays == 1 else (1 - stays**limit) / (1 - stays))

    def _goes_on(self, leaves: Leaves, point: Point, ranges: Ranges) -> tuple[float, float] | None:
        """Return how likely an iteration is begun, and once begun is not broken off."""
        before, within = self.share(leaves.before, point, ranges), self.share(leaves.within, point, ranges)
        return None if before is None or within is None else (1 - before, 1 - within)


def _differ(usual: tuple[float, float], first: tuple[float, float]) -> bool:
    return any(abs(a - b) > MUCH for a, b in zip(usual, first, strict=True))
