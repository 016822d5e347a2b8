"""Places that can be read and set: variables, components of them, and what lies at an address."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from tree_sitter import Node

from model.opencl.builtin_types import LONG
from model.opencl.syntax import find
from model.opencl.types import (
    AddressSpace,
    ArrayType,
    ImageType,
    OpaqueType,
    PointerType,
    ScalarKind,
    ScalarType,
    StructType,
    Type,
    VectorType,
)
from model.sampling.code import Code, Place, Run
from model.sampling.compiler import Compiler, Variable, code_of_slot
from model.sampling.conversions import converted
from model.sampling.taint import read_through
from model.sampling.values import Array, NotInterpreted, Value, dtype_of, element_of, rows_of
from model.work.execution.swizzle import swizzled

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes

_SPACE = AddressSpace.GENERIC
_LONG = LONG
CHANGING = ("update_expression", "assignment_expression", "call_expression")
_UCHAR = np.dtype(np.uint8)
MOST_COMPONENTS = 16  # of a vector
ACCESS_COST = 16  # NumPy calls, about: addresses, bounds, the contents of what was never written


def place_of_variable(variable: Variable) -> Place:
    if variable.slot is not None:
        return Place(variable.type, slot=variable.slot)
    return Place(variable.type, address=variable.address, pointer=variable.tokens)


def counted(c: Compiler, place: Place, node: Node) -> Place:
    """Return the same with a record of its own, which is named by `node`."""
    if not place.is_followed or place.address is None:
        return place
    return replace(place, access=c.access(node))


def uncounted(c: Compiler, place: Place) -> Place:
    """Return a place that is not accessed itself, but a part of it, or its address taken."""
    if place.access is not None and place.access == len(c.sites.accesses) - 1:
        c.sites.accesses.pop()
    return replace(place, access=None)


def once(c: Compiler, place: Place, node: Node) -> tuple[Place, Place]:
    """Return the place at `node` to be read, and then to be set: both are one access.

    What working out the address changes, as `*p++ += x` does, it changes once.
    """
    again = replace(place, access=None)
    address = place.address
    if address is None or not (node.type in CHANGING or any(find(node, *CHANGING))):
        return place, again
    slot = c.new_slot()

    def run(f: Lanes) -> Value:
        at = f.values[slot] = address(f)
        return at

    return replace(place, address=run), replace(again, address=lambda f: f.values[slot])


def rows_at(kind: Type) -> Array | None:
    """Byte offsets of a value's rows in memory."""
    rows = rows_of(kind)
    if not rows:
        return None
    return np.arange(rows, dtype=np.int64)[:, None] * element_of(kind).size_bytes


def _memory_dtype(kind: Type) -> np.dtype[Any]:
    element = element_of(kind)
    return _UCHAR if element.kind is ScalarKind.BOOL else dtype_of(element)


def load(c: Compiler, place: Place) -> Code:
    """Return what a place holds."""
    c.cost += 1
    if place.slot is not None:
        slot = place.slot
        c.used.add(slot)
        taint = frozenset((f"${slot}",))
        if not place.picks:
            return Code(lambda f: f.values[slot], place.type, taint=taint)
        take = picker(place.picks)
        return Code(lambda f: take(f.values[slot]), place.type, taint=taint)
    address = place.address
    if address is None or (isinstance(place.type, OpaqueType) and place.type.is_unknown):
        raise NotInterpreted(f"the type `{place.type.name}` is not known")
    c.cost += ACCESS_COST
    c.address_taints |= place.pointer | place.index
    taint = read_through(place.pointer) | place.index
    if isinstance(place.type, ArrayType):
        return Code(address, PointerType(place.type.element, _SPACE), taint=place.pointer | place.index)
    held = place.type if place.whole is None else place.whole
    dtype = _memory_dtype(held)
    rows, offset = _picked_rows(place, dtype)
    is_bool = isinstance(held, ScalarType) and held.kind is ScalarKind.BOOL
    access, size = place.access, max(1, place.type.size_bytes)

    def run(f: Lanes) -> Value:
        at = address(f)
        if offset:
            at = at + offset
        if access is not None:
            f.context.accesses[access].note(f, at, size)
        value = f.memory.load(f, at, dtype, rows)
        return value != 0 if is_bool else value

    return Code(run, place.type, is_pure=False, taint=taint)


def value_of(c: Compiler, place: Place) -> Code:
    """Return the value of a place; of an array the address of its first element."""
    if isinstance(place.type, ArrayType):
        if place.address is None:
            raise c.refuse("an array is not in memory")
        kind = PointerType(place.type.element, AddressSpace.GENERIC)
        return Code(place.address, kind, taint=place.pointer | place.index)
    if place.slot is not None and not place.picks:
        c.used.add(place.slot)
        return code_of_slot(place.type, place.slot)
    return load(c, place)


def _picked_rows(place: Place, dtype: np.dtype[Any]) -> tuple[Array | None, int]:
    """Where the components that are spoken of lie: offsets of several, or that of one."""
    if not place.picks:
        return rows_at(place.type), 0
    at = np.array(place.picks, np.int64) * dtype.itemsize
    if len(at) == 1:
        return None, int(at[0])
    return at[:, None], 0


def picker(picks: tuple[int, ...]) -> Callable[[Any], Any]:
    """Return a function that reads components of a vector."""
    if len(picks) == 1:
        only = picks[0]

        def one(value: Value) -> Value:
            row = value[only]
            return row if len(row) > 1 else row[0]

        return one
    if picks == tuple(range(picks[0], picks[0] + len(picks))):
        part = slice(picks[0], picks[0] + len(picks))
        return lambda value: value[part]
    rows = list(picks)
    return lambda value: value[rows]


def store(c: Compiler, place: Place, value: Code) -> Run:
    """Compile setting a place, with the value it holds then as the result; `value` has its type."""
    c.cost += 2
    run = value.run
    if place.slot is not None:
        slot = place.slot
        c.used.add(slot)
        c.flows.assigned(f"${slot}", value.taint)
        if place.picks:
            return _store_components(slot, run, place.picks, element_count(place.whole))

        def assign(f: Lanes) -> Value:
            new = run(f)
            f.assign(slot, new)
            return new

        return assign
    address = place.address
    if address is None:
        raise NotInterpreted("something other than a variable is set")
    c.cost += ACCESS_COST
    c.address_taints |= place.pointer | place.index
    for token in read_through(place.pointer):
        c.flows.assigned(token, value.taint)
    held = place.type if place.whole is None else place.whole
    dtype = _memory_dtype(held)
    rows, offset = _picked_rows(place, dtype)
    access, size = place.access, max(1, place.type.size_bytes)

    def put(f: Lanes) -> Value:
        new = run(f)
        at = address(f)
        if offset:
            at = at + offset
        if access is not None:
            f.context.accesses[access].note(f, at, size)
        f.memory.store(f, at, new, dtype, rows)
        return new

    return put


def element_count(kind: Type | None) -> int:
    return rows_of(kind) if kind is not None else 0


def _store_components(slot: int, run: Run, picks: tuple[int, ...], count: int) -> Run:
    rows = picks[0] if len(picks) == 1 else list(picks)

    def assign(f: Lanes) -> Value:
        new = run(f)
        old = f.values[slot]
        width = max(new.shape[-1] if new.ndim else 1, old.shape[-1] if old is not None else 1)
        whole = np.zeros((count, width), new.dtype)
        if old is not None:
            whole[...] = old
        whole[rows] = new
        f.assign(slot, whole)
        return new

    return assign


def swizzle(name: str, width: int) -> tuple[int, ...] | None:
    """Return the component numbers of `xyz`, `s03`, `lo` ... of a vector of `width`; None for any other name."""
    found = swizzled(name, width)
    if found is None or len(found) > MOST_COMPONENTS:
        return None
    if name in ("hi", "odd"):  # of a 3-vector they name a fourth component, whose value is not defined
        found = tuple(min(n, width - 1) for n in found)
    return found if max(found) < width else None


def member_of(place: Place, struct: StructType, name: str) -> Place | None:
    """Return a member of a struct in memory."""
    number = next((i for i, (member, _) in enumerate(struct.members) if member == name), None)
    if number is None or place.address is None:
        return None
    at, base = struct.offsets()[number], place.address
    run = base if at == 0 else lambda f: base(f) + at
    return Place(
        struct.members[number][1], address=run, pointer=place.pointer, index=place.index, is_followed=place.is_followed
    )


def components_of(place: Place, vector: VectorType, name: str) -> Place | None:
    """Components of a vector that is a place."""
    picks = swizzle(name, vector.width)
    if picks is None:
        return None
    kind: Type = vector.element if len(picks) == 1 else VectorType(vector.element, len(picks))
    if place.picks:
        picks = tuple(place.picks[n] for n in picks)
    whole = place.whole if place.whole is not None else vector
    return replace(place, type=kind, whole=whole, picks=picks, access=None)


def is_opaque(kind: Type) -> bool:
    return isinstance(kind, ImageType | OpaqueType)


def stored(c: Compiler, place: Place, value: Code) -> Run:
    """As `store`, with the conversion that an assignment makes."""
    return store(c, place, assigned_as(value, place.type))


def assigned_as(value: Code, kind: Type) -> Code:
    """Return a value as assignments and calls convert it."""
    if isinstance(kind, ScalarType | VectorType) and isinstance(value.type, ScalarType | VectorType):
        if isinstance(kind, ScalarType) and isinstance(value.type, VectorType):
            raise NotInterpreted(f"a `{value.type.name}` is used as a `{kind.name}`")
        if isinstance(kind, VectorType) and isinstance(value.type, VectorType) and value.type.width != kind.width:
            raise NotInterpreted(f"a `{value.type.name}` is used as a `{kind.name}`")
        return converted(value, kind)
    if isinstance(kind, StructType):
        if value.type != kind:
            raise NotInterpreted(f"a `{value.type.name}` is used as a `{kind.name}`")
        return value
    if isinstance(value.type, StructType) or isinstance(kind, VectorType):
        raise NotInterpreted(f"a `{value.type.name}` is used as a `{kind.name}`")
    if isinstance(kind, ScalarType):  # a pointer as a number
        run = converted(Code(value.run, _LONG, None, value.constant, value.is_pure, value.taint), kind)
        return Code(run.run, kind, None, run.constant, value.is_pure, value.taint)
    if isinstance(value.type, ScalarType):  # a number as a pointer
        wide = converted(value, _LONG)
        return Code(wide.run, kind, None, wide.constant, value.is_pure, value.taint)
    return Code(value.run, kind, None, value.constant, value.is_pure, value.taint)
