"""What all draws of an expression are worked out from: kept with it, and made a function once it is asked for often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from model.work.expressions.functions import MAX_DEPTH_OF_TEXT, OfAtom, OfColumns, columns_for
from model.work.expressions.symbolic import Atom, Expression

USES_OF_TEXT = 6  # after which working out operation by operation takes longer than making a function
_ALONE = frozenset({"symbol", "unknown", "trips", "iterate"})  # worked out one draw after the other


@dataclass(slots=True)
class DrawPlan:
    """`inputs` are drawn, or follow from `drawn` by more than arithmetic; `atoms` are all that must be worked out."""

    drawn: tuple[Atom, ...]
    inputs: list[Atom] = field(default_factory=list)
    atoms: dict[Atom, None] = field(default_factory=dict)
    function: OfColumns | None = None
    uses: int = 0

    def function_if_often(self, expression: Expression, of_atom: OfAtom) -> OfColumns | None:
        """Return the function of `expression`, whose plan this is; None before many uses, or with nothing to draw."""
        self.uses += 1
        if self.uses == USES_OF_TEXT and expression.depth <= MAX_DEPTH_OF_TEXT:
            self._read(expression)
            run = [atom for atom in self.inputs if atom.kind in _ALONE]
            self.atoms.update(dict.fromkeys(a for a in self.drawn if any(a in atom.leaves for atom in run)))
            if self.inputs:
                self.function = columns_for(expression, self.inputs, self.drawn, of_atom)
        return self.function

    def _read(self, expression: Expression) -> None:
        for monomial, _ in expression.terms:
            for atom in monomial:
                if atom not in self.atoms:
                    self._take(atom)

    def _take(self, atom: Atom) -> None:
        self.atoms[atom] = None
        if atom in self.drawn:
            self.inputs.append(atom)
        elif atom.kind in _ALONE:
            if any(other in atom.leaves for other in self.drawn):
                self.inputs.append(atom)
        else:
            for operand in atom.operands:
                self._read(operand)


def plan_of(expression: Expression, atoms: Sequence[Atom]) -> DrawPlan:
    """Return the plan for those of the drawn `atoms` that `expression` rests on."""
    drawn = tuple([atom for atom in atoms if atom in expression.leaves])
    plans: dict[tuple[Atom, ...], DrawPlan] | None = expression.columns
    if plans is None:
        plans = expression.columns = {}
    found = plans.get(drawn)
    if found is None:
        found = plans[drawn] = DrawPlan(drawn)
    return found
