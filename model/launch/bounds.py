"""The least and the most that an expression can be, where ids, counters and data lie within known ranges.

Plain interval arithmetic (Moore, 1966): never too narrow, sometimes too wide; infinite where nothing bounds a value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from model.work.expressions.floats import known_value
from model.work.expressions.intervals import interval
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.numbers import EVALUATED, Value, word_of
from model.work.expressions.symbolic import NO_ATOMS, Atom, Expression, Monomial

Bounds = tuple[Value, Value]  # both ends included

TOP: Bounds = (-math.inf, math.inf)
_TRUTH: Bounds = (0, 1)
_MAX_STEPS = 20_000  # atoms worked out for one launch: a few milliseconds
_BEYOND = 1 << 256  # no type holds so much, and floats hold its square: squares of squares of it overflow them
_TRUTHS = frozenset({"lt0", "eq0", "not", "and", "or", "compare"})
_INTEGERS = {"char": (-128, 127), "uchar": (0, 255), "short": (-(2**15), 2**15 - 1), "ushort": (0, 2**16 - 1)}
_RISING: dict[str, Callable[[Value], Value]] = {
    "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "rint": round,
    "round": lambda a: math.floor(abs(a) + 0.5) * (1 if a >= 0 else -1), "sqrt": math.sqrt, "atan": math.atan,
    "exp": math.exp, "exp2": lambda a: 2.0**a, "log": math.log, "log2": math.log2, "log10": math.log10,
}  # fmt: skip
_WITHIN = {"sin": (-1, 1), "cos": (-1, 1), "sincos": (-1, 1), "atan2": (-math.pi, math.pi), "fract": (0, 1)}


@dataclass(slots=True, eq=False)
class Scope:
    """A place in a kernel: `said` is what ids, counters and conditions say of atoms there.

    What is worked out is kept where it first holds, so that places further in need not work it out anew.
    """

    said: Mapping[Atom, Bounds]
    outer: Scope | None = None
    changed: frozenset[Atom] = NO_ATOMS  # leaves of all of which `outer` says something else
    memo: dict[Atom, Bounds] = field(default_factory=dict)

    def where(self, said: Mapping[Atom, Bounds]) -> Scope:
        """Return the place within this one where `said` holds, too."""
        new = {atom: bounds for atom, bounds in said.items() if self.said.get(atom) != bounds}
        if not new:
            return self
        return Scope({**self.said, **new}, self, NO_ATOMS.union(*(atom.leaves for atom in new)))


@dataclass(slots=True)
class BoundsOf:
    """Works out bounds under one launch; `loads` says what buffers hold."""

    known: LaunchBindings
    loads: Callable[[Atom], Bounds]
    steps: int = 0

    def expression(self, expression: Expression, scope: Scope) -> Bounds:
        """Of an expression, in one place."""
        low: Value = 0
        high: Value = 0
        for monomial, coefficient in expression.terms:
            least, most = self.term(monomial, coefficient, scope)
            low, high = _capped((low + least, high + most))
        return low, high

    def term(self, monomial: Monomial, coefficient: int, scope: Scope) -> Bounds:
        """Of a product of atoms."""
        product = _capped((coefficient, coefficient))
        for atom in monomial:
            product = times(product, self.atom(atom, scope))
        return product

    def atom(self, atom: Atom, scope: Scope) -> Bounds:
        """Of one atom."""
        found = scope.memo.get(atom)
        if found is None:
            home = scope
            while home.outer is not None and home.changed.isdisjoint(atom.leaves):
                home = home.outer
            found = home.memo.get(atom)
            if found is None:
                found = home.memo[atom] = self._within(atom, home)
            scope.memo[atom] = found
        return found

    def _within(self, atom: Atom, scope: Scope) -> Bounds:
        self.steps += 1
        found = self._worked_out(atom, scope) if self.steps < _MAX_STEPS else TOP
        said = scope.said.get(atom)
        if said is None:
            return found
        said = _capped(said)
        both = max(found[0], said[0]), min(found[1], said[1])
        return both if both[0] <= both[1] else said

    def _worked_out(self, atom: Atom, scope: Scope) -> Bounds:
        match atom.kind:
            case "symbol":
                value = self.known.symbols.get(atom)
                return TOP if value is None else _capped((value, value))
            case "load":
                return _capped(self.loads(atom))
            case "literal":
                number = known_value(Expression({(atom,): 1}))
                return TOP if number is None else _capped((number, number))
            case "iterate" | "trips":
                return self._of_loop(atom, scope)
            case "unknown":
                return TOP
        operands = [self.expression(a, scope) for a in atom.arguments if isinstance(a, Expression)]
        try:
            found = _operation(atom.kind, word_of(atom.arguments), operands)
        except (ArithmeticError, ValueError, TypeError):
            return TOP
        return TOP if found is None else _capped(found)

    def _of_loop(self, atom: Atom, scope: Scope) -> Bounds:
        ranges = {
            a: (math.floor(low), math.floor(high) + 1) for a, (low, high) in scope.said.items() if _is_finite(low, high)
        }
        try:
            found = interval(Expression({(atom,): 1}), self.known, {}, ranges)
        except ArithmeticError:  # beyond all types
            return TOP
        if found is not None:
            return _capped(found)
        return (0, math.inf) if atom.kind == "trips" else TOP


def _is_finite(*ends: Value) -> bool:
    return all(math.isfinite(end) for end in ends)


def _capped(bounds: Bounds) -> Bounds:
    """Infinite where no number of any type lies, and where nobody knows (NaN)."""
    low, high = bounds
    return min(low, _BEYOND) if low >= -_BEYOND else -math.inf, max(high, -_BEYOND) if high <= _BEYOND else math.inf


def times(x: Bounds, y: Bounds) -> Bounds:
    """Return the product, in which 0 times anything is 0."""
    corners = [a * b if a and b else 0 for a in x for b in y]
    return _capped((min(corners), max(corners)))


def _quotient(x: Bounds, y: Bounds) -> Bounds:
    """Of floats, where `y` holds no 0. Not by the reciprocal: 49 * (1 / 49) is less than 1."""
    corners = [a / b for a in x for b in y if math.isfinite(a) or math.isfinite(b)]
    return min(corners), max(corners)


def _operation(kind: str, word: str, operands: list[Bounds]) -> Bounds | None:
    if kind in _TRUTHS:
        return _TRUTH
    if kind in ("float", "call"):
        return _float_operation(word.removeprefix("native_").removeprefix("half_"), operands)
    match kind, operands:
        case "negate", [(a, b)]:
            return -b, -a
        case "convert", [(a, b)]:
            if word.startswith(("float", "double", "half")):
                return a, b
            return _truncated(a), _truncated(b)
        case "narrow", [(a, b)]:
            least, most = _INTEGERS.get(word, TOP)
            return (a, b) if least <= a and b <= most else (least, most)
        case "select", [(a, b), x, y]:
            return x if a > 0 else y if a == b == 0 else (min(x[0], y[0]), max(x[1], y[1]))
        case "min" | "max", [x, y]:
            pick = min if kind == "min" else max
            return pick(x[0], y[0]), pick(x[1], y[1])
        case "abs", [(a, b)]:
            return (0 if a <= 0 <= b else min(abs(a), abs(b))), max(abs(a), abs(b))
        case "sum", [x, y]:
            return x[0] + y[0], x[1] + y[1]
        case "product", [x, y]:
            return times(x, y)
        case "mod" | "floormod", [(a, b), (c, d)] if c > 0:
            if a >= 0 and b < c:
                return a, b
            return (0 if kind == "floormod" or a >= 0 else 1 - d), d - 1
        case "bitand", [(a, b), (c, d)] if a >= 0 or c >= 0:
            return 0, min(b if a >= 0 else math.inf, d if c >= 0 else math.inf)
        case "bitor" | "bitxor", [(a, b), (c, d)] if a >= 0 and c >= 0 and _is_finite(b, d):
            return 0, (1 << max(int(b).bit_length(), int(d).bit_length())) - 1
        case "div" | "floordiv" | "ceildiv", [(a, b), (c, d)] if c > 0:
            return _corners(kind, (a, b), (c, d))
        case "shr", [(a, b), (c, d)] if c >= 0 and d < 64:
            return (0, b) if a >= 0 and not math.isfinite(b) else _corners(kind, (a, b), (c, d))
        case "shl", [(a, b), (c, d)] if c >= 0 and d < 64 and _is_finite(a, b):
            return times((a, b), (1 << int(c), 1 << int(d)))
        case _:
            return None


def _corners(kind: str, x: Bounds, y: Bounds) -> Bounds:
    found = [a if not math.isfinite(a) else EVALUATED[kind](a, b) for a in x for b in y]
    known = [value for value in found if value is not None]
    return (min(known), max(known)) if len(known) == len(found) else TOP


def _truncated(value: Value) -> Value:
    return math.trunc(value) if math.isfinite(value) else value


def _float_operation(word: str, operands: list[Bounds]) -> Bounds | None:
    match word, operands:
        case "+", [x, y]:
            return x[0] + y[0], x[1] + y[1]
        case "-", [x, y]:
            return x[0] - y[1], x[1] - y[0]
        case "*", [x, y]:
            return times(x, y)
        case "/", [x, (c, d)] if c > 0 or d < 0:
            return _quotient(x, (c, d))
        case "fma" | "mad", [x, y, z]:
            product = times(x, y)
            return product[0] + z[0], product[1] + z[1]
        case "fmin" | "min", [x, y]:
            return min(x[0], y[0]), min(x[1], y[1])
        case "fmax" | "max", [x, y]:
            return max(x[0], y[0]), max(x[1], y[1])
        case "clamp", [x, low, high]:
            return min(max(x[0], low[0]), high[0]), min(max(x[1], low[1]), high[1])
        case "fabs", [(a, b)]:
            return (0 if a <= 0 <= b else min(abs(a), abs(b))), max(abs(a), abs(b))
        case _ if word in _WITHIN:
            return _WITHIN[word]
        case _, [(a, b)] if word in _RISING:
            rising = _RISING[word]
            return (rising(a) if math.isfinite(a) else -math.inf), (rising(b) if math.isfinite(b) else math.inf)
        case _:
            return None
