"""Loading from variables and memory; storing is in `stores`."""

from __future__ import annotations

from model.opencl.types import (
    AddressSpace,
    ArrayType,
    OpaqueType,
    PointerType,
    ScalarType,
    StructType,
    Type,
    VectorType,
)
from model.work.execution.costs import count_access
from model.work.execution.findings import assume, note_unreadable
from model.work.execution.lvalues import Location, Lvalue, Slot
from model.work.execution.operators import components, convert
from model.work.execution.state import ExecutionState
from model.work.execution.swizzle import offset_of, path_to, picked
from model.work.execution.unknowns import UnknownKind
from model.work.execution.values import (
    MAX_NUMBERS,
    UNKNOWN_TYPE,
    Aggregate,
    Memory,
    Other,
    Pointer,
    Scalar,
    Value,
    Vector,
    components_in,
    element_name,
    numbers_in,
)
from model.work.execution.variables import fresh_value, value_held
from model.work.execution.writes import Origin, Spot
from model.work.expressions.symbolic import ZERO, Expression, number, opaque
from model.work.regions.region import Access

_LOST_POINTER_SPREAD = 1.5


def pointer_to(state: ExecutionState, slot: Slot) -> Pointer:
    """`&variable`, `&variable.member`."""
    if isinstance(slot.type, ArrayType):
        held = load_variable(state, slot)
        if isinstance(held, Pointer):
            return Pointer(held.memory, held.offset, PointerType(slot.type, AddressSpace.PRIVATE))
    whole = state.variables.types[slot.key]
    memory = Memory(f"&{state.variables.names[slot.key]}", AddressSpace.PRIVATE, whole, slot.key)
    return Pointer(memory, number(offset_of(whole, slot.path)), PointerType(slot.type, AddressSpace.PRIVATE))


def slot_at(state: ExecutionState, lvalue: Location) -> Slot | None:
    """Return the private variable, or the member of one, that a pointer leads to."""
    memory = lvalue.memory
    if memory is None or memory.variable is None:
        return None
    path = path_to(state.variables.types[memory.variable], lvalue.offset.constant, lvalue.type)
    return None if path is None else Slot(memory.variable, path, lvalue.type, lvalue.swizzle)


def _array_in(state: ExecutionState, key: int, path: tuple[str, ...], kind: ArrayType) -> Pointer:
    """Return an array in a struct: memory of its own, the same however it is reached."""
    memory = Memory(f"{'.'.join((state.variables.names[key], *path))} (private)", AddressSpace.PRIVATE, kind)
    state.variables.arrays_in.setdefault(key, {})[path] = memory
    return Pointer(memory, ZERO, PointerType(kind.element, AddressSpace.PRIVATE))


def load(state: ExecutionState, lvalue: Lvalue) -> Value:
    """Return what a variable or a place in memory holds, and count the load."""
    if isinstance(lvalue, Location):
        state.accessed = lvalue.at or state.accessed
        lvalue = slot_at(state, lvalue) or lvalue
    if isinstance(lvalue, Slot):
        return picked(load_variable(state, lvalue), lvalue.swizzle)
    memory = lvalue.memory
    if memory is not None and memory.variable is not None:
        return _load_reinterpreted(state, memory, memory.variable, lvalue)
    match lvalue.type:
        case ArrayType():
            # An array decays to a pointer to its first element.
            return Pointer(
                memory,
                lvalue.offset,
                PointerType(lvalue.type.element, memory.space if memory else AddressSpace.PRIVATE),
                lvalue.hidden,
            )
        case StructType():
            return _load_struct(state, lvalue)
        case ScalarType() | VectorType() | PointerType():
            return _load_memory(state, lvalue)
        case OpaqueType(is_unknown=True):
            note_unreadable(state, UnknownKind.TYPE, lvalue.type.name)
            access_memory(state, lvalue, 4, is_store=False)
            return Other("", lvalue.type)
        case _:
            return Other("", lvalue.type)


def load_variable(state: ExecutionState, slot: Slot) -> Value:
    value = value_held(state, slot.key)
    kind = state.variables.types[slot.key]
    for depth, name in enumerate(slot.path, 1):
        member = value.member(name) if isinstance(value, Aggregate) else None
        kind = (kind.member(name) if isinstance(kind, StructType) else None) or UNKNOWN_TYPE
        if isinstance(kind, ArrayType) and not isinstance(member, Pointer):
            return _array_in(state, slot.key, slot.path[:depth], kind)
        value = member or fresh_value(state, kind, f"member `{name}`", rests=numbers_in(value))
    return value


def _load_reinterpreted(state: ExecutionState, memory: Memory, variable: int, lvalue: Location) -> Value:
    """Return a variable read as something that is no member of it."""
    held = value_held(state, variable)
    if isinstance(lvalue.type, ArrayType):
        words = Memory(f"{memory.name} as {lvalue.type.name}", AddressSpace.PRIVATE, lvalue.type)
        return Pointer(words, ZERO, PointerType(lvalue.type.element, AddressSpace.PRIVATE))
    if isinstance(held, Aggregate):
        return fresh_value(state, lvalue.type, f"part of `{memory.name}`", rests=numbers_in(held))
    return picked(convert(state, held, lvalue.type), lvalue.swizzle)


def _load_struct(state: ExecutionState, lvalue: Location) -> Value:
    """Member by member: those that nobody uses are not loaded."""
    kind = lvalue.type
    assert isinstance(kind, StructType)
    if kind.numbers > MAX_NUMBERS:
        note_unreadable(state, UnknownKind.STRUCT)
        access_memory(state, lvalue, kind.size_bytes, is_store=False)
        return Aggregate((), kind)
    members: list[tuple[str, Value]] = []
    for (name, member), at in zip(kind.members, kind.offsets(), strict=True):
        if isinstance(member, ScalarType | VectorType | StructType) and lvalue.memory is not None:
            place = Location(lvalue.memory, lvalue.offset + number(at), member, hidden=lvalue.hidden)
            members.append((name, load(state, place)))
        elif isinstance(member, ArrayType) and lvalue.memory is not None:
            space = lvalue.memory.space
            members.append(
                (
                    name,
                    Pointer(
                        lvalue.memory, lvalue.offset + number(at), PointerType(member.element, space), lvalue.hidden
                    ),
                )
            )
    if lvalue.memory is None:
        access_memory(state, lvalue, kind.size_bytes, is_store=False)
    return Aggregate(tuple(members), kind)


def _load_memory(state: ExecutionState, lvalue: Location) -> Value:
    kind, memory = lvalue.type, lvalue.memory
    if memory is None or isinstance(kind, PointerType):
        value = fresh_value(
            state,
            kind,
            "a pointer that is not followed" if memory is None else f"`{memory.name}`",
            rests=(lvalue.offset,),
        )
        access_memory(state, lvalue, kind.size_bytes, is_store=False, results=components(value))
        return value
    assert isinstance(kind, ScalarType | VectorType)
    if lvalue.swizzle and isinstance(kind, VectorType):
        return _load_components(state, memory, lvalue, kind)
    return load_from(state, memory, lvalue.offset, kind, touched_bytes(kind), hidden=lvalue.hidden)


def _load_components(state: ExecutionState, memory: Memory, lvalue: Location, kind: VectorType) -> Value:
    """Return the component if only one is loaded, else the vector."""
    if len(lvalue.swizzle) > 1:
        whole = load_from(state, memory, lvalue.offset, kind, touched_bytes(kind), hidden=lvalue.hidden)
        return picked(whole, lvalue.swizzle)
    element = kind.element
    at = lvalue.offset + number(lvalue.swizzle[0] * element.size_bytes)
    held = state.memory.writes.held(spot_of(memory, lvalue.offset, kind))
    if held is not None and lvalue.swizzle[0] < len(held):
        return Scalar(held[lvalue.swizzle[0]], element)
    return load_from(state, memory, at, element, element.size_bytes, hidden=lvalue.hidden)


def load_from(
    state: ExecutionState,
    memory: Memory,
    offset: Expression,
    kind: ScalarType | VectorType,
    size: int,
    *,
    is_call: bool = False,
    hidden: int = 0,
) -> Value:
    """Return what memory holds: what was stored there last, or a load named by buffer, place and time of that."""
    element, width = (kind.element, kind.width) if isinstance(kind, VectorType) else (kind, 1)
    if memory.space is AddressSpace.PRIVATE or memory.space is AddressSpace.CONSTANT:
        state.memory.saw_registers = True
    table = state.memory.tables.get(memory.name)
    at = offset.constant
    if table is not None and at is not None:
        known = tuple(table[at + i * element.size_bytes] for i in range(width) if at + i * element.size_bytes in table)
        if len(known) == width:
            return Vector(known, kind) if isinstance(kind, VectorType) else Scalar(known[0], kind)
    spot = spot_of(memory, offset, kind)
    last = state.memory.writes.last(spot)
    # The same bytes may have been stored as more numbers or fewer: `float3`, `float4` and `char16` are 16 bytes.
    stored = last.value if last is not None and last.spot == spot else None
    known_parts = stored if stored is not None and len(stored) == width else None
    if known_parts is not None and last is not None and last.origin is not Origin.BARRIER:
        parts = known_parts
    else:
        version = last.stamp if last is not None else 0
        loads = tuple(
            opaque("load", memory.name, offset + number(i * element.size_bytes), version) for i in range(width)
        )
        state.memory.loaded[spot] = kind
        parts = loads if known_parts is None else known_parts  # loaded, whatever is known of it
        place = Location(memory, offset, kind, hidden=hidden)
        access_memory(state, place, size, is_store=False, is_call=is_call, results=loads, known=parts)
    return Vector(parts, kind) if isinstance(kind, VectorType) else Scalar(parts[0], kind)


def access_memory(
    state: ExecutionState,
    lvalue: Location,
    size: int,
    *,
    is_store: bool,
    is_atomic: bool = False,
    is_call: bool = False,
    results: tuple[Expression, ...] = (),
    stored: tuple[Expression, ...] = (),
    known: tuple[Expression, ...] = (),
) -> None:
    memory = lvalue.memory
    offset = lvalue.offset
    if memory is None:
        note_unreadable(state, UnknownKind.POINTER)
        text = "the target of a pointer on line {line} is not known: its accesses are assumed to be scattered"
        assume(state, "line {line}", text, _LOST_POINTER_SPREAD, is_guess=True)
    if lvalue.swizzle and isinstance(lvalue.type, VectorType):
        offset = offset + number(min(lvalue.swizzle) * lvalue.type.element.size_bytes)
    count_access(state, Access(
            memory.name if memory else "", memory.space if memory else lvalue.space, is_store, is_atomic,
            state.line, size, None if memory is None else offset, width=components_in(size, lvalue.type),
            is_call=is_call, hidden=lvalue.hidden, site=state.access_site(),
        ),
        results, stored, known,
    )  # fmt: skip


def touched_bytes(kind: Type) -> int:
    """Bytes moved for a value of this type: a 3-vector is read and written as 4 components."""
    return max(1, kind.size_bytes)


def spot_of(memory: Memory, offset: Expression, kind: Type) -> Spot:
    element = element_name(kind) if isinstance(kind, ScalarType) else "i8"
    return Spot(memory, offset, max(1, kind.size_bytes), element)
