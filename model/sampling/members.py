"""Places by name, index, member and pointer; their values and addresses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tree_sitter import Node

from model.opencl.builtin_types import ULONG
from model.opencl.types import (
    AddressSpace,
    ArrayType,
    PointerType,
    ScalarType,
    StructType,
    Type,
    VectorType,
)
from model.sampling.code import Code, Place, Run
from model.sampling.compiler import Compiler, constant, field, inner
from model.sampling.dispatch import expression, place, required_place, type_of
from model.sampling.operators import offset_by
from model.sampling.places import (
    components_of,
    counted,
    member_of,
    picker,
    place_of_variable,
    swizzle,
    uncounted,
    value_of,
)
from model.sampling.program_variables import global_variable
from model.sampling.values import Array, Value, dtype_of, element_of, rows_of


def _parenthesized(c: Compiler, node: Node) -> Place | None:
    return place(c, inner(c, node))


def _variable(c: Compiler, node: Node) -> Place | None:
    name = c.text(node)
    variable = c.lookup(name)
    if variable is None and name in c.program.globals:
        variable = global_variable(c, name)
    return place_of_variable(variable) if variable is not None else None


def _pointed_at(c: Compiler, node: Node) -> Place | None:
    if c.reader.operator(node) != "*":
        return None
    return pointee(c, expression(c, field(c, node, "argument")), node)


def pointee(c: Compiler, pointer: Code, node: Node) -> Place:
    if not isinstance(pointer.type, PointerType):
        raise c.refuse(f"`{c.text(node)[:40]}` is not a pointer", node)
    return counted(c, Place(pointer.type.pointee, address=pointer.run, pointer=pointer.taint, is_followed=True), node)


def _element(c: Compiler, node: Node) -> Place:
    base = expression(c, field(c, node, "argument"))
    index_node = node.child_by_field_name("index") or next(
        (n for n in node.named_children[1:] if n.type != "comment"), None
    )
    if index_node is None:
        raise c.refuse(f"`{c.text(node)[:40]}` is not understood", node)
    index = expression(c, index_node)
    if isinstance(index.type, PointerType) and isinstance(base.type, ScalarType):
        base, index = index, base
    if not isinstance(base.type, PointerType):
        raise c.refuse(f"`{c.text(node)[:40]}` is not an array", node)
    run = offset_by(c, base, index)
    found = Place(base.type.pointee, address=run, pointer=base.taint, index=index.taint, is_followed=True)
    return found if isinstance(found.type, ArrayType) else counted(c, found, node)


def _member(c: Compiler, node: Node) -> Place | None:
    name = c.text(field(c, node, "field"))
    argument = field(c, node, "argument")
    operator_node = node.child_by_field_name("operator")
    if operator_node is not None and c.text(operator_node) == "->":
        pointer = expression(c, argument)
        if not isinstance(pointer.type, PointerType):
            raise c.refuse(f"`{c.text(argument)[:40]}` is not a pointer", node)
        base: Place | None = Place(pointer.type.pointee, address=pointer.run, pointer=pointer.taint, is_followed=True)
    else:
        base = place(c, argument)
        if base is not None:
            base = uncounted(c, base)
    if base is None:
        return None
    if isinstance(base.type, StructType):
        found = member_of(base, base.type, name)
    elif isinstance(base.type, VectorType):
        found = components_of(base, base.type, name)
    else:
        found = None
    if found is None:
        raise c.refuse(f"`{base.type.name[:40]}` has no member `{name[:40]}`", node)
    return found if isinstance(found.type, ArrayType) else counted(c, found, node)


def _loaded(c: Compiler, node: Node) -> Code:
    found = place(c, node)
    if found is not None:
        return value_of(c, found)
    name = c.text(field(c, node, "field"))
    value = expression(c, field(c, node, "argument"))
    return member_of_value(c, value, name, node)


def member_of_value(c: Compiler, value: Code, name: str, node: Node) -> Code:
    """Return a member of a vector or struct that is no place: the result of a call."""
    run = value.run
    if isinstance(value.type, VectorType):
        picks = swizzle(name, value.type.width)
        if picks is not None:
            take = picker(picks)
            kind: Type = value.type.element if len(picks) == 1 else VectorType(value.type.element, len(picks))
            return Code(lambda f: take(run(f)), kind, None, None, value.is_pure, value.taint)
    if isinstance(value.type, StructType):
        number = next((i for i, (member, _) in enumerate(value.type.members) if member == name), None)
        if number is not None:
            kind, at = value.type.members[number][1], value.type.offsets()[number]
            return Code(lambda f: _from_bytes(run(f), kind, at), kind, None, None, value.is_pure, value.taint)
    raise c.refuse(f"`{value.type.name[:40]}` has no member `{name[:40]}`", node)


def _from_bytes(data: Array, kind: Type, at: int) -> Value:
    """Return what lies `at` bytes from the start of structs, of which each column is one."""
    dtype, rows = dtype_of(element_of(kind)), rows_of(kind)
    size = dtype.itemsize * max(1, rows)
    lanes = np.ascontiguousarray(data[at : at + size].T).view(dtype)
    if rows:
        return np.ascontiguousarray(lanes.T)
    return lanes[:, 0] if len(lanes) > 1 else lanes[0, 0]


def _pointer(c: Compiler, node: Node) -> Code:
    if c.reader.operator(node) == "*":
        return value_of(c, required_place(c, node))
    argument = field(c, node, "argument")
    found = place(c, argument)
    if found is None or found.address is None:
        raise c.refuse(f"the address of `{c.text(argument)[:40]}` is not understood", node)
    run: Run = found.address
    found = uncounted(c, found)
    if found.picks:
        run = _moved(run, found.picks[0] * element_of(found.type).size_bytes)
    kind = PointerType(found.type, AddressSpace.GENERIC)
    return Code(run, kind, is_pure=False, taint=found.pointer | found.index)


def _moved(address: Run, by: int) -> Run:
    return lambda f: address(f) + by


def _sizeof(c: Compiler, node: Node) -> Code:
    known = c.reader.constant(node)
    if known is None:
        argument = field(c, node, "value")
        while argument.type == "parenthesized_expression":
            argument = inner(c, argument)
        kind = type_of(c, argument)
        known = kind.size_bytes
    return constant(known, ULONG)


MEMBERS: dict[str, Callable[[Compiler, Node], Code]] = {
    "pointer_expression": _pointer,
    "subscript_expression": _loaded,
    "field_expression": _loaded,
    "sizeof_expression": _sizeof,
    "alignof_expression": _sizeof,
}

PLACES: dict[str, Callable[[Compiler, Node], Place | None]] = {
    "parenthesized_expression": _parenthesized,
    "identifier": _variable,
    "pointer_expression": _pointed_at,
    "subscript_expression": _element,
    "field_expression": _member,
}
