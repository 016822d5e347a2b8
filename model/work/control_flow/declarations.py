"""Declarations: variables, arrays and local memory, with their initialisers."""

from __future__ import annotations

from functools import partial

from tree_sitter import Node

from model.opencl.types import AddressSpace, ArrayType, PointerType, ScalarType, Type, VectorType
from model.work.execution.dispatch import value_of
from model.work.execution.findings import note_unreadable
from model.work.execution.literals import braced_value
from model.work.execution.lvalues import initial_value
from model.work.execution.operators import convert
from model.work.execution.state import ExecutionState
from model.work.execution.stores import note_store
from model.work.execution.tables import completed_type, table_of
from model.work.execution.unknowns import UnknownKind
from model.work.execution.values import Memory, Pointer, Scalar, Value, element_name, scalar_of
from model.work.execution.variables import declare, fresh_value, lookup
from model.work.execution.writes import Spot, Write
from model.work.expressions.symbolic import ZERO, number

MAX_FOLLOWED = 64  # elements of an initialised array that are followed one by one


def run_declaration(state: ExecutionState, node: Node) -> None:
    before = node.prev_sibling
    since = before.end_byte if before is not None else node.start_byte - 12
    for declared in state.reader.declared(node, since):
        state.at(node)
        kind = declared.type
        if isinstance(kind, ArrayType):
            kind = _with_lengths(state, kind, _sizes(declared.node))
            _array(state, declared.name, kind, declared.space or AddressSpace.PRIVATE, declared.value)
        elif declared.space is AddressSpace.LOCAL and not isinstance(kind, PointerType):
            memory = Memory(declared.name, AddressSpace.LOCAL, kind)
            state.memory.objects[declared.name] = memory
            state.memory.local_bytes[declared.name] = kind.size_bytes
            declare(
                state, declared.name, ArrayType(kind, 1), Pointer(memory, ZERO, PointerType(kind, AddressSpace.LOCAL))
            )
            state.variables.types[lookup(state, declared.name) or 0] = kind
        else:
            initial = _declared_value(state, kind, declared.value, declared.name)
            state.lifetimes.declared(declare(state, declared.name, kind, initial), initial, state.steps)


def _sizes(declarator: Node | None) -> list[Node | None]:
    """Return the sizes of an array, the innermost first, as the tree has them."""
    found = []
    while declarator is not None:
        if declarator.type == "array_declarator":
            found.append(declarator.child_by_field_name("size"))
        declarator = declarator.child_by_field_name("declarator")
    return found


def _with_lengths(state: ExecutionState, kind: ArrayType, sizes: list[Node | None]) -> ArrayType:
    """Return the type with lengths that variables give, as in `const int n = 256; float x[n];`."""
    length, size = kind.length, sizes[-1] if sizes else None
    if length is None and size is not None:
        value = value_of(state, size)
        length = value.value.constant if isinstance(value, Scalar) else None
    inner = kind.element
    return ArrayType(_with_lengths(state, inner, sizes[:-1]) if isinstance(inner, ArrayType) else inner, length)


def _declared_value(state: ExecutionState, kind: Type, value: Node | None, name: str) -> Value:
    if value is None:
        return fresh_value(state, kind, f"`{name}` before it is set", name)
    if value.type == "initializer_list":
        return braced_value(state, value, kind)
    result = value_of(state, value)
    return convert(state, result, kind) if isinstance(kind, ScalarType | VectorType | PointerType) else result


def _array(state: ExecutionState, name: str, kind: ArrayType, space: AddressSpace, value: Node | None) -> None:
    if kind.length is None and value is None:
        note_unreadable(state, UnknownKind.LENGTH, name)
    kind = completed_type(kind, value)
    unique = name if space is AddressSpace.LOCAL else f"{name} (private)"
    memory = Memory(unique, space, kind)
    state.memory.objects[unique] = memory
    if space is AddressSpace.LOCAL:
        state.memory.local_bytes[name] = kind.size_bytes or None
    elif space is AddressSpace.PRIVATE:
        state.memory.private_bytes[name] = kind.size_bytes
    array = Pointer(memory, ZERO, PointerType(kind.element, space))
    state.lifetimes.declared(declare(state, name, kind, array), array, state.steps)
    if value is not None and value.type == "initializer_list" and space is not AddressSpace.LOCAL:
        _initialise(state, memory, kind, value)


def _initialise(state: ExecutionState, memory: Memory, kind: ArrayType, value: Node) -> None:
    """Compilers copy short arrays from constants, or make registers of them: no store is counted."""
    table = table_of(value, kind, partial(initial_value, state), is_whole=memory.space is AddressSpace.CONSTANT)
    if table is None:
        note_store(state, Spot(memory, None, 1, "i8"))
    elif memory.space is AddressSpace.CONSTANT:
        state.memory.tables[memory.name] = table
    elif len(table) <= MAX_FOLLOWED:
        scalar = scalar_of(kind)
        for at, held in table.items():
            size = scalar.size_bytes
            state.memory.writes.add(Write(state.tick(), Spot(memory, number(at), size, element_name(scalar)), (held,)))
