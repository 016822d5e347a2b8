"""What lanes of a warp decide, as one function for many lanes, where that must be worked out at length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from model.work.expressions.evaluate import alone
from model.work.expressions.functions import MAX_DEPTH_OF_TEXT, OfLanes, lanes_for
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.loop_simulation import runs_in
from model.work.expressions.numbers import Value
from model.work.expressions.symbolic import GLOBAL_ID, LOCAL_ID, Atom, Expression

USES_OF_TEXT = 4  # warps after which going on lane by lane takes longer than making a function
_IDS = (*GLOBAL_ID, *LOCAL_ID)
Tests = tuple[tuple[Expression, bool], ...]  # a condition, and whether it must hold


class LaneFunction:
    """An expression in those lanes that meet all `tests`; kept with the expression, which it does not hold itself."""

    def __init__(self, tests: Tests, expression: Expression, ids: tuple[Atom, ...] = _IDS) -> None:
        self._tests = tests
        leaves = expression.leaves.union(*(test.leaves for test, _ in tests))
        self._ids = tuple([atom for atom in ids if atom in leaves])
        self._uses = 0
        self._function: OfLanes | None = None

    def values(
        self,
        expression: Expression,
        lanes: Sequence[dict[Atom, int]],
        known: LaunchBindings,
        point: Mapping[Atom, Value],
    ) -> list[Value] | None:
        """Return the values in `lanes`; None before it was asked for often, and where one of them is not decided."""
        self._uses += 1
        if self._uses == USES_OF_TEXT and self._can_be_text(expression):
            self._function = lanes_for(self._tests, expression, self._ids, alone)
        if self._function is None or not lanes or not all(atom in lanes[0] for atom in self._ids):
            return None
        return self._function(point, known, {**point, **lanes[0]}, lanes)

    def _can_be_text(self, expression: Expression) -> bool:
        """Return whether ids decide all loops that must be run: others would be run before the first lane asks."""
        expressions = [expression, *(test for test, _ in self._tests)]
        return all(
            e.depth <= MAX_DEPTH_OF_TEXT and not any(run.leaves.isdisjoint(self._ids) for run in runs_in(e))
            for e in expressions
        )


def lane_function(tests: Tests, expression: Expression) -> LaneFunction:
    """Return the function of `expression` under these tests, made at the first call."""
    kept: dict[Tests, LaneFunction] | None = expression.lanes
    if kept is None:
        kept = expression.lanes = {}
    found = kept.get(tests)
    if found is None:
        found = kept[tests] = LaneFunction(tests, expression)
    return found
