"""Expressions that are a base and slopes by ids and counters: what most indices are. See `slopes_of`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from model.work.expressions.numbers import Value
from model.work.expressions.symbolic import GLOBAL_ID, GROUP_ID, LOCAL_ID, Atom, Expression, Point, Ranges

_OF_LAUNCH = ("arg.", "name.", "image.", "global_size.", "local_size.", "num_groups.", "work_dim")


@dataclass(frozen=True, slots=True)
class Parts:
    """What a sum is made of, whatever the launch: (coefficient, what the launch says, id or counter) for each term.

    `counter` is that of the innermost loop among them. `uses` tells by dimension d whether the sum rests on the global
    id alone (bit d), on local or group id alone (bit 3 + d), or on both (bit 6 + d).
    """

    terms: tuple[tuple[int, tuple[Atom, ...], Atom | None], ...]
    counter: Atom | None
    uses: int


@dataclass(frozen=True, slots=True)
class Slopes:
    """`base` + the sum of slope x id or counter; each stands once in `slopes`, and in `terms` as often as written."""

    base: int
    slopes: tuple[tuple[Atom, int], ...]
    terms: tuple[tuple[Atom, int], ...]
    parts: Parts

    def bounds(self, point: Point, ranges: Ranges) -> tuple[Value, Value] | None:
        """Return the least and the greatest value within `ranges` (half-open); None where an id has no range."""
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


def is_of_launch(atom: Atom) -> bool:
    """Return whether it is a symbol that a launch gives once for all of its work-items."""
    return atom.kind == "symbol" and str(atom.arguments[0]).startswith(_OF_LAUNCH)


def parts_of(expression: Expression) -> Parts | None:
    """Return what a sum is made of; None for what is no such sum."""
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
    return Parts(tuple(terms), counter, uses)
