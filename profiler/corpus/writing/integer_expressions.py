"""Integers' part of the grammar of `profiler.corpus.expressions`: values wrap around."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from profiler.corpus.draw import Draw
from profiler.corpus.writing.literals import BITS, literal

_FUNCTIONS = (
    *("min", "max", "rotate", "popcount", "clz", "abs"),
    *("mul_hi", "add_sat", "sub_sat", "hadd", "abs_diff", "clamp"),
)
_24_BIT = ("mul24", "mad24")


class IntegerGrammar:
    """Random expressions over names of one integer type, scalar or vector."""

    def __init__(self, draw: Draw, names: Sequence[str], base: str, width: int) -> None:
        self._draw, self._names = draw, names
        self._type = base if width == 1 else f"{base}{width}"
        self._unsigned = base.startswith("u")
        self._bits = BITS[base.removeprefix("u")]
        self._is_narrow = width == 1 and self._bits < 32  # its operators give an int, which no function takes
        self._slow = draw.choose((0, 0.3, 1.0))

    def term(self, depth: int) -> str:
        draw = self._draw
        if depth <= 0 or draw.chance(0.08):
            return self._leaf()
        kinds: dict[Callable[[int], str], float] = {
            self._arithmetic: 5,
            self._bitwise: 3,
            self._shift: 2,
            self._function: 3,
            self._selected: 1,
            self._divided: self._slow,
        }
        text = draw.weighted(kinds)(depth - 1)
        return f"({self._type}){text}" if self._is_narrow else text

    def _number(self, value: int) -> str:
        return literal(self._type, value)

    def _leaf(self) -> str:
        if self._names and self._draw.chance(0.8):
            return self._draw.choose(self._names)
        return self._number(self._draw.log_integer(1, 100))

    def _arithmetic(self, depth: int) -> str:
        return f"({self.term(depth)} {self._draw.choose('++-*')} {self.term(depth)})"

    def _bitwise(self, depth: int) -> str:
        if self._draw.chance(0.15):
            return f"(~{self.term(depth)})"
        return f"({self.term(depth)} {self._draw.choose('&|^')} {self.term(depth)})"

    def _shift(self, depth: int) -> str:
        way = self._draw.choose(("<<", ">>"))
        return f"({self.term(depth)} {way} {self._number(self._draw.integer(1, self._bits - 2))})"

    def _divided(self, depth: int) -> str:
        above = self.term(depth)
        if self._draw.chance(0.6):
            below = self._number(self._draw.choose((2, 3, 5, 7, 10, 16, 60, 100)))
        else:
            below = f"(({self._leaf()} & {self._number(15)}) + {self._number(self._draw.integer(1, 9))})"
        return f"({above} {self._draw.choose('/%')} {below})"

    def _selected(self, depth: int) -> str:
        a, b, c, d = self.term(depth), self.term(depth), self._leaf(), self._leaf()
        d = d if d != c else self._number(self._draw.integer(1, 9))
        sign = self._draw.choose(("<", ">", "==", "!="))
        if self._type[-1].isdigit():
            return f"select({a}, {b}, ({c} {sign} {d}))"
        return f"({c} {sign} {d} ? {a} : {b})"

    def _function(self, depth: int) -> str:
        word = self._draw.choose(_FUNCTIONS + (_24_BIT if self._bits == 32 else ()))
        a = self.term(depth)
        match word:
            case "popcount" | "clz":
                return f"{word}({a})"
            case "rotate":
                return f"rotate({a}, {self._number(self._draw.integer(1, self._bits - 1))})"
            case "abs":
                return self._signed(f"abs({a})")
            case "abs_diff":
                return self._signed(f"abs_diff({a}, {self.term(depth)})")
            case "clamp":
                return f"clamp({a}, {self._number(1)}, {self._number(100)})"
            case "mad24":
                return f"mad24({self._small(a)}, {self._small(self._leaf())}, {self.term(depth)})"
            case "mul24":
                return f"mul24({self._small(a)}, {self._small(self._leaf())})"
        return f"{word}({a}, {self.term(depth)})"

    def _small(self, text: str) -> str:
        """Return the operand masked: the 24-bit functions are undefined beyond 23 bits."""
        return f"({text} & {self._number(0xFFFF)})"

    def _signed(self, text: str) -> str:
        """`abs` of a signed type gives an unsigned one."""
        return text if self._unsigned else f"convert_{self._type}({text})"
