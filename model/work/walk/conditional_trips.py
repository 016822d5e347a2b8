"""Loops whose length rests on conditions, such as those under which they are left: one length for each side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from model.work.expressions.operations import operation
from model.work.expressions.symbolic import Atom, Expression, number
from model.work.regions.region import Block, Branch, Loop

_CONDITIONS = frozenset({"lt0", "eq0", "and", "or"})
_PLAIN = frozenset({"select", "min", "max", "not"})  # what conditions are looked for in


@dataclass(slots=True)
class Forks:
    """By identity of the loop: kept, as the blocks in them are known by theirs."""

    found: dict[int, tuple[Loop, Branch | None]] = field(default_factory=dict)

    def of(self, loop: Loop) -> Branch | None:
        """`loop` as a branch between loops with the same body, of which each knows how one condition turned out."""
        kept = self.found.get(id(loop))
        if kept is None:
            condition = next(_conditions(loop.trips), None) if loop.leaves is None else None
            kept = self.found[id(loop)] = (loop, _forked(loop, condition) if condition is not None else None)
        return kept[1]


def _conditions(trips: Expression) -> Iterator[Expression]:
    """Those that the launch decides, outer ones first."""
    for monomial, _ in trips.terms:
        for atom in monomial:
            if atom.kind in _CONDITIONS:
                if atom.evaluable and not atom.varies:
                    yield Expression({(atom,): 1})
            elif atom.kind in _PLAIN:
                for operand in atom.operands:
                    yield from _conditions(operand)


def _forked(loop: Loop, condition: Expression) -> Branch:
    atom = condition.atom
    assert atom is not None
    met, unmet = (Block((), (), (), (replace(loop, trips=_with(loop.trips, atom, number(value))),)) for value in (1, 0))
    return Branch(condition, met, unmet, loop.line, None)


def _with(expression: Expression, known: Atom, value: Expression) -> Expression:
    """`expression` where `known` came out as `value`."""
    total = number(0)
    for monomial, coefficient in expression.terms:
        product = number(coefficient)
        for atom in monomial:
            if atom is known:
                product = product * value
            elif atom.kind in _PLAIN:
                product = product * operation(atom.kind, *(_with(operand, known, value) for operand in atom.operands))
            else:
                product = product * Expression({(atom,): 1})
        total = total + product
    return total
