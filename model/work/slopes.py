"""Expressions that are a base and slopes by ids and counters, in one launch's numbers: what most indices are.

Intervals, strides, steps and edges of such sums can be read off. What is more than that, or rests on what the launch
does not say, has no such form here, and is worked out at length.
"""

from __future__ import annotations

from collections.abc import Iterable

from model.work.evaluate import value_of_launch
from model.work.knowledge import Knowledge
from model.work.linear_sums import LANE_IDS, Parts, Slopes, parts_of
from model.work.symbolic import Atom, Expression

MAX_BITS = 128  # of numbers in a sum: it then stays far below what `evaluate` takes for a number

_NOT_YET = Slopes(0, (), (), 0, Parts((), None, has_lanes=False, uses=0))


def slopes_of(expression: Expression, known: Knowledge) -> Slopes | None:
    """None for what is no such sum."""
    kept: tuple[Parts | None] | None = expression.parts
    if kept is None:
        kept = expression.parts = (parts_of(expression),)
    parts = kept[0]
    if parts is None:
        return None
    found = known.sums.get(expression, _NOT_YET)
    if found is _NOT_YET:
        found = known.sums[expression] = _under(parts, known)
    return found


def _under(parts: Parts, known: Knowledge) -> Slopes | None:
    base = 0
    terms: list[tuple[Atom, int]] = []
    for coefficient, fixed, varying in parts.terms:
        factor = coefficient
        for atom in fixed:
            value = value_of_launch(atom, known)
            if not isinstance(value, int):
                return None
            factor *= value
        if factor.bit_length() > MAX_BITS:
            return None
        if varying is None:
            base += factor
        else:
            terms.append((varying, factor))
    apart = tuple(terms)
    merged = dict(apart)
    if len(merged) == len(apart):
        return Slopes(base, apart, apart, _lane(apart), parts)
    for atom in merged:
        merged[atom] = sum(factor for other, factor in apart if other is atom)
    return Slopes(base, tuple(merged.items()), apart, _lane(apart), parts)


def _lane(terms: Iterable[tuple[Atom, int]]) -> int:
    lane = 0
    for atom, factor in terms:
        if atom in LANE_IDS:
            lane += factor
    return lane
