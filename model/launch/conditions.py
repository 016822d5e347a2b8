"""Conditions on a launch as people write them: `TILE*TILE <= local and N % TILE == 0`.

    condition  = comparison {("and" | "or" | "&&" | "||") comparison}
    comparison = expression ("<=" | "<" | ">=" | ">" | "==" | "!=") expression

`and` binds tighter than `or`; the sides are expressions of `model.launch.expression`, parentheses included.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from model.launch.arithmetic import Number
from model.launch.expression import Expression, ExpressionError, parse_expression

_COMPARE: dict[str, Callable[[Number, Number], bool]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
    "!=": operator.ne,
}
_OR, _AND = re.compile(r"\|\||\bor\b"), re.compile(r"&&|\band\b")
_OPERATOR = re.compile(r"<=|>=|==|!=|<|>")


@dataclass(frozen=True, slots=True)
class _Comparison:
    left: Expression
    operator: str
    right: Expression

    def holds(self, names: Mapping[str, Number]) -> bool:
        return _COMPARE[self.operator](self.left.evaluate(names), self.right.evaluate(names))


@dataclass(frozen=True, slots=True)
class Condition:
    """What must hold of a candidate. Two are equal when they are written alike."""

    text: str
    _any_of: tuple[tuple[_Comparison, ...], ...] = field(compare=False, repr=False)

    @property
    def expressions(self) -> Iterator[Expression]:
        for comparisons in self._any_of:
            for one in comparisons:
                yield from (one.left, one.right)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for expression in self.expressions for name in expression.names)

    def holds(self, names: Mapping[str, Number]) -> bool:
        """Return whether it holds. Raises ExpressionError for a name without a value, or a division by zero."""
        return any(all(one.holds(names) for one in comparisons) for comparisons in self._any_of)


def parse_condition(text: str, *, offset: int = 0) -> Condition:
    """Read `text`, which stands at character `offset` of some larger text. Raises ExpressionError."""
    if not text.strip():
        message = "a condition is missing: write a comparison such as TILE*TILE<=local"
        raise ExpressionError(message, offset, offset + max(1, len(text)))
    any_of = tuple(
        tuple(_comparison(part, at) for part, at in _split(_AND, choice, start))
        for choice, start in _split(_OR, text, offset)
    )
    return Condition(text.strip(), any_of)


def _split(pattern: re.Pattern[str], text: str, offset: int) -> Iterator[tuple[str, int]]:
    at = 0
    for match in pattern.finditer(text):
        yield text[at : match.start()], offset + at
        at = match.end()
    yield text[at:], offset + at


def _comparison(text: str, offset: int) -> _Comparison:
    found = list(_OPERATOR.finditer(text))
    if len(found) != 1:
        start = offset + (found[1].start() if found else 0)
        end = offset + (found[1].end() if found else max(1, len(text.rstrip())))
        what = "one comparison at a time: join two by `and`" if found else "a comparison: one of <= < >= > == !="
        raise ExpressionError(f"a condition takes {what}", start, end)
    left = parse_expression(text[: found[0].start()], offset=offset)
    right = parse_expression(text[found[0].end() :], offset=offset + found[0].end())
    return _Comparison(left, found[0][0], right)
