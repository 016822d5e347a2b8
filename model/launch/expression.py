"""Sizes and arguments as people write them: numbers, names and arithmetic, evaluated within 64 bits, never by `eval`.

    expression = integers (decimal, hex), floats, names (`n`, `p.member`), + - * / // % ** ( ) and
                 min(a, ...), max(a, ...), ceil_div(a, b)

`//` and `%` round down as Python's do. `/` of two integers must come out whole, since a size cannot be a fraction.
A text becomes postfix code, so neither a long sum nor a deep tree can exhaust the stack when it is evaluated.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NoReturn

from model.errors import LaunchError
from model.launch import arithmetic
from model.launch.arithmetic import FUNCTIONS, BoundsError, Number

MAX_LENGTH = 1_000  # characters; an annotation is one line
MAX_DEPTH = 50  # open parentheses, signs and powers: what the parser recurses over

# Higher binds tighter; a sign stands between `*` and `**`, so -2**2 is -4 as in Python and mathematics.
_BINDING = {"+": 1, "-": 1, "*": 2, "/": 2, "//": 2, "%": 2, "**": 4}
_SIGN_BINDING = 3

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<hex>0[xX][0-9a-fA-F]+)[uUlL]*(?![\w.])
      | (?P<float>(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)[fFhH]?(?![\w.])
      | (?P<int>[0-9]+)[uUlL]*(?![\w.])
      | (?P<junk_number>\.?[0-9][\w.]*)
      | (?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)
      | (?P<operator>\*\*|//|[-+*/%(),])
      | (?P<junk>\S)
    )""",
    re.VERBOSE | re.ASCII,
)


class ExpressionError(LaunchError):
    """An expression that cannot be read or evaluated. `start` and `end` are characters of the text it stands in."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.start = start
        self.end = end


@dataclass(frozen=True, slots=True)
class _Step:
    """One postfix instruction: push a number, push a name's value, or apply an operator to `arity` values."""

    start: int
    end: int
    value: Number | str
    arity: int = 0
    is_operator: bool = False


@dataclass(frozen=True, slots=True)
class Expression:
    """An arithmetic expression over names. Two are equal when they are written alike, wherever they stand."""

    text: str
    start: int = field(default=0, compare=False)  # where `text` stands in the text it was parsed from
    _steps: tuple[_Step, ...] = field(default=(), compare=False, repr=False)
    names: frozenset[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", frozenset(name for name, _, _ in self.name_spans()))

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def name_spans(self) -> tuple[tuple[str, int, int], ...]:
        """Return each use of a name, with the characters where it stands."""
        return tuple((s.value, s.start, s.end) for s in self._steps if isinstance(s.value, str) and not s.is_operator)

    def evaluate(self, names: Mapping[str, Number]) -> Number:
        """Return the value under `names`.

        Raises `ExpressionError` for unknown names, division by zero, and values beyond 64 bits.
        """
        stack: list[Number] = []
        for step in self._steps:
            if not step.is_operator:
                stack.append(_look_up(step, names) if isinstance(step.value, str) else step.value)
                continue
            operands = stack[len(stack) - step.arity :]
            del stack[len(stack) - step.arity :]
            try:
                stack.append(arithmetic.apply(str(step.value), operands))
            except BoundsError as error:
                raise ExpressionError(f"`{self._slice(step)}`: {error}", step.start, step.end) from None
        return stack[0]

    def evaluate_size(self, names: Mapping[str, Number], *, least: int = 1) -> int:
        """Return the value as a size: a whole number, not below `least`. Raises `ExpressionError`."""
        value = self.evaluate(names)
        whole = int(value)
        if whole != value:
            self._refuse(f"`{self.text}` is {value:g}, which is not a whole number; use // or ceil_div")
        if whole < least:
            is_plain = self.text == str(whole)
            self._refuse(f"{whole if is_plain else f'`{self.text}` is {whole}, which'} is below {least}")
        return whole

    def _slice(self, step: _Step) -> str:
        return self.text[step.start - self.start : step.end - self.start]

    def _refuse(self, message: str) -> NoReturn:
        raise ExpressionError(message, self.start, self.end)

    def __str__(self) -> str:
        return self.text


def parse_expression(text: str, *, offset: int = 0) -> Expression:
    """Read `text`, which stands at character `offset` of some larger text; raises `ExpressionError`."""
    stripped = text.strip()
    start = offset + (len(text) - len(text.lstrip()) if stripped else 0)
    if not stripped:
        message = "a value is missing: write a number or an expression such as N*4"
        raise ExpressionError(message, offset, offset + len(text))
    if len(stripped) > MAX_LENGTH:
        raise ExpressionError(f"longer than {MAX_LENGTH} characters", start, start + len(stripped))
    return Expression(stripped, start, tuple(_Parser(stripped, start).whole()))


def constant(value: Number) -> Expression:
    """Return a plain number as an expression. Raises `ExpressionError` for what is no finite number of 64 bits."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ExpressionError(f"{value} is not a finite number", 0, 1)
    try:
        arithmetic.bounded(value)
    except BoundsError as error:
        raise ExpressionError(str(error), 0, 1) from None
    return _constant(repr(value))


@lru_cache(4096)
def _constant(text: str) -> Expression:
    """Batches give the same few sizes again and again."""
    return parse_expression(text)


def suggestion(name: str, known: Iterable[str]) -> str:
    """` Did you mean `n`?` where something is close, else nothing."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" Did you mean `{close[0]}`?" if close else ""


def _look_up(step: _Step, names: Mapping[str, Number]) -> Number:
    name = str(step.value)
    if name in names:
        return names[name]
    known = sorted(names)
    listed = ", ".join(f"`{k}`" for k in known[:10]) + (", ..." if len(known) > 10 else "")
    what = f"known names are {listed}." if known else "no names are known here."
    raise ExpressionError(f"unknown name `{name}`; {what}{suggestion(name, known)}", step.start, step.end)


class _Parser:
    """A Pratt parser that emits postfix code."""

    def __init__(self, text: str, offset: int) -> None:
        self.offset = offset
        groups = ((m.lastgroup or "", m) for m in _TOKEN.finditer(text))
        self.tokens = [*((kind, m[kind], m.start(kind)) for kind, m in groups), ("end", "", len(text))]
        self.at = 0
        self.depth = 0
        self.steps: list[_Step] = []

    def whole(self) -> list[_Step]:
        self.expression(0)
        kind, word, _ = self.tokens[self.at]
        if kind != "end":
            self.fail(f"`{word}` was not expected here" + ("; no `(` is open" if word == ")" else ""))
        return self.steps

    def expression(self, floor: int) -> int:
        """Read operators that bind tighter than `floor`; the start of what was read."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"nested more than {MAX_DEPTH} deep")
        start = self.operand()
        while _BINDING.get(self.word(), 0) > floor:
            operator = self.take()
            # `**` groups to the right: 2**3**2 is 2**9.
            self.expression(_BINDING[operator] - (operator == "**"))
            self.emit(operator, 2, start)
        self.depth -= 1
        return start

    def operand(self) -> int:
        kind, word, at = self.tokens[self.at]
        start = self.offset + at
        match kind:
            case "hex" | "int" | "float":
                self.steps.append(_Step(start, start + len(word), self.number(kind, word)))
                self.take()
            case "name":
                self.take()
                if self.word() == "(":
                    self.call(word, start)
                else:
                    self.steps.append(_Step(start, start + len(word), word))
            case "operator" if word in "+-":
                self.take()
                self.expression(_SIGN_BINDING)
                self.emit("negate" if word == "-" else "plus", 1, start)
            case "operator" if word == "(":
                self.take()
                self.expression(0)
                if self.word() == ",":
                    self.fail("a list is not a number; only sizes take several values")
                self.close(at)
            case "junk_number":
                self.fail(f"`{word}` is not a number")
            case "end":
                self.fail("the expression stops short: a number or a name is missing at its end")
            case _:
                self.fail(f"`{word}` was not expected here; a number or a name was")
        return start

    def number(self, kind: str, word: str) -> Number:
        if kind == "int" and len(word) > 1 and word.startswith("0") and word.strip("0"):
            self.fail(f"`{word}` would be octal in C; write it without the leading 0")
        if kind != "float" and len(word) > arithmetic.MAX_DIGITS:
            self.fail("the number needs more than 64 bits")
        try:
            return arithmetic.bounded(float(word) if kind == "float" else int(word, 16 if kind == "hex" else 10))
        except BoundsError as error:
            self.fail(str(error))

    def call(self, function: str, start: int) -> None:
        if function not in FUNCTIONS:
            self.at -= 1
            self.fail(f"no function `{function}`; there are {', '.join(FUNCTIONS)}.{suggestion(function, FUNCTIONS)}")
        opening = self.tokens[self.at][2]
        count = 0
        while count == 0 or self.word() == ",":
            self.take()
            self.expression(0)
            count += 1
        self.close(opening)
        if function == "ceil_div" and count != 2:
            end = self.offset + self.previous_end()
            raise ExpressionError("ceil_div takes two values: ceil_div(n, 16)", start, end)
        self.emit(function, count, start)

    def close(self, opening: int) -> None:
        if self.tokens[self.at][0] == "end":
            raise ExpressionError("this `(` is never closed", self.offset + opening, self.offset + opening + 1)
        if self.word() != ")":
            self.fail(f"`{self.word()}` was not expected here; `)` was")
        self.take()

    def emit(self, operator: str, arity: int, start: int) -> None:
        self.steps.append(_Step(start, self.offset + self.previous_end(), operator, arity, is_operator=True))

    def word(self) -> str:
        return self.tokens[self.at][1]

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][1]

    def previous_end(self) -> int:
        _, word, at = self.tokens[self.at - 1]
        return at + len(word)

    def fail(self, message: str) -> NoReturn:
        _, word, at = self.tokens[self.at]
        raise ExpressionError(message, self.offset + at, self.offset + at + max(1, len(word)))
