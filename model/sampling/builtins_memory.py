"""vload and vstore, copies by whole groups, and casts between address spaces (sections 6.15.7, 6.15.11)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from tree_sitter import Node

from model.opencl.builtin_types import FLOAT, HALF, LONG, UINT, VOID
from model.opencl.types import OpaqueType, PointerType, ScalarType, Type, VectorType
from model.sampling.code import Code, Place
from model.sampling.compiler import Compiler
from model.sampling.conversions import converted
from model.sampling.places import assigned_as, load, rows_at
from model.sampling.tables import Function, arguments, table
from model.sampling.taint import read_through
from model.sampling.values import Value, dtype_of, element_of, is_float

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes

VECTOR_MEMORY = re.compile(r"v(load|store)(a?_half)?(\d*)(?:_rt[ezpn])?\Z")
_MOST_COPIED_BYTES = 1 << 20  # by one call


def vector_memory(c: Compiler, match: re.Match[str], values: list[Code], node: Node) -> Code:
    """`vloadn(offset, p)` and `vstoren(v, offset, p)`: n elements at p + offset * n; `_half` converts to float."""
    is_store, halves, width = match[1] == "store", match[2], int(match[3] or 1)
    arguments(c, match[0], values, node, 3 if is_store else 2)
    pointer, offset = values[-1], values[-2]
    if not isinstance(pointer.type, PointerType) or width not in (1, 2, 3, 4, 8, 16):
        raise c.refuse(f"`{match[0]}` does not take these arguments", node)
    element = HALF if halves else element_of(pointer.type.pointee)
    held: ScalarType | VectorType = VectorType(element, width) if width > 1 else element
    step = np.int64((4 if halves == "a_half" and width == 3 else width) * element.size_bytes)
    base, number = pointer.run, converted(offset, LONG).run

    def address(f: Lanes) -> Value:
        return base(f) + number(f) * step

    access = c.access(node)
    place = Place(held, address=address, pointer=pointer.taint, index=offset.taint, access=access)
    if not is_store:
        value = load(c, place)
        if halves:
            return converted(value, VectorType(FLOAT, width) if width > 1 else FLOAT)
        return value
    given = values[0]
    if halves and not is_float(element_of(given.type)):
        raise c.refuse(f"`{match[0]}` does not take these arguments", node)
    put = _stored(c, place, assigned_as(given, held))
    return Code(put, VOID, is_pure=False)


def _stored(c: Compiler, place: Place, value: Code) -> Value:
    """vstore3 writes three elements: not the whole room of a 3-vector."""
    address, run, dtype, rows = place.address, value.run, dtype_of(element_of(place.type)), rows_at(place.type)
    access = place.access
    size = dtype.itemsize * (len(rows) if rows is not None else 1)
    c.cost += 10
    c.address_taints |= place.pointer | place.index
    for token in read_through(place.pointer):
        c.flows.assigned(token, value.taint)

    def put(f: Lanes) -> Value:
        if address is None:
            return None
        new, at = run(f), address(f)
        if access is not None:
            f.context.accesses[access].note(f, at, size)
        f.memory.store(f, at, new, dtype, rows)
        return new

    return put


def _async_copy(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    """`async_work_group_copy(to, from, count, event)`: done at once, by every active lane for its group."""
    is_strided = "strided" in name
    if len(values) != (5 if is_strided else 4):
        raise c.refuse(f"`{name}` is called with {len(values)} arguments", node)
    to, source, count = values[:3]
    if not isinstance(to.type, PointerType) or not isinstance(source.type, PointerType):
        raise c.refuse(f"`{name}` does not take these arguments", node)
    c.has_barriers = True
    element: Type = to.type.pointee
    size = max(1, element.size_bytes)
    unit = np.dtype(f"u{_unit(size)}")
    access = c.access(node)
    stride = converted(values[3], LONG).run if is_strided else None
    to_local = "local" in to.type.space or any(t.startswith("&%local") for t in to.taint)
    goal, begin, number = to.run, source.run, converted(count, LONG).run
    for token in read_through(to.taint):
        c.flows.assigned(token, read_through(source.taint))
    c.cost += 40

    def copy(f: Lanes) -> Value:
        a, b = goal(f), begin(f)
        total = int(np.max(number(f)))
        each = 1 if stride is None else max(1, int(np.max(stride(f))))
        if access is not None:
            f.context.accesses[access].note(f, b, size)
        total = min(total, _MOST_COPIED_BYTES // size)
        # One lane of each group copies for all.
        lanes = _first_of_groups(f, a, b)
        mask, active = f.mask, f.active
        f.mask, f.active = lanes, int(np.count_nonzero(lanes))
        parts = size // unit.itemsize
        f.meter.spend(10 + total * parts // 500, f.width)
        for first in range(0, total, 256):
            index = np.arange(first, min(total, first + 256), dtype=np.int64)
            inner = np.arange(parts, dtype=np.int64) * unit.itemsize
            near, far = index * size, index * size * each
            rows_from = ((near if not to_local else far)[:, None] + inner).reshape(-1, 1)
            rows_to = ((near if to_local else far)[:, None] + inner).reshape(-1, 1)
            f.memory.store(f, a, f.memory.load(f, b, unit, rows_from), unit, rows_to)
        f.mask, f.active = mask, active
        return np.int64(0)

    return Code(copy, OpaqueType("event_t"), is_pure=False)


def _unit(size: int) -> int:
    return next(unit for unit in (8, 4, 2, 1) if size % unit == 0)


def _first_of_groups(f: Lanes, a: Value, b: Value) -> Value:
    """Return one active lane for each pair of addresses."""
    lanes = np.zeros(f.width, np.bool_)
    active = np.flatnonzero(f.whole_mask())
    if not len(active):
        return lanes
    pairs = np.stack([np.broadcast_to(x, (f.width,))[active] for x in (a, b)], axis=1)
    _, first = np.unique(pairs, axis=0, return_index=True)
    lanes[active[first]] = True
    return lanes


def _nothing(_c: Compiler, _name: str, _values: list[Code], _node: Node) -> Code:
    zero = np.int32(0)
    return Code(lambda _: zero, VOID)


def _same_address(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    arguments(c, name, values, node, 1)
    return values[0]


def _fence_of(_c: Compiler, _name: str, _values: list[Code], _node: Node) -> Code:
    flags = np.uint32(2)
    return Code(lambda _: flags, UINT, None, flags)


MEMORY_FUNCTIONS: dict[str, Function] = {
    **table(_async_copy, "async_work_group_copy", "async_work_group_strided_copy"),
    **table(_nothing, "wait_group_events", "prefetch"),
    **table(_same_address, "to_global", "to_local", "to_private"),
    "get_fence": _fence_of,
}
