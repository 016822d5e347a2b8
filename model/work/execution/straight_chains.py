"""How long straight code waits for itself: the longest chain of operations from what it reads to what it stores.

A hash of a thousand operations of which each needs the one before takes as many latencies, however many units a
processor has: the next work-item begins too far away for it to see. Clocks: Fog, "Instruction tables".
"""

from __future__ import annotations

from collections.abc import Iterable

from model.work.execution.builder import Builder, PendingBranch
from model.work.expressions.chains import CLOCKS_OF_AN_ADDITION, clocks_of, clocks_of_term
from model.work.expressions.symbolic import Atom, Expression, made_of

LEAST_OPERATIONS = 64  # of shorter code, processors have several work-items under way


def mark_straight_chains(block: Builder, known: dict[Atom, int] | None = None) -> None:
    """Note down in a block, and in the sides of its branches, how long its stores wait; in loops it is not asked.

    The chain of a side holds what it needs of the code before the branch.
    """
    known = {} if known is None else known
    if sum(op.per_result * max(1, len(op.results)) for op in block.ops) >= LEAST_OPERATIONS:
        stored = (value for access in block.accesses for value in access.stored)
        block.chain = longest_clocks(stored, known) / CLOCKS_OF_AN_ADDITION
    for inner in block.inner:
        if isinstance(inner, PendingBranch):
            for side in inner.blocks:
                mark_straight_chains(side, known)


def longest_clocks(values: Iterable[Expression], known: dict[Atom, int]) -> int:
    """Return the clocks until the last of `values` is there; `known` keeps those of atoms between calls.

    No recursion: what is nested too deeply for expressions goes on behind names (`made_of`), thousands of operations
    deep.
    """
    values = tuple(values)
    waiting = [atom for value in values for term, _ in value.terms for atom in term]
    while waiting:
        atom = waiting[-1]
        if atom in known:
            waiting.pop()
            continue
        parts = atom.operands or made_of(atom)
        missing = [a for part in parts for term, _ in part.terms for a in term if a not in known]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        known[atom] = clocks_of(atom) + max((_of_sum(part, known) for part in parts), default=0)
    return max((_of_sum(value, known) for value in values), default=0)


def _of_sum(value: Expression, known: dict[Atom, int]) -> int:
    found = [
        max(known[atom] for atom in term) + clocks_of_term(term, coefficient)
        for term, coefficient in value.terms
        if term
    ]
    return max(found) + (len(value.terms) > 1) if found else 0
