"""Which values the effects of a kernel rest on; compilers leave out what makes the others."""

from __future__ import annotations

from collections.abc import Mapping

from model.work.symbolic import Atom, Expression, made_of


class Live:
    """A growing set of needed values. `rests` says what values rest on that are named by a number alone."""

    def __init__(self, rests: Mapping[Atom, tuple[Expression, ...]]) -> None:
        self._rests = rests
        self.atoms: set[Atom] = set()
        self._leaves: set[Atom] = set()
        self.without_effect: frozenset[object] = frozenset()  # loops that are not executed

    def add(self, *values: Expression) -> None:
        atoms = self.atoms
        stack = list(values)
        while stack:
            for monomial, _ in stack.pop().terms:
                for atom in monomial:
                    if atom not in atoms:
                        atoms.add(atom)
                        self._leaves |= atom.leaves
                        stack += atom.operands
                        stack += self._rests.get(atom, ())
                        stack += made_of(atom)

    def __contains__(self, value: Expression) -> bool:
        """Sums are merged with what they are added to, so they count as needed where all their parts are."""
        atom = value.atom
        return atom in self.atoms if atom is not None else value.leaves <= self._leaves
