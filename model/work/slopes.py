"""Expressions that are a base and slopes by ids and counters, in one launch's numbers: what most indices are.

Intervals, strides, steps and edges of such sums can be read off. What is more than that, or rests on what the launch
does not say, has no such form here, and is worked out at length.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model.work.numbers import Value
from model.work.symbolic import GLOBAL_ID, GROUP_ID, LOCAL_ID, Atom, Expression

if TYPE_CHECKING:
    from model.work.evaluate import Knowledge

MAX_BITS = 128  # of numbers in a sum: it then stays far below what `evaluate` takes for a number

_OF_LAUNCH = ("arg.", "name.", "image.", "global_size.", "local_size.", "num_groups.", "work_dim")
_LANE = frozenset({GLOBAL_ID[0], LOCAL_ID[0]})
Point = Mapping[Atom, Value]
Ranges = Mapping[Atom, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a sum is made of, whatever the launch: (coefficient, what the launch says, id or counter) for each term.

    `counter` is that of the innermost loop among them, `has_lanes` whether ids of dimension 0 are. `uses` tells by
    dimension d whether the sum rests on the global id alone (bit d), on local or group id alone (bit 3 + d), or on both
    (bit 6 + d).
    """

    terms: tuple[tuple[int, tuple[Atom, ...], Atom | None], ...]
    counter: Atom | None
    has_lanes: bool
    uses: int


@dataclass(frozen=True, slots=True)
class Slopes:
    """`base` + the sum of slope x id or counter; each stands once in `slopes`, and in `terms` as often as written.

    `lane` is the difference between neighbours in dimension 0.
    """

    base: int
    slopes: tuple[tuple[Atom, int], ...]
    terms: tuple[tuple[Atom, int], ...]
    lane: int
    parts: Parts

    def bounds(self, point: Point, ranges: Ranges) -> tuple[Value, Value] | None:
        """Return the least and the greatest value within `ranges` (half-open), term by term; None where an id has
        neither."""
        low: Value = self.base
        high: Value = self.base
        for atom, slope in self.terms:
            value = point.get(atom)
            if value is not None:
                low += slope * value
                high += slope * value
                continue
            span = ranges.get(atom)
            if span is None:
                return None
            first, last = span
            if last > first:
                last -= 1
            else:
                last = first
            if slope >= 0:
                low += slope * first
                high += slope * last
            else:
                low += slope * last
                high += slope * first
        return low, high

    def at(self, point: Point, but: Atom) -> Value | None:
        """Return the value at `point` with `but` being 0; None where that does not decide it."""
        total: Value = self.base
        for atom, slope in self.slopes:
            if atom is but:
                continue
            value = point.get(atom)
            if value is None:
                return None
            total += slope * value
        return total

    def slope(self, atom: Atom) -> int:
        for other, slope in self.slopes:
            if other is atom:
                return slope
        return 0

    def is_decided(self, point: Point, ranges: Ranges, but: Collection[Atom]) -> bool:
        """Return whether all ids and counters, but these, have values or ranges."""
        return all(atom in ranges or atom in point or atom in but for atom, _ in self.slopes)


_NOT_YET = Slopes(0, (), (), 0, Parts((), None, has_lanes=False, uses=0))


def is_of_launch(atom: Atom) -> bool:
    """Return whether it is a symbol that a launch gives once for all of its work-items."""
    return atom.kind == "symbol" and str(atom.arguments[0]).startswith(_OF_LAUNCH)


def slopes_of(expression: Expression, known: Knowledge) -> Slopes | None:
    """None for what is no such sum."""
    kept = expression.parts
    if kept is None:
        kept = expression.parts = (_parts(expression),)
    parts = kept[0]
    if parts is None:
        return None
    found = known.sums.get(expression, _NOT_YET)
    if found is _NOT_YET:
        found = known.sums[expression] = _under(parts, known)
    return found


def _parts(expression: Expression) -> Parts | None:
    terms: list[tuple[int, tuple[Atom, ...], Atom | None]] = []
    counter: Atom | None = None
    for monomial, coefficient in expression.terms:
        varying: Atom | None = None
        fixed: list[Atom] = []
        for atom in monomial:
            if all(map(is_of_launch, atom.leaves)):
                fixed.append(atom)
            elif atom.kind == "symbol" and varying is None:
                varying = atom
            else:
                return None
        terms.append((coefficient, tuple(fixed), varying))
        is_counter = varying is not None and str(varying.arguments[0]).startswith("loop.")
        if varying is not None and is_counter and (counter is None or varying.serial > counter.serial):
            counter = varying
    uses = 0
    for d in range(3):
        whole = GLOBAL_ID[d] in expression.leaves
        part = LOCAL_ID[d] in expression.leaves or GROUP_ID[d] in expression.leaves
        uses |= (whole and not part) << d | (part and not whole) << (3 + d) | (whole and part) << (6 + d)
    return Parts(tuple(terms), counter, not _LANE.isdisjoint(expression.leaves), uses)


def _under(parts: Parts, known: Knowledge) -> Slopes | None:
    base = 0
    terms: list[tuple[Atom, int]] = []
    for coefficient, fixed, varying in parts.terms:
        factor = coefficient
        for atom in fixed:
            value = known.value_of(atom)
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
        if atom in _LANE:
            lane += factor
    return lane
