"""Places: what can stand left of `=`, and loading from them; storing is in `stores`."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from model.opencl.declarations import Declared
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
from model.work.operators import Operators, components
from model.work.region import Access
from model.work.swizzle import offset_of, path_to, picked, swizzled
from model.work.symbolic import ZERO, Expression, number, opaque
from model.work.unknowns import UnknownKind
from model.work.values import (
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
    expression_of,
    numbers_in,
)
from model.work.writes import Origin, Spot


@dataclass(frozen=True, slots=True)
class Slot:
    """A private variable, or a member of it; `swizzle` names vector components."""

    key: int
    path: tuple[str, ...]
    type: Type
    swizzle: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Location:
    """Somewhere in memory; `swizzle` names vector components."""

    memory: Memory | None
    offset: Expression
    type: Type
    swizzle: tuple[int, ...] = ()
    space: AddressSpace = AddressSpace.GLOBAL  # where the memory is not known
    at: tuple[int, int] | None = None  # the first and last byte of the expression that names it


Place = Slot | Location


class Places(Operators):
    """Loads and stores. Expressions proper are in `expressions`."""

    def value(self, node: Node) -> Value:
        raise NotImplementedError

    def global_place(self, declared: Declared) -> Location:
        """Where a struct at program scope lies; what a constant one holds is read from its initialiser."""
        raise NotImplementedError

    def place(self, node: Node) -> Place | None:
        """Return the place that `node` names, evaluating its subscripts; None when it names none."""
        match node.type:
            case "identifier":
                return self._named_place(self.reader.text(node))
            case "parenthesized_expression":
                return self.place(node.named_children[0]) if node.named_children else None
            case "subscript_expression":
                return self._subscript(node)
            case "pointer_expression" if self.reader.operator(node) == "*":
                argument = node.child_by_field_name("argument")
                pointer = self.value(argument) if argument else None
                return (
                    Location(
                        pointer.memory, pointer.offset, pointer.type.pointee, space=pointer.type.space, at=_bytes(node)
                    )
                    if isinstance(pointer, Pointer)
                    else None
                )
            case "field_expression":
                return self._field(node)
            case "cast_expression":
                inner = node.child_by_field_name("value")
                return self.place(inner) if inner else None
        return None

    def _named_place(self, name: str) -> Place | None:
        key = self.lookup(name)
        if key is None:
            declared = self.program.globals.get(name)
            is_struct = declared is not None and isinstance(declared.type, StructType)
            return self.global_place(declared) if declared is not None and is_struct else None
        kind, value = self.types[key], self.held(key)
        if isinstance(value, Pointer) and not isinstance(kind, PointerType):  # arrays, and all that is local memory
            return Location(value.memory, value.offset, kind)
        return Slot(key, (), kind)

    def _subscript(self, node: Node) -> Place | None:
        base_node, index_node = node.child_by_field_name("argument"), node.child_by_field_name("index")
        if base_node is None or index_node is None:
            return None
        base = self.value(base_node)
        index = expression_of(self.value(index_node))
        if isinstance(base, Pointer):
            pointee = base.type.pointee
            offset = base.offset + index * number(max(1, pointee.size_bytes))
            if base.memory is not None and _is_one_variable(index_node):
                self.stepped.add((base.memory.name, offset))
            return Location(base.memory, offset, pointee, space=base.type.space, at=_bytes(node))
        place = self.place(base_node) if isinstance(base, Vector) else None
        if isinstance(place, Slot) and index.constant is not None:
            return Slot(place.key, place.path, place.type, (index.constant,))
        return None

    def _field(self, node: Node) -> Place | None:
        argument, field = node.child_by_field_name("argument"), node.child_by_field_name("field")
        if argument is None or field is None:
            return None
        name = self.reader.text(field)
        operator = node.child_by_field_name("operator")
        if operator is not None and self.reader.text(operator) == "->":
            pointer = self.value(argument)
            base: Place | None = (
                Location(pointer.memory, pointer.offset, pointer.type.pointee, space=pointer.type.space)
                if isinstance(pointer, Pointer)
                else None
            )
        else:
            base = self.place(argument)
        if base is None:
            return None
        if isinstance(base.type, VectorType):
            swizzle = swizzled(name, base.type.width)
            if swizzle is None:
                return None
            if base.swizzle:
                swizzle = tuple(base.swizzle[i] for i in swizzle if i < len(base.swizzle))
            return (
                Slot(base.key, base.path, base.type, swizzle)
                if isinstance(base, Slot)
                else Location(base.memory, base.offset, base.type, swizzle, base.space, _bytes(node))
            )
        if isinstance(base.type, StructType):
            kind = base.type.member(name) or UNKNOWN_TYPE
            if kind is UNKNOWN_TYPE:
                self.unreadable(UnknownKind.MEMBER, name)
            if isinstance(base, Slot):
                return Slot(base.key, (*base.path, name), kind)
            at = dict(zip((n for n, _ in base.type.members), base.type.offsets(), strict=True)).get(name, 0)
            return Location(base.memory, base.offset + number(at), kind, space=base.space, at=_bytes(node))
        return (
            Slot(base.key, (*base.path, name), UNKNOWN_TYPE)
            if isinstance(base, Slot)
            else Location(base.memory, base.offset, UNKNOWN_TYPE, at=_bytes(node))
        )

    # --- private variables ---------------------------------------------------------------------------------

    def pointer_to(self, slot: Slot) -> Pointer:
        """`&variable`, `&variable.member`."""
        if isinstance(slot.type, ArrayType):
            held = self._load_slot(slot)
            if isinstance(held, Pointer):
                return Pointer(held.memory, held.offset, PointerType(slot.type, AddressSpace.PRIVATE))
        whole = self.types[slot.key]
        memory = Memory(f"&{self.named[slot.key]}", AddressSpace.PRIVATE, whole, slot.key)
        return Pointer(memory, number(offset_of(whole, slot.path)), PointerType(slot.type, AddressSpace.PRIVATE))

    def slot_at(self, place: Location) -> Slot | None:
        """Return the private variable, or the member of one, that a pointer leads to."""
        memory = place.memory
        if memory is None or memory.variable is None:
            return None
        path = path_to(self.types[memory.variable], place.offset.constant, place.type)
        return None if path is None else Slot(memory.variable, path, place.type, place.swizzle)

    def _array_in(self, key: int, path: tuple[str, ...], kind: ArrayType) -> Pointer:
        """An array in a struct is memory of its own, the same however it is reached."""
        memory = Memory(f"{'.'.join((self.named[key], *path))} (private)", AddressSpace.PRIVATE, kind)
        self.arrays_in.setdefault(key, {})[path] = memory
        return Pointer(memory, ZERO, PointerType(kind.element, AddressSpace.PRIVATE))

    # --- loads -------------------------------------------------------------------------------------------

    def load(self, place: Place) -> Value:
        if isinstance(place, Location):
            self.accessed = place.at or self.accessed
            place = self.slot_at(place) or place
        if isinstance(place, Slot):
            return picked(self._load_slot(place), place.swizzle)
        memory = place.memory
        if memory is not None and memory.variable is not None:
            return self._load_reinterpreted(memory, memory.variable, place)
        match place.type:
            case ArrayType():
                # An array decays to a pointer to its first element.
                return Pointer(
                    memory,
                    place.offset,
                    PointerType(place.type.element, memory.space if memory else AddressSpace.PRIVATE),
                )
            case StructType():
                return self._load_struct(place)
            case ScalarType() | VectorType() | PointerType():
                return self._load_memory(place)
            case OpaqueType(is_unknown=True):
                self.unreadable(UnknownKind.TYPE, place.type.name)
                self._access(place, 4, is_store=False)
                return Other("", place.type)
            case _:
                return Other("", place.type)

    def _load_slot(self, slot: Slot) -> Value:
        value = self.held(slot.key)
        kind = self.types[slot.key]
        for depth, name in enumerate(slot.path, 1):
            member = value.member(name) if isinstance(value, Aggregate) else None
            kind = (kind.member(name) if isinstance(kind, StructType) else None) or UNKNOWN_TYPE
            if isinstance(kind, ArrayType) and not isinstance(member, Pointer):
                return self._array_in(slot.key, slot.path[:depth], kind)
            value = member or self.fresh_value(kind, f"member `{name}`", rests=numbers_in(value))
        return value

    def _load_reinterpreted(self, memory: Memory, variable: int, place: Location) -> Value:
        """Return a variable read as something that is no member of it."""
        held = self.held(variable)
        if isinstance(place.type, ArrayType):
            words = Memory(f"{memory.name} as {place.type.name}", AddressSpace.PRIVATE, place.type)
            return Pointer(words, ZERO, PointerType(place.type.element, AddressSpace.PRIVATE))
        if isinstance(held, Aggregate):
            return self.fresh_value(place.type, f"part of `{memory.name}`", rests=numbers_in(held))
        return picked(self.convert(held, place.type), place.swizzle)

    def _load_struct(self, place: Location) -> Value:
        """Member by member: those that nobody uses are not loaded."""
        kind = place.type
        assert isinstance(kind, StructType)
        if kind.numbers > MAX_NUMBERS:
            self.unreadable(UnknownKind.STRUCT)
            self._access(place, kind.size_bytes, is_store=False)
            return Aggregate((), kind)
        members: list[tuple[str, Value]] = []
        for (name, member), at in zip(kind.members, kind.offsets(), strict=True):
            if isinstance(member, ScalarType | VectorType | StructType) and place.memory is not None:
                members.append((name, self.load(Location(place.memory, place.offset + number(at), member))))
            elif isinstance(member, ArrayType) and place.memory is not None:
                space = place.memory.space
                members.append(
                    (name, Pointer(place.memory, place.offset + number(at), PointerType(member.element, space)))
                )
        if place.memory is None:
            self._access(place, kind.size_bytes, is_store=False)
        return Aggregate(tuple(members), kind)

    def _load_memory(self, place: Location) -> Value:
        kind, memory = place.type, place.memory
        if memory is None or isinstance(kind, PointerType):
            value = self.fresh_value(
                kind, "a pointer that is not followed" if memory is None else f"`{memory.name}`", rests=(place.offset,)
            )
            self._access(place, kind.size_bytes, is_store=False, results=components(value))
            return value
        assert isinstance(kind, ScalarType | VectorType)
        if place.swizzle and isinstance(kind, VectorType):
            return self._load_components(memory, place, kind)
        return self.load_from(memory, place.offset, kind, touched_bytes(kind))

    def _load_components(self, memory: Memory, place: Location, kind: VectorType) -> Value:
        """Of one component only that is loaded; of several, the vector."""
        if len(place.swizzle) > 1:
            return picked(self.load_from(memory, place.offset, kind, touched_bytes(kind)), place.swizzle)
        element = kind.element
        at = place.offset + number(place.swizzle[0] * element.size_bytes)
        whole = self.writes.held(spot_of(memory, place.offset, kind))
        if whole is not None and place.swizzle[0] < len(whole):
            return Scalar(whole[place.swizzle[0]], element)
        return self.load_from(memory, at, element, element.size_bytes)

    def load_from(self, memory: Memory, offset: Expression, kind: ScalarType | VectorType, size: int) -> Value:
        """Return what memory holds: what was stored there last, or a load named by buffer, place and time of that."""
        element, width = (kind.element, kind.width) if isinstance(kind, VectorType) else (kind, 1)
        if memory.space is AddressSpace.PRIVATE or memory.space is AddressSpace.CONSTANT:
            self.saw_registers = True
        table = self.tables.get(memory.name)
        at = offset.constant
        if table is not None and at is not None:
            known = tuple(
                table[at + i * element.size_bytes] for i in range(width) if at + i * element.size_bytes in table
            )
            if len(known) == width:
                return Vector(known, kind) if isinstance(kind, VectorType) else Scalar(known[0], kind)
        spot = spot_of(memory, offset, kind)
        last = self.writes.last(spot)
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
            self.loaded[spot] = kind
            parts = loads if known_parts is None else known_parts  # loaded, whatever is known of it
            self._access(Location(memory, offset, kind), size, is_store=False, results=loads, known=parts)
        return Vector(parts, kind) if isinstance(kind, VectorType) else Scalar(parts[0], kind)

    def _access(
        self,
        place: Location,
        size: int,
        *,
        is_store: bool,
        is_atomic: bool = False,
        results: tuple[Expression, ...] = (),
        stored: tuple[Expression, ...] = (),
        known: tuple[Expression, ...] = (),
    ) -> None:
        memory = place.memory
        offset = place.offset
        if memory is None:
            self.unreadable(UnknownKind.POINTER)
        if place.swizzle and isinstance(place.type, VectorType):
            offset = offset + number(min(place.swizzle) * place.type.element.size_bytes)
        self.access(
            Access(
                memory.name if memory else "", memory.space if memory else place.space, is_store, is_atomic,
                self.line, size, None if memory is None else offset, width=components_in(size, place.type),
                site=self.access_site(),
            ),
            results, stored, known,
        )  # fmt: skip


def _bytes(node: Node) -> tuple[int, int]:
    return node.start_byte, node.end_byte


def touched_bytes(kind: Type) -> int:
    """Bytes moved for a value of this type: a 3-vector is read and written as 4 components."""
    return max(1, kind.size_bytes)


def spot_of(memory: Memory, offset: Expression, kind: Type) -> Spot:
    element = element_name(kind) if isinstance(kind, ScalarType) else "i8"
    return Spot(memory, offset, max(1, kind.size_bytes), element)


def _is_one_variable(index: Node) -> bool:
    """`x`, `x + 1`, `(x - 1)`: what compilers follow from one iteration to the next."""
    while index.type == "parenthesized_expression" and index.named_children:
        index = index.named_children[0]
    parts = index.named_children if index.type == "binary_expression" else [index]
    kinds = [part.type for part in parts]
    return kinds.count("identifier") == 1 and set(kinds) <= {"identifier", "number_literal"}
