"""Literals, casts and initialisers: source text that names a type or a value outright."""

from __future__ import annotations

import re
from functools import lru_cache

from tree_sitter import Node

from model.opencl.builtin_types import DOUBLE, FLOAT, HALF, INT, LONG, UINT, ULONG, sized_type
from model.opencl.builtins import INTEGER_CONSTANTS
from model.opencl.constants import number as number_of
from model.opencl.syntax import without_parentheses
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
from model.work.execution.dispatch import value_of
from model.work.execution.findings import free_name, note_unreadable, nothing
from model.work.execution.lvalues import lvalue_of
from model.work.execution.operators import components, convert, hidden_by
from model.work.execution.state import ExecutionState
from model.work.execution.tables import completed_type, entries_by_part
from model.work.execution.unknowns import UnknownKind
from model.work.execution.values import UNKNOWN_TYPE, Aggregate, Other, Pointer, Scalar, Value, Vector, expression_of
from model.work.execution.variables import lookup
from model.work.expressions.symbolic import ZERO, Expression, number, opaque

_SUFFIX = re.compile(r"[uUlLfF]*\Z")


@lru_cache(4096)
def _number_and_type(text: str) -> tuple[int | str, ScalarType]:
    """Return the value of a literal (a float's by name) and its type (OpenCL C 3.0, section 6.4.2)."""
    value, suffix = number_of(text), _SUFFIX.search(text)
    letters = suffix[0].lower() if suffix else ""
    if not isinstance(value, int):
        return repr(value), FLOAT if "f" in letters else DOUBLE
    words = ["unsigned"] * ("u" in letters) + ["long"] * ("l" in letters)
    kind = sized_type(words)
    if not words and value > INTEGER_CONSTANTS["INT_MAX"]:
        kind = UINT if value <= INTEGER_CONSTANTS["UINT_MAX"] else LONG
    return value, kind


def number_literal(state: ExecutionState, node: Node) -> Value:
    value, kind = _number_and_type(state.reader.text(node))
    if isinstance(value, int):
        return Scalar(number(value), kind)
    if kind is DOUBLE:
        # The C grammar knows no `1.0h`: its suffix is masked.
        if "half" in state.reader.masked.between(node.start_byte, node.end_byte):
            kind = HALF
        elif "-cl-single-precision-constant" in state.program.options.flags:
            kind = FLOAT
    return Scalar(opaque("literal", value), kind)


def type_in_parentheses(state: ExecutionState, node: Node) -> Type | None:
    """`(float4)` where the grammar saw an expression."""
    if node.type != "parenthesized_expression" or len(node.named_children) != 1:
        return None
    name = node.named_children[0]
    if name.type not in ("identifier", "primitive_type", "type_identifier"):
        return None
    text = state.reader.text(name)
    return state.reader.names.type_named(text) if lookup(state, text) is None else None


def cast_to(state: ExecutionState, kind: Type, value: Value) -> Value:
    if isinstance(kind, PointerType) and isinstance(value, Pointer):
        space = kind.space if kind.space is not AddressSpace.PRIVATE else value.type.space
        return Pointer(value.memory, value.offset, PointerType(kind.pointee, space))
    if isinstance(kind, PointerType):
        return _pointer_of(kind, value)
    if isinstance(kind, OpaqueType):
        if kind.is_unknown:
            note_unreadable(state, UnknownKind.TYPE, kind.name)
        return value
    return convert(state, value, kind, explicit=True)


def _pointer_of(kind: PointerType, value: Value) -> Pointer:
    """Return an integer as a pointer: into the memory it was made from, if any, else into unknown memory."""
    if not isinstance(value, Scalar) or value.address is None:
        return Pointer(None, expression_of(value), kind)
    whole = Pointer(value.address, value.value, PointerType(kind.pointee, value.address.space))
    return whole._replace(hidden=hidden_by(value, 1, whole))


def vector_literal(state: ExecutionState, kind: Type, values: list[Value]) -> Value:
    """`(float4)(a, b, c, d)`, `(float4)(v2, a, b)`, `(float4)(a)`; for scalars, the last operand of a comma."""
    if not isinstance(kind, VectorType):
        return cast_to(state, kind, values[-1]) if values else nothing(state)
    if len(values) == 1 and not isinstance(values[0], Vector):
        return convert(state, values[0], kind)
    parts: list[Expression] = []
    for value in values:
        element = VectorType(kind.element, value.type.width) if isinstance(value, Vector) else kind.element
        parts.extend(components(convert(state, value, element)))
    parts = (parts + [ZERO] * kind.width)[: kind.width]
    return Vector(tuple(parts), kind)


def compound_literal(state: ExecutionState, node: Node) -> Value:
    kind_node, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    if kind_node is None or value is None:
        return nothing(state)
    return braced_value(state, value, state.reader.type_descriptor(kind_node))


def braced_value(state: ExecutionState, node: Node, kind: Type) -> Value:
    """Return `{a, b, ...}` as a value of type `kind`."""
    if isinstance(kind, StructType):
        return _braced_struct(state, node, kind)
    values = [
        value_of(state, c)
        for c in node.named_children
        if c.type not in ("initializer_pair", "initializer_list", "comment")
    ]
    for pair in (c for c in node.named_children if c.type == "initializer_pair"):
        inner = pair.child_by_field_name("value")
        if inner is not None and inner.type != "initializer_list":
            value_of(state, inner)
    match kind:
        case VectorType():
            return vector_literal(state, kind, values) if len(values) != 1 else convert(state, values[0], kind)
        case ScalarType() if values:
            return convert(state, values[0], kind)
        case _:
            return Other("", kind)


def _braced_struct(state: ExecutionState, node: Node, kind: StructType) -> Value:
    """Member by member, by place or by name; arrays in it are memory of their own, which is not followed here."""
    held: dict[str, Value] = {}
    is_known = not kind.is_union
    members = [name for name, _ in kind.members]
    for number_, entry in entries_by_part(node, members, lambda _: None):
        is_list = entry.type == "initializer_list"
        name, member = kind.members[number_] if number_ is not None and is_known else ("", UNKNOWN_TYPE)
        if isinstance(member, StructType | VectorType) and is_list:
            held[name] = braced_value(state, entry, member)
            continue
        value = braced_value(state, entry, UNKNOWN_TYPE) if is_list else value_of(state, entry)
        if isinstance(member, ScalarType | VectorType) or (isinstance(member, StructType) and value.type == member):
            held[name] = convert(state, value, member) if not isinstance(member, StructType) else value
        elif not isinstance(member, ArrayType) or not is_list:
            is_known = False  # braces left away: what follows is for members of this one
    if is_known:  # C sets the others to 0
        zero = Scalar(ZERO, INT)
        rest = ((n, k) for n, k in kind.members if n not in held and isinstance(k, ScalarType | VectorType))
        held |= {name: convert(state, zero, member) for name, member in rest}
    return Aggregate(tuple(held.items()), kind)


def size_of(state: ExecutionState, node: Node) -> Value:
    known = state.reader.constant(node)
    if known is None:
        argument = node.child_by_field_name("value")
        if argument is not None:
            known = _size_of_expression(state, without_parentheses(argument))
    return Scalar(number(known) if known is not None else free_name(state, "sizeof"), ULONG)


def _size_of_expression(state: ExecutionState, node: Node) -> int | None:
    """Return what `sizeof expression` is; the expression is not evaluated."""
    state.counting_disabled += 1
    declared = state.program.globals.get(state.reader.text(node)) if node.type == "identifier" else None
    if declared is not None and lookup(state, declared.name) is None:
        kind: Type = declared.type
        if isinstance(kind, ArrayType):
            kind = completed_type(kind, declared.value)
    else:
        lvalue = lvalue_of(state, node) if node.type != "call_expression" else None
        kind = lvalue.type if lvalue is not None else value_of(state, node).type
    state.counting_disabled -= 1
    return kind.size_bytes or None
