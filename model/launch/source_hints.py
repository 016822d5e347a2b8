"""What the source itself says of a launch: dimensions used, bound checks, what each scalar is good for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Lock

from cachetools import LRUCache, cached

from model.opencl.types import AddressSpace
from model.work.expressions.operations import operation
from model.work.expressions.symbolic import (
    GLOBAL_ID,
    GLOBAL_SIZE,
    GROUP_ID,
    LOCAL_ID,
    LOCAL_SIZE,
    NUM_GROUPS,
    ONE,
    ZERO,
    Atom,
    Expression,
)
from model.work.expressions.trips import conjuncts
from model.work.regions.region import Block, Branch, Loop
from model.work.work import Work

_IDS = (GLOBAL_ID, GROUP_ID, LOCAL_ID)
_KERNELS_KEPT = 64


@dataclass(frozen=True, slots=True)
class Product:
    """`times` the product of all `factors` is what an id stays below."""

    factors: tuple[Atom, ...]
    times: float


@dataclass(slots=True)
class SourceHints:
    """What the source says of the sizes of a launch. Shared by all launches of a kernel: not to be changed.

    `guards`: for each dimension, the symbols that its global id must stay below; `products`: symbols whose product it
    must stay below (`i < width * height`); `margins`: symbols that ids must reach, keep away from the end by, or equal.
    `trip_bounds` and `strides`: symbols that bound loops (with the number of such loops in each other) or multiply the
    id of a dimension above the first. `local_sides`: dimensions along which work-items differ in what they access of
    local memory.
    """

    dimensions: int = 1
    uses_local: bool = False
    local_sides: set[int] = field(default_factory=set)
    guards: dict[int, list[Atom]] = field(default_factory=dict)
    products: dict[int, Product] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)  # buffers with an element that ids must stay below
    margins: set[Atom] = field(default_factory=set)
    group_guards: dict[int, list[Atom]] = field(default_factory=dict)  # held against the group id
    trip_bounds: dict[Atom, int] = field(default_factory=dict)
    grid_bounds: dict[Atom, int] = field(default_factory=dict)  # ends of loops that work-items share, by dimension
    strides: dict[Atom, int] = field(default_factory=dict)
    group_strides: dict[Atom, int] = field(default_factory=dict)  # likewise of a group id
    group_sides: set[Atom] = field(default_factory=set)  # multiply the group id of the first dimension, too
    steps: set[Atom] = field(default_factory=set)  # added to a loop counter: `i += n`
    used: set[Atom] = field(default_factory=set)


@cached(LRUCache(_KERNELS_KEPT), lock=Lock())
def gather(work: Work) -> SourceHints:
    """Read all conditions, trip counts and indices of `work`."""
    found = SourceHints()
    for expression, role in _expressions(work.root):
        _note_ids(expression, found)
        found.used |= {a for a in expression.leaves if _is_argument(a)}
        if role == "condition":
            _note_guards(expression, found)
        elif role == "offset":
            _note_strides(expression, found)
    rows = {argument: power for argument, power in found.group_strides.items() if argument not in found.group_sides}
    found.strides = {**rows, **found.strides}
    _note_trip_bounds(work.root, 0, found)
    found.uses_local |= bool(work.local_bytes)
    for access in work.accesses():
        if access.space is AddressSpace.LOCAL:
            found.uses_local = True
            leaves = access.offset.leaves if access.offset is not None else frozenset(LOCAL_ID)
            found.local_sides |= {d for d in range(3) if leaves & {LOCAL_ID[d], GLOBAL_ID[d]}}
    return found


def _is_argument(atom: Atom) -> bool:
    return atom.kind == "symbol" and str(atom.arguments[0]).startswith(("arg.", "name.", "image."))


def _expressions(block: Block) -> Iterator[tuple[Expression, str]]:
    for access in block.accesses:
        if access.offset is not None:
            yield access.offset, "offset"
    for inner in block.inner:
        if isinstance(inner, Loop):
            yield inner.trips, "trips"
            yield from _expressions(inner.body)
        else:
            assert isinstance(inner, Branch)
            works_otherwise = not _is_empty(inner.otherwise) and _is_empty(inner.then)
            yield operation("not", inner.condition) if works_otherwise else inner.condition, "condition"
            yield from _expressions(inner.then)
            yield from _expressions(inner.otherwise)


def _note_ids(expression: Expression, found: SourceHints) -> None:
    for leaf in expression.leaves:
        if leaf.kind != "symbol":
            continue
        for atoms in _IDS:
            if leaf in atoms:
                found.dimensions = max(found.dimensions, atoms.index(leaf) + 1)
        if leaf in LOCAL_ID or leaf in LOCAL_SIZE:
            found.uses_local = True


def _is_empty(block: Block) -> bool:
    return not (block.ops or block.accesses or block.inner or block.barriers)


def _note_trip_bounds(block: Block, depth: int, found: SourceHints) -> int:
    """Note the symbols that bound loops; gives how many such loops are in each other in `block`."""
    deepest = depth
    for inner in block.inner:
        if isinstance(inner, Loop):
            bounds = [a for a in inner.trips.leaves if _is_argument(a)]
            reached = _note_trip_bounds(inner.body, depth + bool(bounds), found)
            for d in range(3):
                which, of = {GLOBAL_ID[d], GROUP_ID[d]}, {GLOBAL_SIZE[d], NUM_GROUPS[d]}
                if which & inner.trips.leaves and of & inner.trips.leaves:
                    found.grid_bounds |= dict.fromkeys(bounds, d)
            for bound in bounds:
                found.trip_bounds[bound] = max(reached, found.trip_bounds.get(bound, 1))
        else:
            reached = max(_note_trip_bounds(side, depth, found) for side in (inner.then, inner.otherwise))
        deepest = max(deepest, reached)
    return deepest


def _note_guards(condition: Expression, found: SourceHints) -> None:
    """`i < n`, `i >= n || j >= m` ...: the symbols that an id is held against where the work is done."""
    for part in conjuncts(condition):
        atom = part.atom
        negated = False
        if atom is not None and atom.kind == "not" and isinstance(atom.arguments[0], Expression):
            negated, atom = True, atom.arguments[0].atom
        if atom is None:
            continue
        inner = [a for a in atom.arguments if isinstance(a, Expression)]
        if atom.kind in ("and", "or"):  # one of several conditions: each may be the bound
            for one in inner:
                _note_guards(operation("not", one) if negated else one, found)
        elif atom.kind == "lt0":
            _note_bound(-inner[0] - ONE if negated else inner[0], found)
        elif atom.kind == "eq0" and any((inner[0].coefficient(i) or ZERO).constant for i in (*GLOBAL_ID, *GROUP_ID)):
            found.margins |= {m[0] for m, _ in inner[0].terms if len(m) == 1 and _is_argument(m[0])}


def _note_bound(inner: Expression, found: SourceHints) -> None:
    """Read `inner < 0`: of `i - n + r`, `n` is what `i` stays below and `r` a margin; of `r - i`, `r` is one too."""
    for ids, guards in ((GLOBAL_ID, found.guards), (GROUP_ID, found.group_guards)):
        held = [d for d in range(3) if ids[d] in inner.leaves]
        slope = inner.coefficient(ids[held[0]]) if len(held) == 1 else None
        if slope is None or not slope.constant:
            continue
        is_upper = slope.constant > 0
        # `16 * group + local` is a global id, in groups of 16.
        is_global = slope.constant > 1 and LOCAL_ID[held[0]] in inner.leaves
        plain = {m[0]: c for m, c in inner.terms if len(m) == 1 and _is_argument(m[0])}
        if is_upper:
            counts = (m[0] for m, c in inner.terms if len(m) == 1 and c < 0 and _is_one_element(m[0]))
            found.counts |= {str(load.arguments[0]): held[0] for load in counts}
        products = [(m, c) for m, c in inner.terms if len(m) > 1 and c < 0 and all(map(_is_argument, m))]
        of_products = (
            {atom for monomial, _ in products for atom in monomial if atom not in plain} if is_upper else set()
        )
        if of_products and ids is GLOBAL_ID:
            factors, coefficient = products[0]
            found.products.setdefault(held[0], Product(factors, float(-coefficient / slope.constant)))
        # Of `i - r / 2 < n` only `n` is the bound; of `i < n / 2` it is what stands in the quotient.
        nested = 0 if any(c < 0 for c in plain.values()) else -1
        for leaf in inner.leaves:
            if not _is_argument(leaf) or leaf in of_products:
                continue
            if is_upper and plain.get(leaf, nested) < 0:
                (found.guards if is_global else guards).setdefault(held[0], []).append(leaf)
            elif plain.get(leaf, 0) > 0:
                found.margins.add(leaf)


def _is_one_element(atom: Atom) -> bool:
    """Return whether it is the same element of a buffer for all work-items."""
    offset = atom.arguments[1] if atom.kind == "load" else None
    return isinstance(offset, Expression) and all(_is_argument(leaf) for leaf in offset.leaves)


def _note_strides(offset: Expression, found: SourceHints) -> None:
    """`y * width + x`: `width` is the extent of dimension 0; what multiplies z, of dimensions 0 and 1."""
    for monomial, _ in offset.terms:
        arguments = [a for a in monomial if _is_argument(a)]
        for ids, strides in ((GLOBAL_ID, found.strides), (GROUP_ID, found.group_strides)):
            for d in (1, 2):
                if ids[d] in monomial:
                    for argument in arguments:
                        strides.setdefault(argument, len(arguments) - 1 if d == 2 else 0)
        if GROUP_ID[0] in monomial:
            found.group_sides.update(arguments)
