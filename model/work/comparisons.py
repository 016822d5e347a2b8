"""Comparisons of expressions, as conditions hold them."""

from __future__ import annotations

from collections.abc import Iterable

from model.work.operations import operation
from model.work.symbolic import ZERO, Expression


def less(a: Expression, b: Expression) -> Expression:
    """1 where a < b, else 0."""
    return operation("lt0", a - b)


def equal(a: Expression, b: Expression) -> Expression:
    return operation("eq0", a - b)


def negation(a: Expression) -> Expression:
    return operation("not", a)


def either_holds(a: Expression, b: Expression) -> Expression:
    if a.constant == 0:
        return b
    return a if b.constant == 0 else operation("or", a, b)


def any_of(conditions: Iterable[Expression]) -> Expression:
    whole = ZERO
    for condition in conditions:
        whole = either_holds(whole, condition)
    return whole
