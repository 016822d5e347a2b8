"""Lvalues: the variable or the place in memory that an expression names, at program scope too."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from tree_sitter import Node

from model.opencl.declarations import Declared
from model.opencl.syntax import without_parentheses
from model.opencl.types import AddressSpace, PointerType, ScalarType, StructType, Type, VectorType
from model.work.execution.dispatch import value_of
from model.work.execution.findings import note_unreadable
from model.work.execution.operators import components, convert, hidden_by
from model.work.execution.state import ExecutionState
from model.work.execution.swizzle import swizzled
from model.work.execution.tables import table_of
from model.work.execution.unknowns import UnknownKind
from model.work.execution.values import UNKNOWN_TYPE, Memory, Pointer, Vector, expression_of
from model.work.execution.variables import lookup, value_held
from model.work.expressions.symbolic import ZERO, Expression, number


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
    hidden: int = 0  # as `Pointer.hidden`


Lvalue = Slot | Location


def lvalue_of(state: ExecutionState, node: Node) -> Lvalue | None:
    """Return the place that `node` names, evaluating its subscripts; None when it names none."""
    match node.type:
        case "identifier":
            return _named_lvalue(state, state.reader.text(node))
        case "parenthesized_expression":
            return lvalue_of(state, node.named_children[0]) if node.named_children else None
        case "subscript_expression":
            return _subscript(state, node)
        case "pointer_expression" if state.reader.operator(node) == "*":
            argument = node.child_by_field_name("argument")
            pointer = value_of(state, argument) if argument else None
            return pointed_at(pointer, node) if isinstance(pointer, Pointer) else None
        case "field_expression":
            return _field(state, node)
        case "cast_expression":
            inner = node.child_by_field_name("value")
            return lvalue_of(state, inner) if inner else None
    return None


def _named_lvalue(state: ExecutionState, name: str) -> Lvalue | None:
    key = lookup(state, name)
    if key is None:
        declared = state.program.globals.get(name)
        is_struct = declared is not None and isinstance(declared.type, StructType)
        return global_lvalue(state, declared) if declared is not None and is_struct else None
    kind, value = state.variables.types[key], value_held(state, key)
    if isinstance(value, Pointer) and not isinstance(kind, PointerType):  # arrays, and all that is local memory
        return Location(value.memory, value.offset, kind)
    return Slot(key, (), kind)


def _subscript(state: ExecutionState, node: Node) -> Lvalue | None:
    base_node, index_node = node.child_by_field_name("argument"), node.child_by_field_name("index")
    if base_node is None or index_node is None:
        return None
    base = value_of(state, base_node)
    given = value_of(state, index_node)
    index = expression_of(given)
    if isinstance(base, Pointer):
        pointee = base.type.pointee
        size = max(1, pointee.size_bytes)
        offset = base.offset + index * number(size)
        if base.memory is not None and _is_one_variable(index_node):
            state.memory.stepped.add((base.memory.name, offset))
        hidden = base.hidden | hidden_by(given, size, base)
        return Location(base.memory, offset, pointee, space=base.type.space, at=_bytes(node), hidden=hidden)
    lvalue = lvalue_of(state, base_node) if isinstance(base, Vector) else None
    if isinstance(lvalue, Slot) and index.constant is not None:
        return Slot(lvalue.key, lvalue.path, lvalue.type, (index.constant,))
    return None


def _field(state: ExecutionState, node: Node) -> Lvalue | None:
    argument, field = node.child_by_field_name("argument"), node.child_by_field_name("field")
    if argument is None or field is None:
        return None
    name = state.reader.text(field)
    operator = node.child_by_field_name("operator")
    if operator is not None and state.reader.text(operator) == "->":
        pointer = value_of(state, argument)
        base: Lvalue | None = pointed_at(pointer, node) if isinstance(pointer, Pointer) else None
    else:
        base = lvalue_of(state, argument)
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
            else Location(base.memory, base.offset, base.type, swizzle, base.space, _bytes(node), base.hidden)
        )
    if isinstance(base.type, StructType):
        kind = base.type.member(name) or UNKNOWN_TYPE
        if kind is UNKNOWN_TYPE:
            note_unreadable(state, UnknownKind.MEMBER, name)
        if isinstance(base, Slot):
            return Slot(base.key, (*base.path, name), kind)
        at = dict(zip((n for n, _ in base.type.members), base.type.offsets(), strict=True)).get(name, 0)
        offset = base.offset + number(at)
        return Location(base.memory, offset, kind, space=base.space, at=_bytes(node), hidden=base.hidden)
    return (
        Slot(base.key, (*base.path, name), UNKNOWN_TYPE)
        if isinstance(base, Slot)
        else Location(base.memory, base.offset, UNKNOWN_TYPE, at=_bytes(node))
    )


def pointed_at(pointer: Pointer, node: Node) -> Location:
    """Return where a pointer leads, read at `node`."""
    kind = pointer.type
    return Location(
        pointer.memory, pointer.offset, kind.pointee, space=kind.space, at=_bytes(node), hidden=pointer.hidden
    )


def _bytes(node: Node) -> tuple[int, int]:
    return node.start_byte, node.end_byte


def _is_one_variable(index: Node) -> bool:
    """`x`, `x + 1`, `(x - 1)`: what compilers follow from one iteration to the next."""
    index = without_parentheses(index)
    parts = index.named_children if index.type == "binary_expression" else [index]
    kinds = [part.type for part in parts]
    return kinds.count("identifier") == 1 and set(kinds) <= {"identifier", "number_literal"}


def global_lvalue(state: ExecutionState, declared: Declared) -> Location:
    name, kind, space = declared.name, declared.type, declared.space or AddressSpace.CONSTANT
    if name not in state.memory.objects:
        state.memory.objects[name] = Memory(name, space, kind)
        if space is AddressSpace.CONSTANT and declared.value is not None:
            read_table(state, name, kind, declared.value)
    return Location(state.memory.objects[name], ZERO, kind, space=space)


def read_table(state: ExecutionState, name: str, kind: Type, value: Node) -> None:
    reader, state.reader = state.reader, state.program.reader_of_global(name, state.names)
    state.counting_disabled += 1
    table = table_of(value, kind, partial(initial_value, state), is_whole=True)
    state.counting_disabled -= 1
    state.reader = reader
    if table is not None:
        state.memory.tables[name] = table


def initial_value(state: ExecutionState, node: Node, kind: ScalarType) -> Expression:
    """Return an initialiser as a value of type `kind`."""
    return components(convert(state, value_of(state, node), kind))[0]
