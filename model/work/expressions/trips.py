"""Loops' own variables, and how often a loop goes round."""

from __future__ import annotations

from dataclasses import dataclass

from model.work.expressions.operations import operation, substituted
from model.work.expressions.symbolic import ONE, ZERO, Atom, Expression, number, opaque

MAX_SIMULATED_TRIPS = 4096
ENDLESS = 1 << 62  # iterations of a loop whose condition does not change; what leaves it decides
_POSITIVE = ("global_size.", "local_size.", "num_groups.", "arg.", "name.", "image.")


_FLOAT_KINDS = frozenset({"float", "call", "negate", "convert"})


@dataclass(frozen=True, slots=True)
class Induction:
    """A variable of a loop: `start` before it, `after` one iteration in terms of `symbol`."""

    symbol: Atom
    start: Expression
    after: Expression

    @property
    def step(self) -> Expression | None:
        """The constant amount by which it grows; None when it does not grow by one."""
        difference = self.after - Expression({(self.symbol,): 1})
        return None if self.symbol in difference.leaves else difference

    @property
    def is_float(self) -> bool:
        atom = self.after.atom
        return atom is not None and atom.kind in _FLOAT_KINDS

    def at(self, counter: Expression, others: frozenset[Atom]) -> Expression | None:
        """Its value in iteration `counter`; None where only running the loop would tell."""
        step = self.step
        if step is not None and not step.leaves & others:
            return self.start + step * counter
        if not self.after.leaves & others and self.after.evaluable:
            return opaque("iterate", counter, Expression({(self.symbol,): 1}), self.start, self.after)
        return None


def trip_count(
    condition: Expression, variables: list[Induction], header: Expression | None = None
) -> Expression | None:
    """Return how often `condition` (over the variables' symbols) holds in a row; None where the data decide.

    With `header`, how often both hold may be given instead: what has to be run ends with the loop then.
    """
    counts: list[Expression] = []
    missing = False
    for part in conjuncts(condition):
        count = _one_count(part, variables, header)
        if count is None:
            missing = True
        else:
            counts.append(count)
    if missing or not counts:
        return None
    total = counts[0]
    for count in counts[1:]:
        total = operation("min", total, count)
    return total


def upper_bound(condition: Expression, variables: list[Induction]) -> Expression | None:
    """As `trip_count`, from those parts of the condition alone that the launch decides."""
    counts = [c for c in (_one_count(p, variables) for p in conjuncts(condition)) if c is not None]
    if not counts:
        return None
    total = counts[0]
    for count in counts[1:]:
        total = operation("min", total, count)
    return total


def conjuncts(condition: Expression) -> list[Expression]:
    """Return `a && b && c` as a list; `!(a || b)` too."""
    atom = condition.atom
    if atom is not None and atom.kind == "and":
        return [c for a in atom.operands for c in conjuncts(a)]
    if atom is not None and atom.kind == "not":
        inner = atom.arguments[0]
        if isinstance(inner, Expression) and inner.atom is not None and inner.atom.kind == "or":
            return [
                c for a in inner.atom.arguments if isinstance(a, Expression) for c in conjuncts(operation("not", a))
            ]
    return [condition]


def disjuncts(condition: Expression) -> list[Expression]:
    """Return `a || b || c` as a list; `!(a && b)` too."""
    atom = condition.atom
    if atom is not None and atom.kind == "or":
        return [d for a in atom.operands for d in disjuncts(a)]
    if atom is not None and atom.kind == "not":
        inner = atom.arguments[0]
        if isinstance(inner, Expression) and inner.atom is not None and inner.atom.kind == "and":
            return [d for c in conjuncts(inner) for d in disjuncts(operation("not", c))]
    return [condition]


def _either(conditions: list[Expression]) -> Expression:
    whole = conditions[0]
    for condition in conditions[1:]:
        whole = operation("or", whole, condition)
    return whole


def _one_count(part: Expression, variables: list[Induction], header: Expression | None = None) -> Expression | None:
    if part.constant is not None:
        return None if part.constant else ZERO
    symbols = frozenset(v.symbol for v in variables)
    linear = {v.symbol: v for v in variables if v.step is not None and not v.step.leaves & symbols}
    moving = part.leaves & symbols
    if not moving and part.evaluable and not part.has("load"):
        return operation("select", part, number(ENDLESS), ZERO)
    fixed = [d for d in disjuncts(part) if not d.leaves & symbols] if moving else []
    if fixed and all(d.evaluable and not d.has("load") for d in fixed):
        # Where that holds, it holds in every iteration; elsewhere the others count.
        others = _either([d for d in disjuncts(part) if d.leaves & symbols])
        count = _one_count(others, variables, header)
        return operation("select", _either(fixed), number(ENDLESS), count) if count is not None else None
    if moving and moving <= linear.keys():
        closed = _closed(part, linear)
        if closed is not None:
            return closed
    if moving and header is not None and header.constant is None:
        count = _one_count(operation("and", header, part), variables)
        if count is not None:
            return count
    involved = _closure(part, variables)
    if moving and _are_decided(involved) and part.evaluable and not part.has("load"):
        arguments: list[Expression] = [part]
        for v in involved:
            arguments += [Expression({(v.symbol,): 1}), v.start, v.after]
        return opaque("trips", *arguments)
    return None


def _are_decided(variables: list[Induction]) -> bool:
    """Return whether the launch decides all their values.

    Floats that data start, or bits that are scrambled for them, are left to data parameters: integers here do not wrap.
    """
    if any(not v.after.evaluable or v.after.has("load") for v in variables):
        return False
    if not any(v.is_float for v in variables):
        return True
    return not any(not v.start.evaluable or v.start.has("load") or _scrambles(v.after) for v in variables)


def _scrambles(expression: Expression) -> bool:
    """Return whether bits are mixed in it, as random number generators do."""
    seen: set[Atom] = set()
    stack = [expression]
    while stack:
        for monomial, _ in stack.pop().terms:
            for atom in monomial:
                if atom.kind == "bitxor":
                    return True
                if atom not in seen:
                    seen.add(atom)
                    stack += atom.operands
    return False


def _closure(part: Expression, variables: list[Induction]) -> list[Induction]:
    """Return the variables that `part` rests on, directly or through each other."""
    needed, before = set(part.leaves), -1
    while len(needed) != before:
        before = len(needed)
        for v in variables:
            if v.symbol in needed:
                needed |= v.after.leaves
    return [v for v in variables if v.symbol in needed]


def _closed(part: Expression, linear: dict[Atom, Induction]) -> Expression | None:
    """Return closed forms for `e < 0`, `e >= 0`, `e != 0` with `e` affine in the iteration number."""
    atom = part.atom
    negated = False
    if atom is not None and atom.kind == "not" and isinstance(atom.arguments[0], Expression):
        negated, atom = True, atom.arguments[0].atom
    if atom is None or atom.kind not in ("lt0", "eq0") or not isinstance(atom.arguments[0], Expression):
        return None
    inner = atom.arguments[0]
    start = substituted(inner, {s: v.start for s, v in linear.items()})
    slope = ZERO
    for s, v in linear.items():
        coefficient = inner.coefficient(s)
        if coefficient is None or coefficient.leaves & linear.keys():
            return None
        slope = slope + coefficient * (v.step or ZERO)
    if atom.kind == "eq0":
        if slope.constant == 0:
            return None
        return _until_equal(-start, slope) if negated else operation("eq0", start)
    if negated:
        start, slope = -start - ONE, -slope  # e >= 0  is  -e - 1 < 0
    sign = _sign(slope)
    if sign is None or sign < 0:
        return None  # never ends by this, or nobody knows
    return operation("max", ZERO, operation("ceildiv", -start, slope))


def _until_equal(distance: Expression, step: Expression) -> Expression:
    """`i != n` runs (n - i) / step times where the step leads to n, and never ends elsewhere."""
    count = operation("max", ZERO, operation("div", distance, step))
    if step.constant in (1, -1) or operation("div", distance, step) * step == distance:
        return count
    return operation("select", operation("eq0", operation("mod", distance, step)), count, number(ENDLESS))


def _sign(expression: Expression) -> int | None:
    """1 or -1 for what is surely positive or negative, taking sizes and arguments for positive."""
    if not expression.terms:
        return None
    signs = set()
    for monomial, coefficient in expression.terms:
        for atom in monomial:
            if atom.kind == "load":
                continue
            if atom.kind not in ("symbol", "shl", "max", "iterate") or (
                atom.kind == "symbol" and not str(atom.arguments[0]).startswith(_POSITIVE)
            ):
                return None
        signs.add(1 if coefficient > 0 else -1)
    return signs.pop() if len(signs) == 1 else None
