"""Loads whose address rests on what the iteration before has loaded: lists, descents of trees, searches.

No processor can begin such a load before the one before it has ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace

from model.opencl.types import AddressSpace
from model.work.execution.builder import Builder, Live, PendingAccess, PendingBranch
from model.work.expressions.symbolic import Atom, Expression

_SPACES = frozenset({AddressSpace.GLOBAL, AddressSpace.GENERIC, AddressSpace.CONSTANT})
_MOST_LOADS = 64  # of one loop that are looked at: each costs a walk through all that its address rests on

Rests = Mapping[Atom, tuple[Expression, ...]]


@dataclass(frozen=True, slots=True)
class _Load:
    """A load at a place of a block; `likelihood` that an iteration comes there."""

    block: Builder
    place: int
    likelihood: float

    @property
    def pending(self) -> PendingAccess:
        return self.block.accesses[self.place]


def mark_dependent(body: Builder, carried: Set[Atom], rests: Rests) -> None:
    """Mark the loads of a loop's body of which each must wait for those of the iteration before.

    `carried` are values at the start of an iteration, and `rests` leads to what the iteration before made them of.
    Each gets its part of the longest chain of one iteration: loads from one place of a tree wait together. The
    operations between a load and the next one's address wait, too.
    """
    loads = _loads(body)
    if not loads:
        return
    chased: list[tuple[_Load, int]] = []
    longest_ops = 0
    within = {atom: parts for atom, parts in rests.items() if atom not in carried}  # of this iteration alone
    for load in loads:
        offset = load.pending.access.offset
        assert offset is not None
        now = Live(within)
        now.add(offset)
        before = Live(rests)
        starts = carried & now.atoms
        before.add(*(part for atom in starts for part in rests.get(atom, ())))
        if any(result in before for result in load.pending.results):
            loaded = {result.atom for result in load.pending.results if result.atom is not None}
            made = [_ops_between(part, loaded) for atom in starts for part in rests.get(atom, ())]
            ops = (_ops_between(offset, starts) or 0) + max((each for each in made if each is not None), default=0)
            longest_ops = max(longest_ops, ops)
            depth = 1 + max((d for other, d in chased if any(r in now for r in other.pending.results)), default=0)
            chased.append((load, depth))
    executed = sum(load.likelihood for load, _ in chased)
    longest = max((depth for _, depth in chased), default=0)
    for load, _ in chased:
        access, results, stored = load.pending
        share = min(1.0, longest / executed)
        marked = replace(access, waits_share=share, waits_ops=longest_ops)
        load.block.accesses[load.place] = PendingAccess(marked, results, stored)


def _ops_between(value: Expression, ends: Set[Atom]) -> int | None:
    """Return the longest chain of operations from one of `ends` to a value that is made of it; None if it is not."""
    known: dict[Atom, int | None] = {}

    def of_atom(atom: Atom) -> int | None:
        if atom in ends:
            return 0
        if atom not in known:
            known[atom] = None
            inner = [n for operand in atom.operands if (n := of_sum(operand)) is not None]
            known[atom] = 1 + max(inner) if inner else None
        return known[atom]

    def of_sum(part: Expression) -> int | None:
        inner = [n for monomial, _ in part.terms for atom in monomial if (n := of_atom(atom)) is not None]
        return max(inner) + (len(part.terms) > 1) if inner else None

    return of_sum(value)


def _loads(body: Builder) -> list[_Load]:
    """Return the loads whose place something unknown decides, in the order of the source; of inner loops none."""
    found = list(_all_loads(body, 1.0))
    return found if len(found) <= _MOST_LOADS else []


def _all_loads(block: Builder, likelihood: float) -> Iterator[_Load]:
    for place, (access, results, _) in enumerate(block.accesses):
        if access.space not in _SPACES or not results or access.is_atomic or access.is_image or access.offset is None:
            continue
        if access.offset.has("unknown", "load"):
            yield _Load(block, place, likelihood)
    for inner in block.inner:
        if isinstance(inner, PendingBranch):
            for side in inner.blocks:
                yield from _all_loads(side, likelihood / 2)
