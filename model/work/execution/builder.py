"""Blocks, loops and branches while they are being read: then frozen, without what nothing uses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from model.opencl.types import AddressSpace
from model.work.counts import OpKind
from model.work.expressions.operations import division_of, recomposed
from model.work.expressions.symbolic import (
    GLOBAL_ID,
    GLOBAL_SIZE,
    LEAF_KINDS,
    LOCAL_ID,
    NUM_GROUPS,
    Atom,
    Expression,
    made_of,
    number,
)
from model.work.regions.launch_arithmetic import Arithmetic
from model.work.regions.region import Access, Block, Branch, Event, Leaves, Loop, Op, Site

_Key = tuple[int, OpKind, str, int, str, int]  # line, kind, element, width, function, dimensions that share it


class PendingOp(NamedTuple):
    """`per_result` operations for each of `results` (the components of a vector); unused ones are not executed.

    Without results it is always executed.
    """

    line: int
    kind: OpKind
    element: str
    function: str
    per_result: int
    results: tuple[Expression, ...]


class PendingAccess(NamedTuple):
    """A load of `results`, which is executed if one of them is needed, or a store of `stored`."""

    access: Access
    results: tuple[Expression, ...]
    stored: tuple[Expression, ...]


@dataclass(slots=True, eq=False)
class Builder:
    """A block under construction, `level` blocks deep."""

    level: int = 0
    ops: list[PendingOp] = field(default_factory=list)
    accesses: list[PendingAccess] = field(default_factory=list)
    barriers: list[int] = field(default_factory=list)
    inner: list[PendingLoop | PendingBranch] = field(default_factory=list)
    fused: float = 0.0  # see Block
    arithmetic: list[Arithmetic] = field(default_factory=list)
    chain: float = 0.0  # see Block

    def freeze(self, live: Live) -> Block:
        counts: defaultdict[_Key, float] = defaultdict(float)
        for op in self.ops:
            width = len(op.results)
            needed = sum(1 for r in op.results if r in live) if width else 1
            if needed:
                # A vector operation is executed whole, unless one component is all that is asked of it.
                width = width if needed > 1 else 1
                kinds = _REMAINDER if _is_left_of_division(op, live) else (op.kind,)
                shared = _shared(op.results)
                for kind in kinds:
                    counts[op.line, kind, op.element, width, op.function, shared] += width * op.per_result
        return Block(
            ops=tuple(
                Op(line, kind, element, n, width, name, shared)
                for (line, kind, element, width, name, shared), n in counts.items()
            ),
            accesses=tuple(a for pending in self.accesses if (a := _executed(pending, live)) is not None),
            barriers=tuple(self.barriers),
            inner=tuple(i.freeze(live) for i in self.inner if i not in live.without_effect),
            fused=min(self.fused, _integer_words(counts)),
            arithmetic=tuple(dict.fromkeys(each for each in self.arithmetic if each.result in live)),
            chain=self.chain,
        )

    def has_effects(self, live: Live) -> bool:
        """Return whether it stores, waits, or computes what is needed, in itself or further in."""
        parts = (part for i in self.inner for part in i.blocks)
        return (
            bool(self.barriers)
            or any(not a.results or any(r in live for r in a.results) for a in self.accesses)
            or any(r in live for op in self.ops for r in op.results)
            or any(part.has_effects(live) for part in parts)
        )

    def leaves_traces(self) -> bool:
        """Return whether compilers have a reason to keep anything of it.

        What is written that outlives the work-group; what local memory holds that rests on what it held; loops that may
        never end. Those of which memory says the length beforehand do end.
        """
        return any(map(_is_kept, self.accesses)) or any(
            (isinstance(inner, PendingLoop) and (inner.leaves is not None or inner.trips.has("unknown")))
            or any(part.leaves_traces() for part in inner.blocks)
            for inner in self.inner
        )


_OWN = frozenset({AddressSpace.PRIVATE, AddressSpace.LOCAL})


def _is_kept(each: PendingAccess) -> bool:
    if each.results and not each.access.is_atomic:
        return False
    return each.access.space not in _OWN or any(
        leaf.kind == "unknown" or (leaf.kind == "load" and leaf.arguments[0] == each.access.buffer)
        for value in each.stored
        for leaf in value.leaves
    )


_REMAINDER = (OpKind.INT_MUL, OpKind.INTEGER)  # a - (a / b) * b


def _is_left_of_division(op: PendingOp, live: Live) -> bool:
    """Return whether this is `a % b` where `a / b` is computed too: one division gives both.

    Source: LLVM's DivRemPairs.
    """
    if op.kind is not OpKind.INT_DIVIDE or len(op.results) != 1:
        return False
    atom = op.results[0].atom
    if atom is not None and atom.kind == "convert" and atom.operands:
        atom = atom.operands[0].atom
    return atom is not None and (division := division_of(atom)) is not None and division in live.atoms


# Sizes that runtimes keep in memory: for all that a compiler knows, stores of the kernel may change them.
_LOADED = frozenset((*GLOBAL_SIZE, *NUM_GROUPS))


def _shared(results: tuple[Expression, ...]) -> int:
    """Return in how many dimensions, from the first on, work-items may differ and still compute the same.

    This is 0 for results that depend on memory or on unknown values, and less than 0 for those that depend on sizes
    which are loaded: in as many dimensions they are the same, but computed anew.
    """
    if not results or any(result.leaf_kinds > 1 for result in results):
        return 0
    leaves = frozenset().union(*(result.leaves for result in results))
    dimensions = next((d for d in range(3) if GLOBAL_ID[d] in leaves or LOCAL_ID[d] in leaves), 3)
    return dimensions if leaves.isdisjoint(_LOADED) else -dimensions


def _integer_words(counts: Mapping[_Key, float]) -> float:
    """Integer operations in units of 32 bits."""
    return sum(
        n * (2 if element.endswith("64") else 1)
        for (_, kind, element, *_), n in counts.items()
        if kind is OpKind.INTEGER
    )


def _executed(pending: PendingAccess, live: Live) -> Access | None:
    """Return what is left of an access: of a vector that one component is needed of, the load of that."""
    access, results, _ = pending
    if not results:
        return access
    needed = [index for index, result in enumerate(results) if result in live]
    if not needed:
        return None
    if len(results) == 1 or len(needed) > 1 or access.is_image or access.offset is None:
        return access
    parts = 4 if len(results) == 3 and access.element_bytes % 3 else len(results)
    size = access.element_bytes // parts
    offset = access.offset + number(needed[0] * size)
    return replace(access, element_bytes=size, offset=offset, width=1)


@dataclass(slots=True, eq=False)
class PendingLoop:
    """A loop whose body is complete but not yet pruned. `conditions` are what its iterations test."""

    trips: Expression
    counter: Atom
    body: Builder
    line: int
    chain: float = 0
    conditions: tuple[Expression, ...] = ()
    leaves: Leaves | None = None
    accumulators: int = 0
    site: Site | None = None

    @property
    def blocks(self) -> tuple[Builder, ...]:
        return (self.body,)

    def freeze(self, live: Live) -> Loop:
        body = self.body.freeze(live)
        return Loop(self.trips, self.counter, body, self.line, self.chain, self.accumulators, self.leaves, self.site)


@dataclass(slots=True, eq=False)
class PendingBranch:
    """A branch whose sides may still grow: code after an early return goes on inside the other side."""

    condition: Expression
    then: Builder
    otherwise: Builder
    line: int
    share: Atom | None
    site: Site | None = None
    event: Event = Event.TAKEN
    loop: PendingLoop | None = None  # that this comes before: what does not change in it

    @property
    def blocks(self) -> tuple[Builder, ...]:
        return (self.then, self.otherwise)

    def freeze(self, live: Live) -> Branch:
        then, otherwise = self.then.freeze(live), self.otherwise.freeze(live)
        return Branch(self.condition, then, otherwise, self.line, self.share, self.site, self.event)


def needed(root: Builder, rests: dict[Atom, tuple[Expression, ...]]) -> Live:
    """Return what stores, conditions and trip counts in `root` rest on, directly or through other values.

    Counted loops without effects are left out, with all that only they rest on and what comes before them. Source:
    LLVM's loop deletion. Where the data end a loop, how often it ran may be what it was for; so may it be where only
    running the loop tells its length, as with `while (x * x + y * y < 4.0f && n < most)`: such a loop stays if anything
    rests on that.
    """
    live = Live(rests)
    stack, loops, before_loops = [root], list[PendingLoop](), list[PendingBranch]()
    while stack:
        block = stack.pop()
        for access, results, stored in block.accesses:
            if not results:
                live.add(*stored)
                if access.offset is not None:
                    live.add(access.offset)
        for inner in block.inner:
            if isinstance(inner, PendingLoop):
                if inner.leaves is None and not inner.trips.has("unknown"):
                    loops.append(inner)
                else:
                    live.add(inner.trips, *inner.conditions)
            elif inner.loop is not None:
                before_loops.append(inner)
            else:
                live.add(inner.condition)
            stack += inner.blocks
    while with_effects := [
        loop for loop in loops if loop.body.has_effects(live) or _is_run_for_length(loop.trips, live)
    ]:
        for loop in with_effects:
            live.add(loop.trips, *loop.conditions)
        loops = [loop for loop in loops if loop not in with_effects]
    live.without_effect = frozenset((*loops, *(branch for branch in before_loops if branch.loop in loops)))
    return live


def _is_run_for_length(trips: Expression, live: Live) -> bool:
    """Return whether something rests on how often a loop runs, and no closed form says that."""
    stack = [trips]
    while stack:
        for monomial, _ in stack.pop().terms:
            for atom in monomial:
                if atom.kind == "trips" and atom in live.atoms:
                    return True
                if atom.kind in ("min", "max", "select"):
                    stack += atom.operands
    return False


MAX_SPECULATED = 4  # additions that a compiler computes on either side rather than branch around them
_PRICES = {OpKind.DIVIDE: 4, OpKind.INT_DIVIDE: 4}


def cheap_enough(*sides: Builder) -> bool:
    """Return whether a branch between `sides` becomes a select. Source: LLVM's SimplifyCFG, two-entry phi nodes."""
    if any(side.accesses or side.inner or side.barriers for side in sides):
        return False
    ops = [op for side in sides for op in side.ops]
    return sum(_PRICES.get(o.kind, 1) for o in ops) <= MAX_SPECULATED and not any(o.function for o in ops)


class Live:
    """A growing set of needed values. `rests` says what values rest on that are named by a number alone."""

    def __init__(self, rests: Mapping[Atom, tuple[Expression, ...]]) -> None:
        self._rests = rests
        self.atoms: set[Atom] = set()
        self._leaves: set[Atom] = set()
        self.without_effect: frozenset[object] = frozenset()  # loops that are not executed, and what is before them

    def add(self, *values: Expression) -> None:
        atoms = self.atoms
        stack = list(values)
        while stack:
            for monomial, _ in recomposed(stack.pop()).terms:
                for atom in monomial:
                    if atom not in atoms:
                        atoms.add(atom)
                        self._leaves |= atom.leaves
                        stack += atom.operands
                        stack += self._rests.get(atom, ())
                        stack += made_of(atom)

    def __contains__(self, value: Expression) -> bool:
        """Mark all parts of needed sums as needed: sums are merged with what they are added to."""
        if value.atom is not None:
            return value.atom in self.atoms
        value = recomposed(value)
        if value.atom is not None and value.atom.kind in LEAF_KINDS:
            return False  # there already
        return value.leaves <= self._leaves and all(
            atom in self.atoms for monomial, _ in value.terms for atom in monomial
        )
