"""What the source itself says of a launch: dimensions used, bound checks, what each scalar is good for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from model.opencl.types import AddressSpace
from model.work.region import Block, Branch, Loop
from model.work.symbolic import GLOBAL_ID, GROUP_ID, LOCAL_ID, LOCAL_SIZE, Atom, Expression
from model.work.trips import conjuncts
from model.work.work import Work

_IDS = (GLOBAL_ID, GROUP_ID, LOCAL_ID)


@dataclass(slots=True)
class Evidence:
    """`guards`: for each dimension, the symbols its global id is compared against. `trip_bounds` and `strides`:
    symbols that bound loops or multiply the id of a dimension above the first."""

    dimensions: int = 1
    uses_local: bool = False
    guards: dict[int, list[Atom]] = field(default_factory=dict)
    trip_bounds: set[Atom] = field(default_factory=set)
    strides: dict[Atom, int] = field(default_factory=dict)
    steps: set[Atom] = field(default_factory=set)  # added to a loop counter: `i += n`
    used: set[Atom] = field(default_factory=set)


def gather(work: Work) -> Evidence:
    """Read all conditions, trip counts and indices of `work`."""
    found = Evidence()
    for expression, role in _expressions(work.root):
        _note_ids(expression, found)
        found.used |= {a for a in expression.leaves if _is_argument(a)}
        if role == "condition":
            _note_guards(expression, found)
        elif role == "trips":
            found.trip_bounds |= {a for a in expression.leaves if _is_argument(a)}
        else:
            _note_strides(expression, found)
    if work.local_bytes or any(a.space is AddressSpace.LOCAL for a in work.accesses()):
        found.uses_local = True
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
            yield inner.condition, "condition"
            yield from _expressions(inner.then)
            yield from _expressions(inner.otherwise)


def _note_ids(expression: Expression, found: Evidence) -> None:
    for leaf in expression.leaves:
        if leaf.kind != "symbol":
            continue
        for atoms in _IDS:
            if leaf in atoms:
                found.dimensions = max(found.dimensions, atoms.index(leaf) + 1)
        if leaf in LOCAL_ID or leaf in LOCAL_SIZE:
            found.uses_local = True


def _note_guards(condition: Expression, found: Evidence) -> None:
    """`i < n`, `i >= n || j >= m` ...: the symbols that a global id is held against."""
    pending = [condition]
    while pending:
        for part in conjuncts(pending.pop()):
            atom = part.atom
            if atom is None:
                continue
            inner = [a for a in atom.arguments if isinstance(a, Expression)]
            if atom.kind in ("not", "or", "and"):
                pending.extend(inner)
            elif atom.kind in ("lt0", "eq0") and inner:
                ids = [d for d in range(3) if GLOBAL_ID[d] in inner[0].leaves]
                bounds = [a for a in inner[0].leaves if _is_argument(a)]
                if len(ids) == 1 and len(bounds) == 1:
                    found.guards.setdefault(ids[0], []).append(bounds[0])


def _note_strides(offset: Expression, found: Evidence) -> None:
    """`y * width + x`: `width` is the extent of dimension 0; what multiplies z, of dimensions 0 and 1."""
    for monomial, _ in offset.terms:
        arguments = [a for a in monomial if _is_argument(a)]
        for d in (1, 2):
            if GLOBAL_ID[d] in monomial:
                for argument in arguments:
                    found.strides.setdefault(argument, len(arguments) - 1 if d == 2 else 0)
