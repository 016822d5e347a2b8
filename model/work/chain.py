"""Dependency chains: how many float operations one iteration of a loop must wait for the iteration before."""

from __future__ import annotations

from collections.abc import Iterable

from model.work.symbolic import Atom, Expression
from model.work.trips import Induction

_WAITED_FOR = frozenset({"float", "call", "select", "compare", "convert", "negate"})


def chain_length(variables: Iterable[Induction]) -> int:
    """Return the longest chain of operations from a carried float variable to its own next value.

    `s += a * b` is 1 (the product does not wait), `x = r * x * (1 - x)` is 3."""
    return max((_longest(v.after, v.symbol, {}) or 0 for v in variables), default=0)


def _longest(expression: Expression, symbol: Atom, known: dict[Atom, int | None]) -> int | None:
    """Operations between `symbol` and `expression`; None where it does not rest on the symbol."""
    if symbol not in expression.leaves:
        return None
    lengths = [_longest_atom(a, symbol, known) for monomial, _ in expression.terms for a in monomial]
    return max((n for n in lengths if n is not None), default=None)


def _longest_atom(atom: Atom, symbol: Atom, known: dict[Atom, int | None]) -> int | None:
    if atom is symbol:
        return 0
    if symbol not in atom.leaves:
        return None
    if atom not in known:
        inner = [_longest(a, symbol, known) for a in atom.operands]
        longest = max((n for n in inner if n is not None), default=None)
        known[atom] = None if longest is None else longest + (atom.kind in _WAITED_FOR)
    return known[atom]
