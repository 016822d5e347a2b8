"""Indices in numbers: base + slope x id or counter ..., under a launch, with `%`, `/`, masks and shifts taken apart.

`i % 16` and `i / 16` are digits of `i`: an id whose index divides it by constants is replaced by its digits, so that
tiled and transposed indices are linear, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from model.work.expressions.evaluate import value_at
from model.work.expressions.intervals import interval
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.symbolic import ZERO, Atom, Expression, Point

MAX_SPLITS = 6

Digit = tuple[Atom, int]  # an id or counter, and the place of the digit: 1, or what it was divided by
Ranges = dict[Atom, tuple[int, int]]  # half-open


class NotLinear(Exception):
    """There is no such form; binding one of `atoms` to its values may give one."""

    def __init__(self, atoms: frozenset[Atom]) -> None:
        super().__init__()
        self.atoms = atoms


class _Split(Exception):
    """An id has to be taken apart at a place."""

    def __init__(self, digit: Digit, place: int) -> None:
        super().__init__()
        self.digit, self.place = digit, place


@dataclass(frozen=True, slots=True)
class Linear:
    base: int
    slopes: tuple[tuple[Digit, int], ...] = ()

    def plus(self, other: Linear, times: int = 1) -> Linear:
        slopes = dict(self.slopes)
        for digit, slope in other.slopes:
            slopes[digit] = slopes.get(digit, 0) + slope * times
        return Linear(self.base + other.base * times, tuple((d, s) for d, s in slopes.items() if s))


@dataclass(slots=True)
class LinearReader:
    """Reads expressions at one `point`, with `ranges` for what varies.

    `counts` gives how many values each digit takes, from 0. `is_exact` turns false where a range does not divide
    evenly, or a choice between two values was made for all: what is read then reaches a little more than is touched.
    """

    known: LaunchBindings
    point: Point
    ranges: Ranges
    related: Mapping[Atom, Linear] = field(default_factory=dict)  # ids in terms of others
    is_exact: bool = True
    is_pointwise: bool = True  # False where only the set of values is right: `(i + 1) % n` runs through what `i` does
    places: dict[Atom, list[int]] = field(default_factory=dict)
    whole: Expression = ZERO  # what is being read

    def read(self, expression: Expression) -> Linear:
        """Return what an expression is as a sum. Raises NotLinear."""
        self.whole = expression
        for _ in range(MAX_SPLITS):
            try:
                return self._sum(expression)
            except _Split as split:
                self._split(split.digit, split.place)
        raise NotLinear(expression.leaves & self.ranges.keys())

    def count(self, digit: Digit) -> int:
        atom, place = digit
        low, high = self._bounds(atom)
        above = next((p for p in self.places.get(atom, ()) if p > place), None)
        values = max(1, -(-(high - low) // place))
        return min(values, above // place) if above is not None else values

    def low(self, atom: Atom) -> int:
        """Where its digits begin."""
        return self._bounds(atom)[0]

    def _bounds(self, atom: Atom) -> tuple[int, int]:
        """Where the digits of `atom` begin and end: whole multiples of its greatest place."""
        low, high = self.ranges[atom]
        place = max(self.places.get(atom, [1]))
        return low // place * place, high

    def _split(self, digit: Digit, place: int) -> None:
        atom, _ = digit
        low, high = self.ranges[atom]
        self.places.setdefault(atom, [1])
        self.places[atom] = sorted({*self.places[atom], place})
        if low % place or (high - low) % place:
            self.is_exact = False

    def _atom(self, atom: Atom) -> Linear:
        low, _ = self._bounds(atom)
        return Linear(low, tuple(((atom, p), p) for p in self.places.get(atom, [1]) if self.count((atom, p)) > 1))

    def _sum(self, expression: Expression) -> Linear:
        total = Linear(0)
        for monomial, coefficient in expression.terms:
            factor, varying = coefficient, None
            for atom in monomial:
                value = self._factor(atom)
                if not value.slopes:
                    factor *= value.base
                elif varying is None:
                    varying = value
                else:
                    raise NotLinear(atom.leaves & self.ranges.keys())
            total = total.plus(varying or Linear(1), factor) if factor else total
        return total

    def _factor(self, atom: Atom) -> Linear:
        value = self.point.get(atom)
        if value is not None:
            return Linear(round(value))
        if atom in self.related:
            return self.related[atom]
        if atom in self.ranges:
            return self._atom(atom)
        if self.ranges.keys().isdisjoint(atom.leaves):
            number = value_at(atom, self.known, self.point)
            if number is None:
                raise NotLinear(frozenset())
            return Linear(round(number))
        return self._operation(atom)

    def _operation(self, atom: Atom) -> Linear:
        arguments = atom.operands
        match atom.kind:
            case "div" | "floordiv" | "mod" | "floormod":
                divisor = self._sum(arguments[1])
                if not divisor.slopes and divisor.base > 0:
                    return self._divided(self._sum(arguments[0]), divisor.base, atom, truncates=atom.kind == "div")
            case "shr" | "bitand":
                by = self._sum(arguments[1])
                if not by.slopes and atom.kind == "shr" and 0 <= by.base < 64:
                    return self._divided(self._sum(arguments[0]), 1 << by.base, atom, truncates=False)
                if not by.slopes and atom.kind == "bitand" and by.base >= 0 and by.base & (by.base + 1) == 0:
                    return self._divided(self._sum(arguments[0]), by.base + 1, atom, truncates=False)
            case "shl":
                by = self._sum(arguments[1])
                if not by.slopes and 0 <= by.base < 64:
                    return Linear(0).plus(self._sum(arguments[0]), 1 << by.base)
            case "min" | "max":
                return self._extreme(atom.kind, arguments[0], arguments[1])
            case "select":
                return self._chosen(*arguments)
            case "sum":
                return self._sum(arguments[0]).plus(self._sum(arguments[1]))
            case "bitor" | "bitxor":
                first, second = self._sum(arguments[0]), self._sum(arguments[1])
                if self._are_apart(first, second) or self._are_apart(second, first):
                    return first.plus(second)
        raise NotLinear(atom.leaves & self.ranges.keys())

    def _divided(self, value: Linear, divisor: int, atom: Atom, *, truncates: bool) -> Linear:
        """Quotient or remainder: what `divisor` divides goes to the one, the rest to the other, if it fits below."""
        whole = tuple((d, s // divisor) for d, s in value.slopes if s % divisor == 0)
        rest = Linear(value.base % divisor, tuple((d, s) for d, s in value.slopes if s % divisor))
        low, high = self._reach(rest)
        if low < 0 or high >= divisor:
            for digit, slope in rest.slopes:
                place = digit[1] * (divisor // slope) if slope > 0 and divisor % slope == 0 else 0
                if digit[1] < place < digit[1] * self.count(digit) and self._fits(digit, place):
                    raise _Split(digit, place)
            if high - low >= divisor or atom.kind in ("div", "floordiv", "shr"):
                raise NotLinear(atom.leaves & self.ranges.keys())
            return self._turned(rest, high - low, divisor, atom)
        if atom.kind in ("mod", "floormod", "bitand"):
            return rest
        if truncates and self._reach(value)[0] < 0:
            raise NotLinear(atom.leaves & self.ranges.keys())
        return Linear(value.base // divisor, whole)

    def _are_apart(self, high: Linear, low: Linear) -> bool:
        """Return whether `low` fits below the lowest bit that `high` ever has: then `|` and `^` add."""
        bits = high.base
        for _, slope in high.slopes:
            bits |= slope
        least, most = self._reach(low)
        return least >= 0 and high.base >= 0 and (bits == 0 or most < bits & -bits)

    def _reach(self, value: Linear) -> tuple[int, int]:
        """Return the least and the greatest that it may be."""
        ends = [slope * (self.count(digit) - 1) for digit, slope in value.slopes]
        return value.base + sum(e for e in ends if e < 0), value.base + sum(e for e in ends if e > 0)

    def _turned(self, rest: Linear, span: int, divisor: int, atom: Atom) -> Linear:
        """`(i + 1) % n`: as many values as without the turn, and the same ones where they fill the round."""
        self.is_pointwise = False
        step = min(abs(s) for _, s in rest.slopes)
        is_round = len(rest.slopes) == 1 and span + step == divisor and rest.base % step == 0
        is_alone = sum(1 for m, _ in self.whole.terms for a in m if a.leaves & atom.leaves & self.ranges.keys()) == 1
        self.is_exact = self.is_exact and is_round and is_alone
        return Linear(rest.base - self._reach(rest)[0], rest.slopes)

    def _fits(self, digit: Digit, place: int) -> bool:
        return all(p % place == 0 or place % p == 0 for p in self.places.get(digit[0], ()))

    def _extreme(self, kind: str, a: Expression, b: Expression) -> Linear:
        """`min(i, n - 1)` is `i`: clamping reaches no more than what is clamped."""
        first, second = (interval(e, self.known, self.point, self.ranges) for e in (a, b))
        if first is not None and second is not None:
            if first[1] <= second[0]:
                return self._sum(a if kind == "min" else b)
            if second[1] <= first[0]:
                return self._sum(b if kind == "min" else a)
        self.is_exact = self.is_pointwise = False
        return max(self._sum(a), self._sum(b), key=lambda v: len(v.slopes))

    def _chosen(self, condition: Expression, a: Expression, b: Expression) -> Linear:
        bounds = interval(condition, self.known, self.point, self.ranges) if condition.evaluable else None
        if bounds in {(0, 0), (1, 1)}:
            return self._sum(a if bounds[0] else b)
        self.is_exact = self.is_pointwise = False
        return max(self._sum(a), self._sum(b), key=lambda v: len(v.slopes))
