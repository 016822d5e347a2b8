"""Built-in functions that touch memory: vload and vstore, atomics, images, group copies."""

from __future__ import annotations

import re

from model.opencl.builtin_types import HALF, INT, VOID, builtin_type
from model.opencl.builtins import INTEGER_CONSTANTS
from model.opencl.types import AddressSpace, VectorType
from model.work.counts import OpKind
from model.work.execution.builder import PendingLoop
from model.work.execution.costs import count_access, count_operations, new_block
from model.work.execution.findings import assume, nothing, unknown_number
from model.work.execution.loads import access_memory, load, load_from
from model.work.execution.lvalues import Location
from model.work.execution.operators import components, convert, hidden_by
from model.work.execution.state import ExecutionState
from model.work.execution.stores import atomic_access, note_store, store
from model.work.execution.values import (
    Memory,
    Other,
    Pointer,
    Scalar,
    Value,
    Vector,
    expression_of,
    is_float,
    scalar_of,
)
from model.work.execution.variables import fresh_value
from model.work.execution.writes import Spot
from model.work.expressions.operations import operation
from model.work.expressions.symbolic import LOCAL_SIZE, ONE, Atom, Expression, number, opaque, symbol
from model.work.regions.region import Access

VECTOR_MEMORY = re.compile(r"v(load|store)(a?_half)?(\d*)(?:_rt[ezpn])?\Z")
IMAGE_SIZE = {
    "get_image_width": "width",
    "get_image_height": "height",
    "get_image_depth": "depth",
    "get_image_array_size": "depth",
}
_PIXEL_BYTES = 16


def vector_memory(state: ExecutionState, match: re.Match[str], values: list[Value]) -> Value:
    """`vloadn(offset, p)` and `vstoren(v, offset, p)`: n elements at p + offset*n (section 6.15.7)."""
    is_store = match[1] == "store"
    pointer = values[-1] if values else None
    if not isinstance(pointer, Pointer):
        return nothing(state)
    width = int(match[3] or 1)
    element = scalar_of(pointer.type.pointee)
    size = width * element.size_bytes
    step = 4 * element.size_bytes if match[2] == "a_half" and width == 3 else size
    offset = pointer.offset + expression_of(values[-2]) * number(step) if len(values) >= 2 else pointer.offset
    computed = builtin_type("float") if match[2] else element
    kind = VectorType(scalar_of(computed or element), width) if width > 1 else scalar_of(computed or element)
    hidden = pointer.hidden | (hidden_by(values[-2], size, pointer) if len(values) >= 2 else 0)
    lvalue = Location(pointer.memory, offset, element, space=pointer.type.space, hidden=hidden)
    if is_store:
        parts = components(convert(state, values[0], kind))
        if match[2]:
            parts = tuple(opaque("convert", "half", p) for p in parts)
            count_operations(state, OpKind.CONVERT, HALF, *parts)
        access_memory(state, lvalue, size, is_store=True, is_call=True, stored=(*parts, offset))
        if pointer.memory is not None:
            note_store(state, Spot(pointer.memory, offset, size, "i8"), parts if not match[2] else None)
        return Other("", VOID)
    if pointer.memory is None:
        value = fresh_value(state, kind, "a pointer that is not followed", rests=(offset,))
        access_memory(state, lvalue, size, is_store=False, is_call=True, results=components(value))
        return value
    stored_as = VectorType(element, width) if width > 1 else element
    value = load_from(state, pointer.memory, offset, stored_as, size, is_call=True, hidden=hidden)
    if match[2]:
        parts = tuple(opaque("convert", "float", p) for p in components(value))
        count_operations(state, OpKind.CONVERT, HALF, *parts)
        return Vector(parts, kind) if isinstance(kind, VectorType) else Scalar(parts[0], kind)
    return value


def atomic_call(state: ExecutionState, name: str, values: list[Value]) -> Value:
    pointer = values[0] if values else None
    if not isinstance(pointer, Pointer):
        return nothing(state)
    kind = scalar_of(pointer.type.pointee)
    operands = tuple(part for v in values[1:] for part in components(v))
    atomic_access(state, pointer, kind, operands)
    return Scalar(unknown_number(state, f"`{name}`"), kind)


def image_call(state: ExecutionState, name: str, values: list[Value]) -> Value:
    image = next((v.name for v in values if isinstance(v, Other) and v.name), "")
    is_store = name.startswith("write")
    element = builtin_type({"f": "float", "h": "half"}.get(name[-1], "uint" if name.endswith("ui") else "int"))
    # A sampler may be a plain number here: what its flags come to.
    has_sampler = not is_store and len(values) > 2
    given = values[2:] if has_sampler else values[1:]
    is_nearest = has_sampler and _takes_the_nearest(values[1])
    position = next((v for v in given if isinstance(v, Vector | Scalar)), None)
    texel = opaque("texel", *(components(position) if position is not None else ()))
    offset = texel if position is not None else None
    access = Access(
        image,
        AddressSpace.GLOBAL,
        is_store,
        is_atomic=False,
        line=state.line,
        element_bytes=_PIXEL_BYTES,
        offset=offset,
        is_image=True,
        is_between_texels=not is_store and position is not None and is_float(position.type) and not is_nearest,
        site=state.access_site(),
    )
    kind = VectorType(scalar_of(element or INT), 4)
    spot = Spot(Memory(image, AddressSpace.GLOBAL, kind), None, _PIXEL_BYTES, "i8")
    if is_store:
        count_access(state, access, stored=tuple(part for v in values[1:] for part in components(v)))
        note_store(state, spot)
        return Other("", VOID)
    last = state.memory.writes.last(spot)
    parts = tuple(opaque("load", image, texel + number(i), last.stamp if last is not None else 0) for i in range(4))
    count_access(state, access, parts)
    return Vector(parts, kind)


def _takes_the_nearest(sampler: Value) -> bool:
    """Return whether a sampler is known not to interpolate."""
    flags = sampler.value.constant if isinstance(sampler, Scalar) else None
    return flags is not None and bool(int(flags) & INTEGER_CONSTANTS["CLK_FILTER_NEAREST"])


def image_query(state: ExecutionState, name: str, values: list[Value]) -> Value:
    image = values[0].name if values and isinstance(values[0], Other) else ""
    if name == "get_image_dim":
        return Vector(tuple(symbol(f"image.{image}.{d}") for d in ("width", "height")), VectorType(INT, 2))
    size = IMAGE_SIZE.get(name)
    return Scalar(symbol(f"image.{image}.{size}") if size else unknown_number(state, f"`{name}`"), INT)


def pipe_call(state: ExecutionState, name: str, values: list[Value]) -> Value:
    """Return what the packet costs in the work-item's own memory (section 6.15.17)."""
    packet = values[-1] if values else None
    if isinstance(packet, Pointer) and name in ("read_pipe", "write_pipe"):
        assume(state, name, f"the pipe's own memory in `{name}` is not counted", 1.5)
        kind = packet.type.pointee
        lvalue = Location(packet.memory, packet.offset, kind, space=packet.type.space)
        if name == "write_pipe":
            load(state, lvalue)
        else:
            store(state, lvalue, fresh_value(state, kind, f"`{name}`"))
    return Scalar(unknown_number(state, f"`{name}`"), INT)


def async_copy(state: ExecutionState, name: str, values: list[Value]) -> Value:
    """`async_work_group_copy(dst, src, n, event)`: the group together moves n elements.

    In two and three dimensions the pointers come with offsets, and the numbers of elements with their size.
    """
    size_of_element: int | None = None
    if name.endswith(("_2D2D", "_3D3D")) and len(values) > 7:
        size_of_element = expression_of(values[4]).constant
        counts = [expression_of(v) for v in values[5 : 7 + name.endswith("_3D3D")]]
        whole: Expression = ONE
        for each in counts:
            whole = whole * each
        values = [values[0], values[2], Scalar(whole, INT)]
    if len(values) < 3 or not isinstance(values[0], Pointer) or not isinstance(values[1], Pointer):
        return nothing(state)
    target, source, count = values[0], values[1], expression_of(values[2])
    element = source.type.pointee
    size: Expression = ONE
    for atom in LOCAL_SIZE:
        size = size * Expression({(atom,): 1})
    counter = Atom.new("symbol", (f"loop.{state.tick()}",))
    bytes_each = max(1, size_of_element or element.size_bytes)
    moved = Expression({(counter,): 1}) * number(bytes_each)
    outer = state.block
    state.block = body = new_block(state)
    access_memory(state, Location(source.memory, source.offset + moved, element), bytes_each, is_store=False)
    access_memory(state, Location(target.memory, target.offset + moved, element), bytes_each, is_store=True)
    state.block = outer
    if not state.counting_disabled:
        outer.inner.append(PendingLoop(operation("ceildiv", count, size), counter, body, state.line))
    if target.memory is not None:
        note_store(state, Spot(target.memory, None, 1, "i8"))
    return Other("", VOID)
