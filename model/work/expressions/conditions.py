"""What a condition is made of, as far as the walk asks."""

from __future__ import annotations

from collections.abc import Mapping

from model.work.expressions.symbolic import GLOBAL_ID, GROUP_ID, LOCAL_ID, Atom, Expression

_IDS = frozenset((*GLOBAL_ID, *GROUP_ID, *LOCAL_ID))

EQUAL_SELDOM = 0.16


def rests_on_floats(condition: Expression) -> bool:
    """Return whether floats, or numbers made of them, are compared."""
    atoms = [a for monomial, _ in condition.terms for a in monomial]
    inner = [e for a in atoms if a.kind in ("lt0", "eq0", "not") for e in a.operands]
    return any(a.kind in ("compare", "convert") for a in atoms) or any(rests_on_floats(e) for e in inner)


def is_linear(condition: Expression, ranges: Mapping[Atom, tuple[int, int]]) -> bool:
    """Return whether it is made of comparisons that each cut a range in two."""
    atom = condition.atom
    if atom is None:
        return False
    inner = atom.operands
    if atom.kind in ("and", "or", "not"):
        return all(is_linear(part, ranges) for part in inner)
    return atom.kind in ("lt0", "eq0") and all(inner[0].coefficient(x) for x in inner[0].leaves & ranges.keys())


def is_sum_of_loads(trips: Expression) -> bool:
    """Return whether it is a sum of what memory holds, as the length of a row is: its mean is that of what is added."""
    atom = trips.atom
    if atom is not None and atom.kind == "max" and atom.operands[0].constant == 0:
        trips = atom.operands[1]
    return all(a.kind in ("load", "symbol") for monomial, _ in trips.terms for a in monomial)


def is_only_id(atom: Atom, expression: Expression) -> bool:
    """Return whether no other id is in `expression` that would follow from this one."""
    return all(other is atom or other not in _IDS for other in expression.leaves)


def likelihood(condition: Expression) -> float:
    """Return how often a condition over data holds, when nothing is known of the data.

    Equality is rare; otherwise even odds. Source: the opcode heuristic of Ball & Larus, PLDI 1993, with the
    probability of Wu & Larus, MICRO 1994.
    """
    atom = condition.atom
    if atom is None:
        return 0.5
    if atom.kind == "eq0" or (atom.kind == "compare" and atom.arguments[0] == "=="):
        return EQUAL_SELDOM
    if atom.kind == "compare" and atom.arguments[0] == "!=":
        return 1 - EQUAL_SELDOM
    if atom.kind not in ("not", "and", "or"):
        return 0.5
    parts = [likelihood(a) for a in atom.operands]
    match atom.kind:
        case "not":
            return 1 - parts[0]
        case "and":
            return parts[0] * parts[1]
        case "or":
            return 1 - (1 - parts[0]) * (1 - parts[1])
    return 0.5
