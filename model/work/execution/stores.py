"""Storing to variables and memory, atomics, and what other work-items may have written since."""

from __future__ import annotations

from functools import partial

from model.opencl.kernel import ParameterKind
from model.opencl.types import AddressSpace, ArrayType, PointerType, ScalarType, StructType, VectorType
from model.work.execution.group_values import passed_on
from model.work.execution.loads import access_memory, load_variable, slot_at, spot_of, touched_bytes
from model.work.execution.lvalues import Location, Lvalue, Slot
from model.work.execution.operators import components, convert
from model.work.execution.state import ExecutionState
from model.work.execution.swizzle import with_path
from model.work.execution.values import Aggregate, Memory, Pointer, Scalar, Value, Vector, numbers_in
from model.work.execution.variables import fresh_value, value_held
from model.work.execution.writes import Origin, Spot, Write
from model.work.expressions.symbolic import ZERO, Atom, Expression, number

# How symbols begin that do not depend on the item of a group.
_SAME_IN_GROUP = ("arg.", "name.", "group_id.", "local_size.", "num_groups.", "global_size.", "image.")


def note_store(state: ExecutionState, spot: Spot, value: tuple[Expression, ...] | None = None) -> None:
    """After a store, loads from there (and from what may overlap) are new values."""
    is_sure = state.block is (state.control.frames[-1].body if state.control.frames else state.root)
    state.memory.writes.add(Write(state.tick(), spot, value, is_sure))


def forget_shared(state: ExecutionState) -> None:
    """Local and global memory may hold what other work-items wrote."""
    state.memory.writes.add(Write(state.tick(), None, None))


def wait_for_group(state: ExecutionState) -> None:
    """After a barrier, shared memory may hold what others wrote, but for what the whole group knows."""
    kept = passed_on(state.memory.writes.since_barrier(), partial(_is_uniform, state))
    forget_shared(state)
    for spot, value in kept.items():
        state.memory.writes.add(Write(state.tick(), spot, value, origin=Origin.BARRIER))


def _is_uniform(state: ExecutionState, leaf: Atom) -> bool:
    """Return whether `leaf`, which is no local or global id, is the same for all items of a group at this barrier."""
    name = str(leaf.arguments[0])
    if leaf.kind == "load":
        parameter = state.kernel.parameter(name)
        return name in state.program.globals or (parameter is not None and parameter.kind is ParameterKind.BUFFER)
    if name.startswith("loop."):
        return any(leaf in frame.counters for frame in state.control.frames)
    return leaf.kind == "symbol" and name.startswith(_SAME_IN_GROUP)


def store(state: ExecutionState, lvalue: Lvalue, value: Value) -> None:
    """Assign `value`, and count what that costs."""
    if isinstance(lvalue, Location):
        state.accessed = lvalue.at or state.accessed
        lvalue = slot_at(state, lvalue) or lvalue
    if isinstance(lvalue, Slot):
        _store_slot(state, lvalue, value)
        return
    memory, kind = lvalue.memory, lvalue.type
    if memory is not None and memory.variable is not None:
        _store_reinterpreted(state, memory.variable, lvalue, value)
        return
    if isinstance(kind, StructType) and isinstance(value, Aggregate) and memory is not None:
        _store_struct(state, lvalue, memory, value)
        return
    if lvalue.swizzle and isinstance(kind, VectorType):
        width = len(lvalue.swizzle)
        new = components(convert(state, value, VectorType(kind.element, width) if width > 1 else kind.element))
        if width < kind.width:  # compilers write the components one by one
            for index, part in zip(lvalue.swizzle, new, strict=False):
                offset = lvalue.offset + number(index * kind.element.size_bytes)
                place = Location(memory, offset, kind.element, space=lvalue.space, hidden=lvalue.hidden)
                store(state, place, Scalar(part, kind.element))
            return
        parts = list(new[: kind.width])  # names of too many components are nobody's OpenCL C, and are cut off
        for index, part in zip(lvalue.swizzle, new, strict=False):
            if index < len(parts):
                parts[index] = part
        lvalue = Location(memory, lvalue.offset, kind, hidden=lvalue.hidden)
        value = Vector(tuple(parts), kind)
    parts_stored = components(convert(state, value, kind))
    if memory is None:
        access_memory(state, lvalue, touched_bytes(kind), is_store=True, stored=(*parts_stored, lvalue.offset))
        forget_shared(state)
        return
    store_to(state, lvalue, memory, parts_stored)


def store_to(state: ExecutionState, lvalue: Location, memory: Memory, parts: tuple[Expression, ...]) -> None:
    """Write `parts` to a place in `memory`, unless that is what stands there already."""
    offset, kind = lvalue.offset, lvalue.type
    if memory.space is AddressSpace.PRIVATE:
        state.memory.saw_registers = True
    spot = spot_of(memory, offset, kind)
    version = state.memory.writes.last(spot)
    stamp = version.stamp if version is not None else 0
    size = kind.element.size_bytes if isinstance(kind, VectorType) else kind.size_bytes
    if all(
        p.atom is not None
        and p.atom.kind == "load"
        and p.atom.arguments == (memory.name, offset + number(i * size), stamp)
        for i, p in enumerate(parts)
    ):
        return
    if not any(spot in frame.promoted for frame in state.control.frames):
        store_access(state, Location(memory, offset, kind, hidden=lvalue.hidden), touched_bytes(kind), parts)
    whole = isinstance(kind, ScalarType) or (isinstance(kind, VectorType) and len(parts) == kind.width)
    note_store(state, spot, parts if whole else None)


def store_access(state: ExecutionState, lvalue: Location, size: int, parts: tuple[Expression, ...]) -> None:
    access_memory(state, lvalue, size, is_store=True, stored=parts)


def _store_struct(state: ExecutionState, place: Location, memory: Memory, value: Aggregate) -> None:
    """Member by member, as compilers do with structs whose members they know."""
    kind, offset = value.type, place.offset
    for (name, member), at in zip(kind.members, kind.offsets(), strict=True):
        held = value.member(name)
        lvalue = Location(memory, offset + number(at), member, hidden=place.hidden)
        if isinstance(held, Aggregate):
            _store_struct(state, lvalue, memory, held)
        elif held is None or isinstance(member, ArrayType):
            if isinstance(held, Pointer) and (held.memory, held.offset) == (memory, lvalue.offset):
                continue  # read from there as a whole, so nothing is copied
            access_memory(state, lvalue, member.size_bytes, is_store=True)
            note_store(state, Spot(memory, lvalue.offset, member.size_bytes, "i8"))
        else:
            store(state, lvalue, held)


def _store_reinterpreted(state: ExecutionState, variable: int, lvalue: Location, value: Value) -> None:
    """Write to a variable as something that is no member of it."""
    held, kind = value_held(state, variable), state.variables.types[variable]
    if isinstance(kind, ScalarType | VectorType | PointerType):
        _store_slot(state, Slot(variable, (), kind, lvalue.swizzle), value)
    else:
        forget_variable(state, variable, (*numbers_in(held), *numbers_in(value)))


def forget_variable(state: ExecutionState, variable: int, rests: tuple[Expression, ...]) -> None:
    """From here on nothing is known of a private variable but what it `rests` on, and where pointers lead."""
    kind, reason = state.variables.types[variable], "written where it is not followed"
    state.variables.values[variable] = _with_pointers(
        fresh_value(state, kind, reason, rests=rests), value_held(state, variable)
    )
    for memory in state.variables.arrays_in.get(variable, {}).values():
        note_store(state, Spot(memory, None, 1, "i8"))


def _store_slot(state: ExecutionState, slot: Slot, value: Value) -> None:
    current = value_held(state, slot.key)
    if isinstance(slot.type, StructType):
        value = _copied(state, slot, value)
    if slot.path:
        state.variables.values[slot.key] = with_path(
            current,
            slot.path,
            _swizzled_store(state, load_variable(state, Slot(slot.key, slot.path, slot.type)), slot, value),
        )
        return
    state.variables.values[slot.key] = _swizzled_store(state, current, slot, value)


def _copied(state: ExecutionState, slot: Slot, value: Value) -> Value:
    """Return a struct that is assigned to another: the arrays in it stay apart, their contents are not followed."""
    for path, memory in state.variables.arrays_in.get(slot.key, {}).items():
        if path[: len(slot.path)] == slot.path:
            note_store(state, Spot(memory, None, 1, "i8"))
    return value if isinstance(value, Aggregate) else fresh_value(state, slot.type, "a struct", rests=numbers_in(value))


def _swizzled_store(state: ExecutionState, current: Value, slot: Slot, value: Value) -> Value:
    if not slot.swizzle or not isinstance(slot.type, VectorType):
        return (
            convert(state, value, slot.type) if isinstance(slot.type, ScalarType | VectorType | PointerType) else value
        )
    width = len(slot.swizzle)
    new = components(convert(state, value, VectorType(slot.type.element, width) if width > 1 else slot.type.element))
    parts = list(current.components) if isinstance(current, Vector) else [ZERO] * slot.type.width
    for index, part in zip(slot.swizzle, new, strict=False):
        if index < len(parts):
            parts[index] = part
    return Vector(tuple(parts), slot.type)


def atomic_access(state: ExecutionState, pointer: Pointer, kind: ScalarType, operands: tuple[Expression, ...]) -> None:
    lvalue = Location(pointer.memory, pointer.offset, kind)
    access_memory(state, lvalue, kind.size_bytes, is_store=True, is_atomic=True, stored=operands)
    if pointer.memory is not None:
        note_store(state, spot_of(pointer.memory, pointer.offset, kind))


def _with_pointers(value: Value, before: Value) -> Value:
    """Pointers lead into the memory that they led into before."""
    if isinstance(value, Pointer) and isinstance(before, Pointer):
        return Pointer(before.memory, value.offset, value.type)
    if not isinstance(value, Aggregate) or not isinstance(before, Aggregate):
        return value
    kept = (
        (
            name,
            _with_pointers(Aggregate(value.members, member.type), member) if isinstance(member, Aggregate) else member,
        )
        for name, member in before.members
        if isinstance(member, Pointer | Aggregate)
    )
    return Aggregate((*value.members, *kept), value.type)
