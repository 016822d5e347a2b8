"""How often a condition over data holds, where `fill` describes the data.

Everything random in it (what buffers hold, ids that are still ranges) is drawn together a fixed number of times, from
a low-discrepancy sequence, so that equal launches give equal answers; what enclosing branches have decided is taken
as given. All draws of one subexpression are worked out together, each subexpression once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import add, mul

from model.work.expressions.contents import held_at
from model.work.expressions.evaluate import alone, evaluate
from model.work.expressions.functions import LARGEST
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.numbers import Value, function_of
from model.work.expressions.symbolic import Atom, Expression
from model.work.expressions.trips import ENDLESS
from model.work.walk.draw_plans import plan_of

DRAWS = 96
DRAWS_OF_IDS = 512  # where ids alone decide, as in `length(at) < radius`: that is no matter of chance
DRAWS_OF_RUNS = 12  # where a loop must be run for each
MAX_ENUMERATED = 256  # a lone value from so few is tried through
MAX_RANDOM = 24
MAX_DEPTH = 80
FEWEST = 6  # draws that enclosing branches must leave over
MAX_WORK = 60_000  # values worked out for one launch: a few milliseconds

Assumed = tuple[Expression, bool]  # a condition, and whether it holds
Point = Mapping[Atom, Value]
Ranges = Mapping[Atom, tuple[int, int]]
Column = list[Value]  # a value for each draw


class _Undecided(Exception):
    """Something that no fill describes, or that takes too long."""


@dataclass(slots=True)
class Budget:
    """What is left of the work that one launch may cost."""

    left: int = MAX_WORK

    def spend(self, values: int) -> None:
        self.left -= values
        if self.left < 0:
            raise _Undecided


def chance(
    condition: Expression,
    assumed: Sequence[Assumed],
    known: LaunchBindings,
    point: Point,
    ranges: Ranges,
    budget: Budget,
) -> float | None:
    """Return the share, 0 to 1, of draws that meet `condition` among those that meet what is `assumed`.

    None where no fill says what it rests on.
    """
    random = _random(condition, known, point, ranges)
    if random is None or condition.depth > MAX_DEPTH:
        return None
    given = _related(assumed, random, known, point, ranges)
    atoms = sorted({*random, *(a for _, _, own in given for a in own)}, key=lambda a: a.serial)
    if len(atoms) > MAX_RANDOM:
        return None
    draws = _Draws(known, point, ranges, atoms, budget)
    try:
        kept = [True] * draws.count
        for expression, holds, _ in given:
            kept = [k and bool(v) == holds for k, v in zip(kept, draws.whole(expression), strict=True)]
        met = [bool(v) for k, v in zip(kept, draws.whole(condition), strict=True) if k]
    except _Undecided:
        return None
    if len(met) < min(FEWEST, draws.count):
        return chance(condition, (), known, point, ranges, budget) if given else None
    return sum(met) / len(met)


def expected(
    expression: Expression, known: LaunchBindings, point: Point, ranges: Ranges, budget: Budget
) -> float | None:
    """Return the mean of `expression` over what buffers may hold; None where no fill says, or where that is in order.

    A loop that runs until the data end it is run for some draws: its length at mean values is not its mean length.
    """
    random = _random(expression, known, point, ranges)
    if random is None or expression.depth > MAX_DEPTH or len(random) > MAX_RANDOM:
        return None
    if all(atom.kind != "load" for atom in random):
        return None
    draws = _Draws(known, point, ranges, sorted(random, key=lambda a: a.serial), budget)
    try:
        column = draws.whole(expression)
    except _Undecided:
        return None
    if max(column) >= ENDLESS:  # one that never ends by what was drawn says nothing of the others
        return None
    return sum(column) / len(column)


def _random(condition: Expression, known: LaunchBindings, point: Point, ranges: Ranges) -> frozenset[Atom] | None:
    """Return what must be drawn for `condition`; None where something cannot be."""
    drawn = set()
    for leaf in condition.leaves:
        if leaf in point or leaf.kind == "symbol":
            if leaf in ranges:
                drawn.add(leaf)
            continue
        if not is_described(leaf, known):
            return None
        contents = held_at(leaf, known.contents)
        if contents is not None and contents.values is None and not contents.is_smooth:
            drawn.add(leaf)
    return frozenset(drawn)


def is_described(leaf: Atom, known: LaunchBindings) -> bool:
    """Return whether the launch, a fill or a constant table says what `leaf` may be."""
    if leaf.kind != "load":
        return leaf.kind == "symbol"
    contents = held_at(leaf, known.contents)
    if contents is None or contents.values is not None:
        return contents is not None
    return contents.fill is not None and contents.fill.kind != "random"


def _related(
    assumed: Sequence[Assumed], random: frozenset[Atom], known: LaunchBindings, point: Point, ranges: Ranges
) -> list[tuple[Expression, bool, frozenset[Atom]]]:
    """Those of `assumed` that rest on the same draws, directly or through each other."""
    related: list[tuple[Expression, bool, frozenset[Atom]]] = []
    reached = {a for a in random if a.kind == "load"} or set(random)
    left = []
    for e, holds in assumed:
        own = _random(e, known, point, ranges)
        if own is not None and e.depth <= MAX_DEPTH:
            left.append((e, holds, own))
    while True:
        more = [entry for entry in left if reached & entry[2]]
        if not more:
            return related
        related += more
        left = [entry for entry in left if not reached & entry[2]]
        for _, _, own in more:
            reached |= {a for a in own if a.kind == "load"}


@dataclass(slots=True)
class _Draws:
    """Columns of drawn values, and of all that is made of them."""

    known: LaunchBindings
    point: Point
    ranges: Ranges
    atoms: list[Atom]
    budget: Budget
    count: int = 0
    dimensions: dict[Atom, int] = field(default_factory=dict)
    columns: dict[Atom, Column] = field(default_factory=dict)
    made: dict[Expression, Column] = field(default_factory=dict)
    paid: set[Atom] = field(default_factory=set)  # those that the budget was spent on

    def __post_init__(self) -> None:
        ordered = sorted(self.atoms, key=lambda a: a.kind == "load")  # ids before what stands at them
        loads = [a for a in ordered if a.kind == "load"]
        self.count = DRAWS if loads else DRAWS_OF_IDS
        wanted = {atom: draws for atom in loads if (draws := _wanted(atom, self.known)) is not None}
        if wanted:  # goes evenly through the rarest values first
            rarest = max(wanted, key=lambda atom: wanted[atom])
            ordered = [rarest, *(a for a in ordered if a is not rarest)]
            self.count = wanted[rarest] * -(-DRAWS // wanted[rarest])
        self.dimensions = {atom: dimension for dimension, atom in enumerate(ordered)}
        if len(ordered) == 1 and not wanted:
            domain = _domain(ordered[0], self.known, self.ranges)
            self.count = domain if domain is not None and domain <= MAX_ENUMERATED else DRAWS
        elif not ordered:
            self.count = 1

    def whole(self, expression: Expression) -> Column:
        """As `column`: all operations at once where the expression is asked for often."""
        plan = plan_of(expression, self.atoms)
        function = plan.function_if_often(expression, alone)
        left = self.budget.left
        if function is None or len(plan.atoms) * self.count > left or self._is_given(expression):
            return self.column(expression)
        before = (dict(self.columns), set(self.paid))
        try:
            inputs = [self._atom(atom) for atom in plan.inputs]
            found = function(self.point, self.known, *inputs)
        except _Undecided:
            found = None
        if found is None:  # in the order of the operations, which the budget may end anywhere
            self.budget.left = left
            self.columns, self.paid = before
            return self.column(expression)
        for atom in plan.atoms.keys() - self.paid:
            self.budget.spend(self.count)
            self.paid.add(atom)
        return found

    def _is_given(self, expression: Expression) -> bool:
        """Return whether the point says what memory holds there."""
        return expression.has("load") and any(leaf.kind == "load" and leaf in self.point for leaf in expression.leaves)

    def column(self, expression: Expression) -> Column:
        found = self.made.get(expression)
        if found is None:
            found = self.made[expression] = self._sum(expression)
        return found

    def _sum(self, expression: Expression) -> Column:
        total: Column | None = None
        for monomial, coefficient in expression.terms:
            product: Column | None = None
            for atom in monomial:
                own = self._atom(atom)
                product = own if product is None else list(map(mul, product, own))
            if product is None:
                product = [coefficient] * self.count
            elif coefficient != 1:
                product = [coefficient * v for v in product]
            total = product if total is None else list(map(add, total, product))
        if total is None:
            return [0] * self.count
        if any(isinstance(end, int) and abs(end) > LARGEST for end in (min(total), max(total))):
            raise _Undecided  # beyond all types: squares of squares of it would fill the memory
        return total

    def _atom(self, atom: Atom) -> Column:
        found = self.columns.get(atom)
        if found is None:
            if atom not in self.paid:
                self.budget.spend(self.count)
                self.paid.add(atom)
            found = self.columns[atom] = self._drawn(atom) if atom in self.dimensions else self._computed(atom)
        return found

    def _drawn(self, atom: Atom) -> Column:
        dimension, count = self.dimensions[atom], self.count
        if dimension == 0:  # goes through its range evenly, the others by square roots of primes (Richtmyer, 1951)
            even: list[float] = [(i + 0.5) / count for i in range(count)]
        else:
            even = [(0.5 + (i + 1) * _STEPS[dimension - 1]) % 1.0 for i in range(count)]
        if atom in self.ranges:
            low, high = self.ranges[atom]
            return [low + int(u * (high - low)) for u in even]
        contents = held_at(atom, self.known.contents)
        key = str(atom.arguments[0]), contents.fill if contents is not None else None, dimension, count
        found = self.known.drawn.get(key)
        if found is None:
            values = contents.values_of(even) if contents is not None else None
            if values is None:
                raise _Undecided
            found = self.known.drawn[key] = values
        return found

    def _computed(self, atom: Atom) -> Column:
        if atom in self.point:
            return [self.point[atom]] * self.count
        kind, arguments = atom.kind, atom.arguments
        if kind == "literal":
            return [_number(str(arguments[0]))] * self.count
        if kind == "load" and isinstance(arguments[1], Expression):
            contents = self.known.contents[str(arguments[0])]
            return _decided([contents.at_byte(at) for at in self.column(arguments[1])])
        if kind in ("symbol", "unknown", "trips", "iterate"):
            return self._run(atom)
        operands = [self.column(a) for a in arguments if isinstance(a, Expression)]
        name = arguments[0] if arguments and isinstance(arguments[0], str) else ""
        function = function_of(kind, name)
        if function is None or not operands:
            raise _Undecided
        try:
            results = list(map(function, *operands))
        except (ArithmeticError, ValueError, TypeError):
            raise _Undecided from None
        return _decided(results)

    def _run(self, atom: Atom) -> Column:
        """Return what takes more than arithmetic, for one draw after the other; loops for a few draws, which recur."""
        single = Expression({(atom,): 1})
        own = [a for a in self.atoms if a in atom.leaves]
        columns = [self._atom(a) for a in own]
        tried = min(self.count, DRAWS_OF_RUNS) if atom.kind in ("trips", "iterate") and own else self.count
        if not own:
            return _decided([evaluate(single, self.known, self.point)]) * self.count
        step = self.count / tried
        results = []
        for i in range(tried):
            draw = {**self.point, **{a: column[int(i * step)] for a, column in zip(own, columns, strict=True)}}
            results.append(evaluate(single, self.known, draw))
        decided = _decided(results)
        return [decided[int(i / step)] for i in range(self.count)] if tried < self.count else decided


def _decided(results: Sequence[Value | None]) -> Column:
    known = [r for r in results if r is not None]
    if len(known) < len(results):
        raise _Undecided
    return known


def _domain(atom: Atom, known: LaunchBindings, ranges: Ranges) -> int | None:
    """Return how many values there are to draw from; None for very many."""
    if atom in ranges:
        return max(1, ranges[atom][1] - ranges[atom][0])
    contents = held_at(atom, known.contents)
    return contents.different_values if contents is not None else None


def _wanted(load: Atom, known: LaunchBindings) -> int | None:
    """Return how many draws show how rare the rarest value is; None where no fill gives weights."""
    contents = held_at(load, known.contents)
    return contents.wanted_draws if contents is not None else None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise _Undecided from None


_STEPS = [math.sqrt(p) % 1.0 for p in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71,
                                       73, 79, 83, 89)]  # fmt: skip
