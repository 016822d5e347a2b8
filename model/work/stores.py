"""Storing to places, and atomics."""

from __future__ import annotations

from model.opencl.types import (
    AddressSpace,
    ArrayType,
    PointerType,
    ScalarType,
    StructType,
    Type,
    VectorType,
)
from model.work.operators import components
from model.work.places import Location, Place, Places, Slot, spot_of, touched_bytes
from model.work.swizzle import with_path
from model.work.symbolic import ZERO, Expression, number
from model.work.values import Aggregate, Memory, Pointer, Scalar, Value, Vector, numbers_in
from model.work.writes import Spot


class Stores(Places):
    """`store(place, value)`."""

    def store(self, place: Place, value: Value) -> None:
        if isinstance(place, Location):
            self.accessed = place.at or self.accessed
            place = self.slot_at(place) or place
        if isinstance(place, Slot):
            self._store_slot(place, value)
            return
        memory, kind = place.memory, place.type
        if memory is not None and memory.variable is not None:
            self._store_reinterpreted(memory.variable, place, value)
            return
        if isinstance(kind, StructType) and isinstance(value, Aggregate) and memory is not None:
            self._store_struct(memory, place.offset, value)
            return
        if place.swizzle and isinstance(kind, VectorType):
            width = len(place.swizzle)
            new = components(self.convert(value, VectorType(kind.element, width) if width > 1 else kind.element))
            if width < kind.width:  # compilers write the components one by one
                for index, part in zip(place.swizzle, new, strict=False):
                    offset = place.offset + number(index * kind.element.size_bytes)
                    self.store(Location(memory, offset, kind.element, space=place.space), Scalar(part, kind.element))
                return
            parts = list(new[: kind.width])  # names of too many components are nobody's OpenCL C, and are cut off
            for index, part in zip(place.swizzle, new, strict=False):
                if index < len(parts):
                    parts[index] = part
            place = Location(memory, place.offset, kind)
            value = Vector(tuple(parts), kind)
        parts_stored = components(self.convert(value, kind))
        if memory is None:
            self._access(place, touched_bytes(kind), is_store=True, stored=(*parts_stored, place.offset))
            self.forget_shared()
            return
        self.store_to(memory, place.offset, kind, parts_stored)

    def store_to(self, memory: Memory, offset: Expression, kind: Type, parts: tuple[Expression, ...]) -> None:
        """Write `parts`, unless that is what stands there already."""
        if memory.space is AddressSpace.PRIVATE:
            self.saw_registers = True
        spot = spot_of(memory, offset, kind)
        version = self.writes.last(spot)
        stamp = version.stamp if version is not None else 0
        size = kind.element.size_bytes if isinstance(kind, VectorType) else kind.size_bytes
        if all(
            p.atom is not None
            and p.atom.kind == "load"
            and p.atom.arguments == (memory.name, offset + number(i * size), stamp)
            for i, p in enumerate(parts)
        ):
            return
        if not any(spot in frame.promoted for frame in self.frames):
            self.store_access(Location(memory, offset, kind), touched_bytes(kind), parts)
        whole = isinstance(kind, ScalarType) or (isinstance(kind, VectorType) and len(parts) == kind.width)
        self.stored(spot, parts if whole else None)

    def store_access(self, place: Location, size: int, parts: tuple[Expression, ...]) -> None:
        self._access(place, size, is_store=True, stored=parts)

    def _store_struct(self, memory: Memory, offset: Expression, value: Aggregate) -> None:
        """Member by member, as compilers do with structs whose members they know."""
        kind = value.type
        for (name, member), at in zip(kind.members, kind.offsets(), strict=True):
            held = value.member(name)
            if isinstance(held, Aggregate):
                self._store_struct(memory, offset + number(at), held)
            elif held is None or isinstance(member, ArrayType):
                place = Location(memory, offset + number(at), member)
                self._access(place, member.size_bytes, is_store=True)
                self.stored(Spot(memory, place.offset, member.size_bytes, "i8"))
            else:
                self.store(Location(memory, offset + number(at), member), held)

    def _store_reinterpreted(self, variable: int, place: Location, value: Value) -> None:
        """A variable written as something that is no member of it."""
        held, kind = self.held(variable), self.types[variable]
        if isinstance(kind, ScalarType | VectorType | PointerType):
            self._store_slot(Slot(variable, (), kind, place.swizzle), value)
        else:
            self.forget_variable(variable, (*numbers_in(held), *numbers_in(value)))

    def forget_variable(self, variable: int, rests: tuple[Expression, ...]) -> None:
        """From here on nothing is known of a private variable but what it `rests` on, and where pointers lead."""
        kind, reason = self.types[variable], "written where it is not followed"
        self.values[variable] = _with_pointers(self.fresh_value(kind, reason, rests=rests), self.held(variable))
        for memory in self.arrays_in.get(variable, {}).values():
            self.stored(Spot(memory, None, 1, "i8"))

    def _store_slot(self, slot: Slot, value: Value) -> None:
        current = self.held(slot.key)
        if isinstance(slot.type, StructType):
            value = self._copied(slot, value)
        if slot.path:
            self.values[slot.key] = with_path(
                current,
                slot.path,
                self._swizzled_store(self._load_slot(Slot(slot.key, slot.path, slot.type)), slot, value),
            )
            return
        self.values[slot.key] = self._swizzled_store(current, slot, value)

    def _copied(self, slot: Slot, value: Value) -> Value:
        """Return a struct that is assigned to another: the arrays in it stay apart, their contents are not followed."""
        for path, memory in self.arrays_in.get(slot.key, {}).items():
            if path[: len(slot.path)] == slot.path:
                self.stored(Spot(memory, None, 1, "i8"))
        return (
            value if isinstance(value, Aggregate) else self.fresh_value(slot.type, "a struct", rests=numbers_in(value))
        )

    def _swizzled_store(self, current: Value, slot: Slot, value: Value) -> Value:
        if not slot.swizzle or not isinstance(slot.type, VectorType):
            return (
                self.convert(value, slot.type)
                if isinstance(slot.type, ScalarType | VectorType | PointerType)
                else value
            )
        width = len(slot.swizzle)
        new = components(self.convert(value, VectorType(slot.type.element, width) if width > 1 else slot.type.element))
        parts = list(current.components) if isinstance(current, Vector) else [ZERO] * slot.type.width
        for index, part in zip(slot.swizzle, new, strict=False):
            if index < len(parts):
                parts[index] = part
        return Vector(tuple(parts), slot.type)

    def atomic_access(self, pointer: Pointer, kind: ScalarType, operands: tuple[Expression, ...]) -> None:
        place = Location(pointer.memory, pointer.offset, kind)
        self._access(place, kind.size_bytes, is_store=True, is_atomic=True, stored=operands)
        if pointer.memory is not None:
            self.stored(spot_of(pointer.memory, pointer.offset, kind))


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
