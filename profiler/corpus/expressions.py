"""Random expressions of OpenCL C: typed, bounded, and the same for the same seed.

Floating-point names are taken to hold values in [-LIMIT, LIMIT], and so does every result: it may be fed back into the
names for ever. Nothing overflows, becomes NaN or divides by zero, and no function drives an ordinary value into the
denormals. Integers hold any value and wrap around; shifts stay below the width and divisors are positive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from profiler.corpus.draw import Draw
from profiler.corpus.writing.integer_expressions import IntegerGrammar
from profiler.corpus.writing.literals import literal, split_type

LIMIT = 4.0  # of the magnitude of floating-point names and results
_WIDEST = 1e4  # of any value in between
_SPECIAL_FORMS = (
    *("sqrt", "rsqrt", "exp", "exp2", "log", "sin", "cos"),
    *("tanh", "atan", "powr", "hypot", "cbrt", "gauss", "logistic"),
)
_SPECIAL = re.compile(
    r"\b(?:native_|half_)?(sqrt|rsqrt|cbrt|exp|exp2|log|log2|sin|cos|tan|tanh|atan|atan2|pow|powr|hypot|erf|fmod|sinh)\s*\("
)
_SIMPLE = re.compile(r"(?<![eE])[-+*/%&|^?<>](?![-+])|\b\w+\s*\(")


def expression(draw: Draw, names: Sequence[str], type: str, depth: int) -> str:
    """Return an expression over `names`, all of that type; `depth` levels of operators at most.

    Scalars and vectors of `float`, `double` and all integer types. It may be used as an operand as it stands.
    """
    base, width = split_type(type)
    if base in ("float", "double"):
        grammar = _Floats(draw, names, base, width)
        return grammar.within(grammar.term(depth), LIMIT).text
    return IntegerGrammar(draw, names, base, width).term(depth)


def condition(draw: Draw, names: Sequence[str], type: str, depth: int = 1) -> str:
    """Return a comparison of two scalars, true of some values and false of others."""
    left = expression(draw, names, type, depth)
    edge = draw.real(0.3, 1.6) if split_type(type)[0] in ("float", "double") else draw.integer(1, 15)
    right = expression(draw, names, type, depth) if draw.chance(0.4) else literal(type, edge)
    return f"{left} {draw.choose(('<', '>', '<=', '>='))} {right}"


def statements(
    draw: Draw,
    names: Sequence[str],
    type: str,
    count: int,
    depth: int = 2,
    prefix: str = "t",
) -> tuple[list[str], list[str]]:
    """So many declarations `T t0 = ...;`, each over the names and those before it; and the names declared."""
    known, declared, lines = list(names), [], []
    for k in range(count):
        recent = known[-4:] if draw.chance(0.7) else known
        name = f"{prefix}{k}"
        lines.append(f"{type} {name} = {expression(draw, recent, type, draw.integer(1, depth))};")
        known.append(name)
        declared.append(name)
    return lines, declared


def cost(text: str) -> float:
    """Roughly how many simple operations a piece of source does once through; a special function counts as 10."""
    special = len(_SPECIAL.findall(text))
    return len(_SIMPLE.findall(text)) + 9.0 * special


@dataclass(frozen=True, slots=True)
class _Term:
    """Its value lies in [low, high]."""

    text: str
    low: float
    high: float

    @property
    def size(self) -> float:
        return max(abs(self.low), abs(self.high))


class _Floats:
    def __init__(self, draw: Draw, names: Sequence[str], base: str, width: int) -> None:
        self._draw, self._names = draw, names
        self._type = base if width == 1 else f"{base}{width}"
        self._base, self._width = base, width
        self._prefix = "native_" if base == "float" and draw.chance(0.15) else ""
        self._kinds: Mapping[Callable[[int], _Term], float] = {
            self._sum: 5,
            self._product: 5,
            self._multiply_add: 3,
            self._quotient: 1,
            self._extreme: 2,
            self._bounded: 2,
            self._selected: 1.5,
            self._mixed: 1,
            self._special: 2 * draw.choose((0.1, 0.5, 1, 2)),
            self._square: 1,
        }

    def term(self, depth: int) -> _Term:
        if depth <= 0 or self._draw.chance(0.08):
            return self._leaf()
        found = self._draw.weighted(self._kinds)(depth - 1)
        return found if found.size <= _WIDEST else self.within(found, LIMIT)

    def within(self, term: _Term, limit: float) -> _Term:
        """Return the same, brought into [-limit, limit] in one way or another."""
        if term.size <= limit:
            return term
        if term.size <= 64 * limit and self._draw.chance(0.6):
            factor = limit / term.size
            low = float(f"{factor * 0.99:.3g}")
            return _Term(f"({term.text} * {self._number(low)})", term.low * low, term.high * low)
        low, high = max(term.low, -limit), min(term.high, limit)
        a, b = self._number(-limit), self._number(limit)
        if self._draw.chance(0.6):
            return _Term(f"clamp({term.text}, {a}, {b})", low, high)
        return _Term(f"fmin(fmax({term.text}, {a}), {b})", low, high)

    def _number(self, value: float) -> str:
        return literal(self._base, value)

    def _whole(self, value: float) -> str:
        """For functions that take no mixture of scalars and vectors."""
        return literal(self._type, value)

    def _leaf(self) -> _Term:
        if self._names and self._draw.chance(0.8):
            return _Term(self._draw.choose(self._names), -LIMIT, LIMIT)
        value = float(f"{self._draw.log_real(0.1, 4.0):.3g}") * self._draw.choose((1, 1, -1))
        return _Term(self._whole(value), value, value)

    def _sum(self, depth: int) -> _Term:
        a, b = self.term(depth), self.term(depth)
        if self._draw.chance(0.5):
            return _Term(f"({a.text} + {b.text})", a.low + b.low, a.high + b.high)
        return _Term(f"({a.text} - {b.text})", a.low - b.high, a.high - b.low)

    def _product(self, depth: int) -> _Term:
        a, b = self.term(depth), self.term(depth)
        ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        return _Term(f"({a.text} * {b.text})", min(ends), max(ends))

    def _square(self, depth: int) -> _Term:
        name = self._leaf()
        power = "*".join([name.text] * self._draw.integer(2, 3))
        size = name.size ** len(power.split("*"))
        return _Term(f"({power})", -size, size)

    def _multiply_add(self, depth: int) -> _Term:
        a, b, c = self.term(depth), self.term(depth - 1), self.term(depth - 1)
        size = a.size * b.size + c.size
        word = self._draw.choose(("mad", "fma"))
        return _Term(f"{word}({a.text}, {b.text}, {c.text})", -size, size)

    def _quotient(self, depth: int) -> _Term:
        a, b = self.term(depth), self.term(depth)
        least = self._draw.choose((0.5, 1.0, 2.0))
        below = self._draw.choose(
            (f"(fabs({b.text}) + {self._number(least)})", f"fmax(fabs({b.text}), {self._number(least)})")
        )
        return _Term(f"({a.text} / {below})", -a.size / least, a.size / least)

    def _extreme(self, depth: int) -> _Term:
        a, b = self.term(depth), self.term(depth)
        kind = self._draw.choose(("min", "max"))
        word = self._draw.choose((f"f{kind}", kind))
        pick = min if kind == "min" else max
        return _Term(f"{word}({a.text}, {b.text})", pick(a.low, b.low), pick(a.high, b.high))

    def _bounded(self, depth: int) -> _Term:
        a = self.term(depth)
        word = self._draw.choose(("fabs", "clamp", "negate", "floor", "round", "sign", "smoothstep", "rint"))
        match word:
            case "clamp":
                low, high = -self._draw.choose((0.5, 1.0, 2.0)), self._draw.choose((0.75, 1.0, 3.0))
                return _Term(f"clamp({a.text}, {self._number(low)}, {self._number(high)})", low, high)
            case "fabs":
                return _Term(f"fabs({a.text})", 0.0, a.size)
            case "negate":
                return _Term(f"(-{a.text})", -a.high, -a.low)
            case "sign":
                return _Term(f"sign({a.text})", -1.0, 1.0)
            case "smoothstep":
                return _Term(f"smoothstep({self._whole(-1)}, {self._whole(2)}, {a.text})", 0.0, 1.0)
        return _Term(f"{word}({a.text})", a.low - 1, a.high + 1)

    def _selected(self, depth: int) -> _Term:
        a, b, c = self.term(depth), self.term(depth), self._leaf()
        low, high = min(a.low, b.low), max(a.high, b.high)
        test = (
            f"{c.text} {self._draw.choose(('<', '>', '<=', '>='))} {self._whole(round(self._draw.real(0.4, 1.6), 2))}"
        )
        if self._width > 1:
            return _Term(f"select({a.text}, {b.text}, {test})", low, high)
        return _Term(f"({test} ? {a.text} : {b.text})", low, high)

    def _mixed(self, depth: int) -> _Term:
        a, b = self.term(depth), self.term(depth)
        share = round(self._draw.real(0.05, 0.95), 2)
        return _Term(f"mix({a.text}, {b.text}, {self._whole(share)})", min(a.low, b.low), max(a.high, b.high))

    def _special(self, depth: int) -> _Term:
        a = self.within(self.term(depth), LIMIT)
        native = self._prefix
        word = self._draw.choose(_SPECIAL_FORMS)
        match word:
            case "sqrt":
                return _Term(f"{native}sqrt(fabs({a.text}))", 0.0, 2.1)
            case "rsqrt":
                return _Term(f"{native}rsqrt({a.text} * {a.text} + {self._number(0.25)})", 0.0, 2.1)
            case "exp" | "exp2":
                return _Term(f"{native}{word}({a.text})", 0.0, 55.0)
            case "log":
                return _Term(f"{native}log(fabs({a.text}) + {self._number(0.5)})", -0.8, 1.6)
            case "powr":
                power = self._whole(round(self._draw.real(0.3, 2.4), 2))
                return _Term(f"powr(fabs({a.text}) + {self._number(0.1)}, {power})", 0.0, 35.0)
            case "hypot":
                b = self.within(self.term(depth - 1), LIMIT)
                return _Term(f"hypot({a.text}, {b.text})", 0.0, 6.0)
            case "gauss":
                return _Term(f"{native}exp(-{self._number(0.5)} * {a.text} * {a.text})", 0.0, 1.1)
            case "logistic":
                one = self._number(1)
                return _Term(f"({one} / ({one} + {native}exp(-{a.text})))", 0.0, 1.1)
            case "sin" | "cos":
                return _Term(f"{native}{word}({a.text})", -1.1, 1.1)
        return _Term(f"{word}({a.text})", -1.6, 1.6)
