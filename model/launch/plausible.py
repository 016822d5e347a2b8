"""Why no program would make a launch: its scalars make the kernel divide by zero, or overflow where that decides.

The times of such launches say nothing of a kernel: CPU drivers handle each division by zero in a signal, and a check
like `i >= width * height` against a product that wraps around to 0 lets no work-item through.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from model.launch.launch import Launch
from model.work.expressions.evaluate import evaluate
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.numbers import Value
from model.work.expressions.symbolic import LOCAL_SIZE, NUM_GROUPS, Atom, Expression
from model.work.regions.launch_arithmetic import Arithmetic
from model.work.regions.region import Block, Loop
from model.work.work import Work, knowledge

_OF_GROUPS = frozenset((*LOCAL_SIZE, *NUM_GROUPS))  # what drivers may choose
# Hashes and generators of random numbers wrap around on purpose; what these make of it is no size.
_SCRAMBLING = frozenset({"mod", "floormod", "bitand", "bitor", "bitxor", "shr", "operator", "unknown", "call", "float"})
_WRITTEN = {"div": "/", "floordiv": "/", "mod": "%", "floormod": "%"}


@dataclass(frozen=True, slots=True)
class Implausible:
    """One thing that a launch breaks. `text` is a sentence; `{line}` in it stands for `line` (from 0)."""

    arithmetic: Arithmetic
    value: int
    text: str

    @property
    def line(self) -> int:
        return self.arithmetic.line

    @property
    def divides_by_zero(self) -> bool:
        return self.arithmetic.divides

    @property
    def written(self) -> str:
        """What is 0 or too large, about as in the source."""
        return written(self.arithmetic.value)

    @property
    def scalars(self) -> tuple[str, ...]:
        """The names of the scalars that decide it."""
        names = (str(atom.arguments[0]).partition(".") for atom in self.arithmetic.value.leaves)
        return tuple(sorted(name for kind, _, name in names if kind in ("arg", "name")))


def implausible(work: Work, launch: Launch) -> tuple[Implausible, ...]:
    """Return why no program would make `launch` of the kernel of `work`; nothing where it may be.

    Only what surely is so is in it: arithmetic on `size_t` and `long` may be large, and what hashes make of scalars.
    """
    if not work.arithmetic:
        return ()
    known = knowledge(work.kernel, launch, work.parameters, work.tables, work.named, work.uniform)
    has_groups = bool(launch.local_size or work.kernel.attributes.reqd_work_group_size)
    found: dict[tuple[Expression, bool], Implausible] = {}
    decides: _Deciding | None = None
    overflows: set[int] = set()  # lines: one of the parts of a sum is enough
    for one, guards in work.arithmetic:
        if (one.value, one.divides) in found or not (has_groups or _OF_GROUPS.isdisjoint(one.value.leaves)):
            continue
        value = evaluate(one.value, known, {})
        if not isinstance(value, int) or not _is_broken(one, value) or not _is_reached(guards, known):
            continue
        if not one.divides:
            decides = decides or _Deciding(work)
            if one.line in overflows or not decides(one.value):
                continue
            overflows.add(one.line)
        found[one.value, one.divides] = Implausible(one, value, _sentence(one, value))
    return tuple(each for (value, divides), each in found.items() if divides or (value, True) not in found)


def _is_broken(one: Arithmetic, value: int) -> bool:
    if one.divides:
        return value & ((1 << one.bits) - 1) == 0
    # In sums of unsigned numbers a part may be negative, for the whole to come out right.
    return not -(1 << one.bits - 1) <= value < 1 << one.bits - 1 if one.is_signed else value >= 1 << one.bits


def _is_reached(guards: tuple[tuple[Expression, bool], ...], known: LaunchBindings) -> bool:
    """Return whether work-items may come to a place, as far as the launch tells."""
    for condition, holds in guards:
        value = evaluate(condition, known, {})
        if value is not None and (value > 0) is not holds:
            return False
    return True


def _sentence(one: Arithmetic, value: Value) -> str:
    what = f"`{written(one.value)}`"
    if one.divides:
        wraps = f" ({value} in whole numbers, which {one.bits} bits do not hold)" if value else ""
        return f"line {{line}} divides by {what}, which is 0{wraps}: no program would be launched so"
    kind, rest = ("int", (value + (1 << 31)) % (1 << 32) - (1 << 31)) if one.is_signed else ("uint", value % (1 << 32))
    return (
        f"{what} on line {{line}} is {value}, which {'an' if kind == 'int' else 'a'} `{kind}` does not hold: the "
        f"device goes on with {rest}, what is predicted with {value}; no program would be launched so"
    )


class _Deciding:
    """What conditions, trip counts, indices and divisors of a kernel are made of."""

    def __init__(self, work: Work) -> None:
        self._seen: set[Expression] = set()
        self._sums: list[Mapping[tuple[Atom, ...], int]] = []
        for expression in _deciding(work):
            self._take(expression)

    def _take(self, expression: Expression) -> None:
        stack = [expression]
        while stack:
            each = stack.pop()
            if each in self._seen or each.constant is not None:
                continue
            self._seen.add(each)
            self._sums.append(dict(each.terms))
            for monomial, _ in each.terms:
                for atom in monomial:
                    if atom.kind not in _SCRAMBLING:
                        stack += atom.operands

    def __call__(self, value: Expression) -> bool:
        """Return whether `value`, or a multiple of it, is a part of one of them."""
        parts = [(monomial, factor) for monomial, factor in value.terms if monomial]
        return any(_is_part(parts, terms) for terms in self._sums)


def _is_part(parts: list[tuple[tuple[Atom, ...], int]], terms: Mapping[tuple[Atom, ...], int]) -> bool:
    first, factor = parts[0]
    for monomial, coefficient in terms.items():
        rest = Counter(monomial)
        rest.subtract(first)
        if coefficient % factor or min(rest.values(), default=0) < 0:
            continue
        times, others = coefficient // factor, tuple(rest.elements())
        if all(
            terms.get(tuple(sorted((*part, *others), key=lambda atom: atom.serial))) == times * by for part, by in parts
        ):
            return True
    return False


def _deciding(work: Work) -> Iterator[Expression]:
    yield from (one.value for one, _ in work.arithmetic if one.divides)
    stack: list[Block] = [work.root]
    while stack:
        block = stack.pop()
        yield from (access.offset for access in block.accesses if access.offset is not None)
        for inner in block.inner:
            if isinstance(inner, Loop):
                yield inner.trips
                stack.append(inner.body)
            else:
                yield inner.condition
                stack += inner.then, inner.otherwise


def written(expression: Expression) -> str:
    """Return an expression over a launch's scalars and sizes as C writes it, in an order of our own."""
    terms = sorted(expression.terms, key=lambda term: (term[1] < 0, not term[0], -len(term[0])))
    text = ""
    for monomial, coefficient in terms:
        factors = [_written_atom(atom) for atom in monomial]
        if abs(coefficient) != 1 or not monomial:
            factors.insert(0, str(abs(coefficient)))
        if len(factors) > 1:
            factors = [f"({each})" if " / " in each or " % " in each else each for each in factors]
        sign = " - " if coefficient < 0 else " + "
        text += (sign if text else sign.strip(" +")) + " * ".join(factors)
    return text or "0"


def _written_atom(atom: Atom) -> str:
    if atom.kind == "symbol":
        kind, _, name = str(atom.arguments[0]).partition(".")
        return name if kind in ("arg", "name", "image") else f"get_{kind}({name})"
    operands = [written(each) for each in atom.operands]
    if atom.kind in _WRITTEN and len(operands) == 2:
        left, right = atom.operands
        if len(left.terms) > 1:
            operands[0] = f"({operands[0]})"
        if right.constant is None and (right.atom is None or right.atom.kind != "symbol"):
            operands[1] = f"({operands[1]})"
        return f"{operands[0]} {_WRITTEN[atom.kind]} {operands[1]}"
    return f"{atom.kind}({', '.join(operands)})"
