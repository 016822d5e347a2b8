"""How long a chain of operations each iteration of a loop waits for, in additions of floats."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from model.opencl.builtins import BUILTINS
from model.work.expressions.symbolic import Atom, Expression, Monomial
from model.work.expressions.trips import Induction

_WAITED_FOR = frozenset({"float", "call", "select", "compare", "convert", "negate"})
# Of `exp` and `log2` in a chain, with PoCL on an Intel Xeon; `sin` is twice as long.
_WAITS_OF_CALLS = {"special": 10, "native": 10}
_DIVISIONS = frozenset({"native_divide", "native_recip", "half_divide", "half_recip"})
# Clocks until the next operation of an integer chain can begin, as many as an addition of floats takes four of: Fog,
# "Instruction tables". What only compares is vectorised with what it chooses, as a maximum is.
CLOCKS_OF_AN_ADDITION = 4
_CLOCKS = {"bitxor": 1, "bitor": 1, "bitand": 1, "shl": 1, "shr": 1, "min": 1, "max": 1, "select": 1, "abs": 1}
_CLOCKS_OF_CALLS = {"mul24": 3, "mad24": 4, "mul_hi": 4, "mad_hi": 5, "popcount": 3, "clz": 3}
_LOADED_CLOCKS = 5  # from the nearest cache
_MULTIPLIED_CLOCKS, _DIVIDED_CLOCKS, _DIVIDED_BY_NUMBER_CLOCKS = 3, 20, 8
_COMPARE = frozenset({"lt0", "eq0"})
_DIVIDES = frozenset({"div", "mod", "floordiv", "floormod", "ceildiv"})


class _Waits(NamedTuple):
    """How long the next operation waits for one: for an atom (None: endlessly), a term of a sum, and a sum itself."""

    atom: Callable[[Atom], int | None]
    term: Callable[[Monomial, int], int]
    total: int


def chain_length(variables: Iterable[Induction]) -> int:
    """Return the longest chain of operations from a carried float variable to its own next value.

    `s += a * b` is 1 (the product does not wait), `x = r * x * (1 - x)` is 3. Calls count as what they take.
    """
    return max((_longest(v.after, v.symbol, {}, _OF_FLOATS) or 0 for v in variables), default=0)


def whole_chain_length(variables: Iterable[Induction]) -> float:
    """Return the longest chain of integer operations as `chain_length` does, in additions of floats.

    None of one clock counts: sums and maxima are put together in any order, and what a loop counts goes on beside it.
    """
    found = (_longest(v.after, v.symbol, {}, _OF_INTEGERS) or 0 for v in variables if not _is_sum(v))
    clocks = max(found, default=0)
    return clocks / CLOCKS_OF_AN_ADDITION if clocks > 1 else 0.0


def _is_sum(variable: Induction) -> bool:
    return variable.symbol not in (variable.after - Expression({(variable.symbol,): 1})).leaves


def _longest(expression: Expression, symbol: Atom, known: dict[Atom, int | None], waits: _Waits) -> int | None:
    """Return how long `expression` waits for `symbol`; None where it does not rest on the symbol."""
    if symbol not in expression.leaves:
        return None
    found = [
        length + waits.term(monomial, coefficient)
        for monomial, coefficient in expression.terms
        for atom in monomial
        if (length := _longest_atom(atom, symbol, known, waits)) is not None
    ]
    return max(found) + waits.total * (len(expression.terms) > 1) if found else None


def _longest_atom(atom: Atom, symbol: Atom, known: dict[Atom, int | None], waits: _Waits) -> int | None:
    if atom is symbol:
        return 0
    if symbol not in atom.leaves:
        return None
    if atom not in known:
        own = waits.atom(atom)
        inner = [n for part in atom.operands if (n := _longest(part, symbol, known, waits)) is not None]
        known[atom] = max(inner) + own if inner and own is not None else None
    return known[atom]


def _additions(atom: Atom) -> int:
    """Return for how many additions' time the next operation waits for this one."""
    builtin = BUILTINS.get(str(atom.arguments[0])) if atom.kind == "call" else None
    if builtin is not None and builtin.name not in _DIVISIONS:
        return max((_WAITS_OF_CALLS.get(word, 1) for word, _ in builtin.costs), default=1)
    return int(atom.kind in _WAITED_FOR)


def _clocks(atom: Atom) -> int | None:
    """Return for how many clocks the next operation waits for this one.

    Loads are none of these chains: see `control_flow.dependent_loads`.
    """
    if atom.kind in ("load", "unknown"):
        return None
    if atom.kind in _COMPARE:
        return -(len(atom.operands[0].terms) > 1)  # what is subtracted to compare takes no time of its own
    if atom.kind in _DIVIDES:
        divisor = atom.operands[-1].constant
        if divisor is None:
            return _DIVIDED_CLOCKS
        return _DIVIDED_BY_NUMBER_CLOCKS if divisor & (divisor - 1) else 1
    if atom.kind == "call":
        return _CLOCKS_OF_CALLS.get(str(atom.arguments[0]), 1)
    return _CLOCKS.get(atom.kind, CLOCKS_OF_AN_ADDITION if atom.kind == "float" else 0)


def clocks_of_term(monomial: Monomial, coefficient: int) -> int:
    size = abs(coefficient)
    if len(monomial) > 1 or size & (size - 1):
        return _MULTIPLIED_CLOCKS
    return int(size > 1)


def clocks_of(atom: Atom) -> int:
    """Return for how many clocks the next operation waits for this one in straight code, loads among them."""
    if atom.kind == "load":
        return _LOADED_CLOCKS
    if atom.kind == "call":
        builtin = BUILTINS.get(str(atom.arguments[0]))
        is_slow = builtin is not None and any(word in _WAITS_OF_CALLS for word, _ in builtin.costs)
        return CLOCKS_OF_AN_ADDITION * _additions(atom) if is_slow else _clocks(atom) or 0
    return _clocks(atom) or 0


_OF_FLOATS = _Waits(_additions, lambda _monomial, _coefficient: 0, 0)
_OF_INTEGERS = _Waits(_clocks, clocks_of_term, 1)
