"""Comparisons of expressions, as conditions hold them."""

from __future__ import annotations

from model.work.symbolic import Expression, operation


def less(a: Expression, b: Expression) -> Expression:
    """1 where a < b, else 0."""
    return operation("lt0", a - b)


def equal(a: Expression, b: Expression) -> Expression:
    return operation("eq0", a - b)


def negation(a: Expression) -> Expression:
    return operation("not", a)
