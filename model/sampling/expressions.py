"""Expressions -> closures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from tree_sitter import Node

from model.opencl.builtin_types import INT, VOID
from model.opencl.types import (
    OpaqueType,
    PointerType,
    Type,
    VectorType,
)
from model.sampling.code import Code
from model.sampling.compiler import Compiler, constant, field, inner
from model.sampling.dispatch import expression, required_place
from model.sampling.initialisers import braced, vector_of
from model.sampling.leaves import LEAVES
from model.sampling.members import MEMBERS, pointee
from model.sampling.operators import binary, unary
from model.sampling.places import assigned_as, once, stored, value_of
from model.sampling.short_circuit import conditional, short_circuit
from model.sampling.values import Value

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes

_CAST_LIKE = frozenset({"+", "-", "*", "&"})


def named_type(c: Compiler, node: Node) -> Type | None:
    """`(float4)` where the grammar saw an expression in parentheses."""
    if node.type != "parenthesized_expression" or len(node.named_children) != 1:
        return None
    name = node.named_children[0]
    if name.type not in ("identifier", "primitive_type", "type_identifier"):
        return None
    text = c.text(name)
    return c.reader.names.type_named(text) if c.lookup(text) is None else None


def _binary(c: Compiler, node: Node) -> Code:
    """Compile a chain of operators on the left in a loop, as a sum of a thousand parts is a thousand levels deep."""
    chain = [node]
    while (left := field(c, chain[-1], "left")).type == "binary_expression" and c.reader.operator(left) not in (
        "&&",
        "||",
    ):
        if c.reader.operator(chain[-1]) in ("&&", "||"):
            break
        chain.append(left)
    result: Code | None = None
    outer = iter(reversed(chain))
    for each in outer:
        sign = c.reader.operator(each)
        right = field(c, each, "right")
        kind = named_type(c, right)
        if kind is not None and (further := next(outer, None)) is not None:  # `n * (uint) - x` is n times a cast
            after = field(c, further, "right")
            first_code = result if result is not None else expression(c, field(c, each, "left"))
            operand = cast(c, applied_unary(c, c.reader.operator(further), expression(c, after), after), kind, each)
            result = binary(c, sign, first_code, operand, each)
            continue
        if result is None:
            first = field(c, each, "left")
            kind = named_type(c, first)
            if kind is not None and sign in _CAST_LIKE:  # `(uint) - x` is a cast of `-x`
                result = applied_unary(c, sign, expression(c, right), right)
                result = cast(c, result, kind, each)
                continue
            if sign in ("&&", "||"):
                result = short_circuit(c, sign, expression(c, first), lambda r=right: expression(c, r), each)  # type: ignore[misc]
                continue
            result = expression(c, first)
        if sign in ("&&", "||"):
            result = short_circuit(c, sign, result, lambda r=right: expression(c, r), each)  # type: ignore[misc]
        else:
            result = binary(c, sign, result, expression(c, right), each)
    assert result is not None
    return result


def _unary(c: Compiler, node: Node) -> Code:
    argument = field(c, node, "argument")
    return applied_unary(c, c.reader.operator(node), expression(c, argument), node)


def applied_unary(c: Compiler, sign: str, value: Code, node: Node) -> Code:
    """Return a sign before a value, which may be a star before a pointer."""
    if sign == "*" and isinstance(value.type, PointerType):
        return value_of(c, pointee(c, value, node))
    return unary(c, sign, value, node)


def _update(c: Compiler, node: Node) -> Code:
    argument = field(c, node, "argument")
    place, again = once(c, required_place(c, argument), argument)
    sign = c.reader.operator(node)[:1]
    before = value_of(c, place)
    operator_node = node.child_by_field_name("operator")
    is_postfix = operator_node is not None and operator_node.start_byte >= argument.end_byte
    kind = place.type
    keep = before.run
    if is_postfix and place.address is not None:  # it is read once: what it gives and what is set are made of that
        slot, read = c.new_slot(), before.run

        def keep(f: Lanes) -> Value:
            old = f.values[slot] = read(f)
            return old

        before = replace(before, run=lambda f: f.values[slot], truth=None)
    set_new = stored(c, again, binary(c, sign, before, constant(1, INT), node))
    if not is_postfix:
        return Code(set_new, kind, is_pure=False, taint=before.taint)

    def run(f: Lanes) -> Value:
        old = keep(f)
        set_new(f)
        return old

    return Code(run, kind, is_pure=False, taint=before.taint)


def _assignment(c: Compiler, node: Node) -> Code:
    left, right = field(c, node, "left"), field(c, node, "right")
    sign = c.reader.operator(node)
    place = required_place(c, left)
    if right.type == "initializer_list":
        value = braced(c, right, place.type)
    elif sign == "=":
        value = expression(c, right)
    else:
        reading, place = once(c, place, left)
        value = binary(c, sign[:-1], value_of(c, reading), expression(c, right), node)
    run = stored(c, place, value)
    return Code(run, place.type, is_pure=False, taint=value.taint)


def _comma(c: Compiler, node: Node) -> Code:
    parts = [expression(c, n) for n in node.named_children if n.type != "comment"]
    runs, last = [p.run for p in parts[:-1]], parts[-1]
    final = last.run

    def run(f: Lanes) -> Value:
        for each in runs:
            each(f)
        return final(f)

    return Code(run, last.type, None, None, all(p.is_pure for p in parts), last.taint)


def _conditional(c: Compiler, node: Node) -> Code:
    chooser = expression(c, field(c, node, "condition"))
    yes, no = field(c, node, "consequence"), field(c, node, "alternative")
    return conditional(c, chooser, lambda: expression(c, yes), lambda: expression(c, no), node)


def _cast(c: Compiler, node: Node) -> Code:
    kind = c.reader.type_descriptor(field(c, node, "type"))
    value = field(c, node, "value")
    if isinstance(kind, VectorType) and value.type == "parenthesized_expression":
        parts = _comma_parts(inner(c, value))
        if len(parts) > 1:
            return vector_of(c, kind, [expression(c, p) for p in parts], node)
    return cast(c, expression(c, value), kind, node)


def _comma_parts(node: Node) -> list[Node]:
    parts: list[Node] = []
    while node.type == "comma_expression":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            break
        if right.type == "comma_expression":
            return [*parts, left, *_comma_parts(right)]
        parts, node = [right, *parts], left
    return [node, *parts]


def cast(c: Compiler, value: Code, kind: Type, node: Node) -> Code:
    """Return an explicit conversion."""
    if isinstance(kind, PointerType):
        pointee = value.type.pointee if isinstance(value.type, PointerType) else None
        if pointee is None or kind.pointee.align_bytes > pointee.align_bytes:
            c.may_misalign = True
        return assigned_as(value, kind)
    if isinstance(kind, OpaqueType):
        if kind == VOID:
            return Code(value.run, VOID, is_pure=value.is_pure)
        raise c.refuse(f"the type `{kind.name}` is not known", node)
    if isinstance(kind, VectorType) and isinstance(value.type, VectorType) and kind.size_bytes != value.type.size_bytes:
        raise c.refuse(f"a cast from `{value.type.name}` to `{kind.name}`", node)
    return assigned_as(value, kind)


def _compound_literal(c: Compiler, node: Node) -> Code:
    return braced(c, field(c, node, "value"), c.reader.type_descriptor(field(c, node, "type")))


def _parenthesized(c: Compiler, node: Node) -> Code:
    return expression(c, inner(c, node))


EXPRESSIONS: dict[str, Callable[[Compiler, Node], Code]] = {
    **LEAVES,
    **MEMBERS,
    "parenthesized_expression": _parenthesized,
    "comma_expression": _comma,
    "binary_expression": _binary,
    "unary_expression": _unary,
    "update_expression": _update,
    "assignment_expression": _assignment,
    "conditional_expression": _conditional,
    "cast_expression": _cast,
    "compound_literal_expression": _compound_literal,
}
