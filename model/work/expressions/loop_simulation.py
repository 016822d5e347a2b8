"""Loops whose own variables are run, to see how often they go round or what they come to: what is said once of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.work.expressions.functions import MAX_DEPTH_OF_TEXT, OfAtom, Rounds, Step, rounds_for, step_for
from model.work.expressions.linear_sums import is_of_launch
from model.work.expressions.numbers import Value
from model.work.expressions.symbolic import Atom, Expression

ROUNDS_OF_TEXT = 64  # after which reading the expressions anew takes longer than making a function of them


@dataclass(slots=True, eq=False)
class Running:
    """A "trips" atom (with `condition`) or an "iterate" atom (with a `limit`).

    `leaves` are all that it rests on and that the launch does not fix, in order; `starts` and `afters` give the
    variables before the loop and after one iteration. `function` runs all rounds where none of `moving_loads`, those
    that go elsewhere in each round, is given.
    """

    leaves: tuple[Atom, ...]
    condition: Expression | None
    limit: Expression | None
    symbols: tuple[Atom | None, ...]
    starts: tuple[Expression, ...]
    afters: tuple[Expression, ...]
    step: Step | None = None
    function: Rounds | None = None
    moving_loads: tuple[Atom, ...] = ()
    rounds: int = 0
    is_often: bool = False
    is_read: bool = False  # whether a function was made of it, where it can be one

    @property
    def _expressions(self) -> tuple[Expression, ...]:
        return (*self.afters, *([self.condition] if self.condition is not None else []))

    def function_if_often(self, of_atom: OfAtom, point: Mapping[Atom, Value]) -> Rounds | None:
        """Return all rounds as one function, once there were many; None where it cannot be one, or not at `point`."""
        if not self.is_often:
            return None
        if not self.is_read:
            self.is_read = True
            symbols = [symbol for symbol in self.symbols if symbol is not None]
            if not any(map(runs_in, self._expressions)):
                leaves: frozenset[Atom] = frozenset().union(*(e.leaves for e in self._expressions))
                self.moving_loads = tuple(a for a in leaves if a.kind == "load" and not a.leaves.isdisjoint(symbols))
                self.function = rounds_for(self.condition, symbols, self.afters, of_atom)
        return self.function if not any(load in point for load in self.moving_loads) else None

    def step_if_often(self, of_atom: OfAtom) -> Step | None:
        """Return one iteration as a function, once there were many."""
        if self.step is None and self.is_often:
            self.step = step_for(self.condition, self.afters, of_atom)
        return self.step

    def note_round(self) -> None:
        """Note that one more round was worked out by itself."""
        self.rounds += 1
        if self.rounds == ROUNDS_OF_TEXT:
            self.is_often = max(e.depth for e in self._expressions) <= MAX_DEPTH_OF_TEXT


def runs_in(expression: Expression) -> frozenset[Atom]:
    """Return the loops that must be run to evaluate `expression`."""
    found: set[Atom] = set()
    seen: set[Atom] = set()
    stack = [expression]
    while stack:
        for monomial, _ in stack.pop().terms:
            for atom in monomial:
                if atom in seen:
                    continue
                seen.add(atom)
                stack += atom.operands
                if atom.kind in ("trips", "iterate"):
                    found.add(atom)
    return frozenset(found)


def running_of(atom: Atom) -> Running:
    """Made once, and kept with the atom."""
    found: Running | None = atom.running
    if found is None:
        found = atom.running = _running(atom)
    return found


def _running(atom: Atom) -> Running:
    arguments = atom.operands
    is_count = atom.kind == "trips"
    return Running(
        tuple(sorted((leaf for leaf in atom.leaves if not is_of_launch(leaf)), key=_serial)),
        arguments[0] if is_count else None,
        None if is_count else arguments[0],
        tuple(a.atom for a in arguments[1::3]),
        tuple(arguments[2::3]),
        tuple(arguments[3::3]),
    )


def _serial(atom: Atom) -> int:
    return atom.serial
