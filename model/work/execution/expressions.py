"""Expressions of the source -> symbolic values, counting what they cost on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tree_sitter import Node

from model.opencl.builtin_types import DOUBLE, FLOAT, INT, LONG
from model.opencl.builtins import FLOAT_CONSTANTS, INTEGER_CONSTANTS
from model.opencl.declarations import Declared
from model.opencl.syntax import without_parentheses
from model.opencl.types import AddressSpace, ArrayType, OpaqueType, PointerType, ScalarType, StructType, VectorType
from model.work.counts import OpKind
from model.work.execution.costs import count_operations, new_block
from model.work.execution.dispatch import value_of
from model.work.execution.findings import free_name, nothing, unknown_number
from model.work.execution.fused_integers import operations_saved
from model.work.execution.literals import (
    braced_value,
    cast_to,
    compound_literal,
    number_literal,
    size_of,
    type_in_parentheses,
)
from model.work.execution.loads import load, pointer_to
from model.work.execution.lvalues import Location, Slot, global_lvalue, lvalue_of, pointed_at, read_table
from model.work.execution.operators import binary, fused_multiply_add, truth_of, unary
from model.work.execution.selection import aside, join_sides, selected_value
from model.work.execution.state import ExecutionState
from model.work.execution.stores import store
from model.work.execution.swizzle import picked, swizzled
from model.work.execution.tables import completed_type
from model.work.execution.values import UNKNOWN_TYPE, Aggregate, Memory, Other, Pointer, Scalar, Value, Vector, is_float
from model.work.execution.variables import fresh_value, lookup, value_held
from model.work.expressions.operations import operation
from model.work.expressions.symbolic import ZERO, number, opaque

_CAST_LIKE = frozenset({"+", "-", "*", "&"})


def named_value(state: ExecutionState, node: Node) -> Value:
    name = state.reader.text(node)
    key = lookup(state, name)
    if key is not None:
        held = value_held(state, key)
        if isinstance(held, Pointer) and not isinstance(state.variables.types[key], PointerType | ArrayType):
            lvalue = lvalue_of(state, node)  # a number or a struct in local memory
            return load(state, lvalue) if lvalue is not None else held
        return held
    if name in state.reader.names.constants:
        return Scalar(number(state.reader.names.constants[name]), INT)
    if name in INTEGER_CONSTANTS:
        value = INTEGER_CONSTANTS[name]
        return Scalar(number(value), INT if abs(value) < 1 << 31 else LONG)
    if name in FLOAT_CONSTANTS:
        return Scalar(
            opaque("literal", name),
            DOUBLE if name.startswith(("M_", "DBL")) and not name.endswith(("_F", "_H")) else FLOAT,
        )
    declared = state.program.globals.get(name)
    if declared is not None:
        return _global(state, declared)
    if not node.text:
        return nothing(state)
    return Scalar(free_name(state, name), INT)


def _global(state: ExecutionState, declared: Declared) -> Value:
    """Return a variable at program scope; what a constant one holds is read from its initialiser."""
    name, kind, space = declared.name, declared.type, declared.space or AddressSpace.CONSTANT
    if isinstance(kind, ArrayType):
        kind = completed_type(kind, declared.value)
        if name not in state.memory.objects:
            state.memory.objects[name] = Memory(name, space, kind)
            if space is AddressSpace.CONSTANT and declared.value is not None:
                read_table(state, name, kind, declared.value)
        return Pointer(state.memory.objects[name], ZERO, PointerType(kind.element, space))
    if isinstance(kind, StructType):
        return load(state, global_lvalue(state, declared))
    if isinstance(kind, ScalarType):
        return Scalar(opaque("literal", name) if is_float(kind) else opaque("load", name, ZERO, 0), kind)
    return fresh_value(state, kind, f"`{name}`", name)


def binary_expression(state: ExecutionState, node: Node) -> Value:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = state.reader.operator(node)
    if left is None or right is None:
        return nothing(state)
    cast = _cast_before_sign(state, left, operator, right) if operator in _CAST_LIKE else None
    if cast is not None:
        return cast
    if operator in ("&&", "||"):
        return _short_circuit(state, node, operator, left, right)
    fused = _fused_integers(state, node)
    counted, block = len(state.block.ops), state.block
    a, b = value_of(state, left), value_of(state, right)
    state.at(node)
    if fused and not is_float(a.type) and not is_float(b.type):
        result = binary(state, operator, a, b)
        block.fused += max(0, min(fused, len(block.ops) - counted - 1)) * max(1, result.type.size_bytes // 4)
        return result
    if operator in ("+", "-") and (is_float(a.type) or is_float(b.type)):
        # By default OpenCL C contracts within an expression; of two products the left one is fused.
        product = a if _is_product(left) and is_float(a.type) else b if _is_product(right) else None
        if product is not None and is_float(product.type):
            return fused_multiply_add(state, operator, a, b, product=product)
    return binary(state, operator, a, b)


def _cast_before_sign(state: ExecutionState, left: Node, operator: str, right: Node) -> Value | None:
    """Return `(uint) - x` as a cast of `-x`, and `n * (uint) - x` as n times that: the grammar cannot know."""
    first = typed = None
    if left.type == "binary_expression":
        first, typed = left.child_by_field_name("left"), left.child_by_field_name("right")
    kind = type_in_parentheses(state, typed or left)
    if kind is None:
        return None
    before = value_of(state, first) if first is not None else None
    cast = cast_to(state, kind, _operand(state, operator, right))
    return cast if before is None else binary(state, state.reader.operator(left), before, cast)


def _operand(state: ExecutionState, operator: str, node: Node) -> Value:
    """Return what `operator` before an operand gives."""
    if operator == "&":
        return address_of(state, node)
    value = value_of(state, node)
    if operator == "*" and isinstance(value, Pointer):
        return load(state, pointed_at(value, node))
    return unary(state, operator, value)


def _fused_integers(state: ExecutionState, node: Node) -> int:
    """Return how many operations of the tree that begins here GPUs fuse with others; 0 within a tree."""
    known = state.fused_at.get(node.id)
    if known is None:
        known, inner = operations_saved(node)
        state.fused_at |= {node.id: known, **dict.fromkeys(inner, 0)}
    return known


def _short_circuit(state: ExecutionState, node: Node, operator: str, left: Node, right: Node) -> Value:
    first = truth_of(state, value_of(state, left))
    if first.constant is not None and bool(first.constant) == (operator == "||"):
        return Scalar(number(int(operator == "||")), INT)
    with aside(state) as side:
        second = truth_of(state, value_of(state, right))
    join_sides(state, node, first if operator == "&&" else operation("not", first), side, new_block(state))
    result = operation("and" if operator == "&&" else "or", first, second)
    count_operations(state, OpKind.INTEGER, INT, result)
    return Scalar(result, INT)


def conditional_expression(state: ExecutionState, node: Node) -> Value:
    parts = [node.child_by_field_name(f) for f in ("condition", "consequence", "alternative")]
    if parts[0] is None or parts[1] is None or parts[2] is None:
        return nothing(state)
    chooser = value_of(state, parts[0])
    condition = truth_of(state, chooser)
    if condition.constant is not None:
        return value_of(state, parts[1] if condition.constant else parts[2])
    with aside(state) as yes:
        a = value_of(state, parts[1])
    with aside(state) as no:
        b = value_of(state, parts[2])
    join_sides(state, node, condition, yes, no)
    return selected_value(state, condition, a, b)


def pointer_expression(state: ExecutionState, node: Node) -> Value:
    argument = node.child_by_field_name("argument")
    if argument is None:
        return nothing(state)
    if state.reader.operator(node) == "*":
        lvalue = lvalue_of(state, node)
        return load(state, lvalue) if lvalue is not None else nothing(state)
    return address_of(state, argument)


def address_of(state: ExecutionState, node: Node) -> Value:
    lvalue = lvalue_of(state, node)
    if isinstance(lvalue, Slot):
        return pointer_to(state, lvalue)
    if isinstance(lvalue, Location):
        kind = lvalue.type.element if isinstance(lvalue.type, VectorType) and lvalue.swizzle else lvalue.type
        space = lvalue.memory.space if lvalue.memory else AddressSpace.PRIVATE
        return Pointer(lvalue.memory, lvalue.offset, PointerType(kind, space), lvalue.hidden)
    value = value_of(state, node)
    return (
        value
        if isinstance(value, Pointer)
        else Pointer(None, unknown_number(state, "an address"), PointerType(value.type, AddressSpace.PRIVATE))
    )


def member_expression(state: ExecutionState, node: Node) -> Value:
    lvalue = lvalue_of(state, node)
    if lvalue is not None:
        return load(state, lvalue)
    argument = node.child_by_field_name("argument")
    base = value_of(state, argument) if argument else nothing(state)
    field = node.child_by_field_name("field")
    if field is not None and isinstance(base, Vector):
        swizzle = swizzled(state.reader.text(field), base.type.width)
        return picked(base, swizzle) if swizzle else nothing(state)
    if field is not None and isinstance(base, Aggregate):
        kind = base.type.member(state.reader.text(field)) or UNKNOWN_TYPE
        return base.member(state.reader.text(field)) or fresh_value(state, kind, "a member")
    if isinstance(base, Vector):
        index = node.child_by_field_name("index")
        if index is not None:
            value_of(state, index)
        return Scalar(unknown_number(state, "a component"), base.type.element)
    return Other("", UNKNOWN_TYPE) if isinstance(base, Other) else nothing(state)


def update_expression(state: ExecutionState, node: Node) -> Value:
    argument = node.child_by_field_name("argument")
    lvalue = lvalue_of(state, argument) if argument else None
    if lvalue is None:
        return nothing(state)
    before = load(state, lvalue)
    after = binary(state, state.reader.operator(node)[0], before, Scalar(number(1), INT))
    store(state, lvalue, after)
    operator = node.child_by_field_name("operator")
    postfix = operator is not None and argument is not None and operator.start_byte >= argument.end_byte
    return before if postfix else after


def assignment_expression(state: ExecutionState, node: Node) -> Value:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return nothing(state)
    operator = state.reader.operator(node)
    lvalue = lvalue_of(state, left)
    value = (
        value_of(state, right)
        if right.type != "initializer_list"
        else braced_value(state, right, lvalue.type if lvalue else UNKNOWN_TYPE)
    )
    state.at(node)
    if lvalue is None:
        return value
    if operator != "=":
        before = load(state, lvalue)
        fuses = operator in ("+=", "-=") and _is_product(right) and is_float(value.type)
        value = (
            fused_multiply_add(state, operator[:-1], before, value, product=value)
            if fuses
            else binary(state, operator[:-1], before, value)
        )
    store(state, lvalue, value)
    return value


def _is_product(node: Node) -> bool:
    node = without_parentheses(node)
    operator = node.child_by_field_name("operator")
    return node.type == "binary_expression" and operator is not None and operator.type == "*"


def character(state: ExecutionState, node: Node) -> Value:
    return Scalar(number(state.reader.constant(node) or 0), INT)


def boolean(_: ExecutionState, node: Node) -> Value:
    return Scalar(number(int(node.type == "true")), INT)


def null(_: ExecutionState, __: Node) -> Value:
    return Scalar(ZERO, INT)


def string(_: ExecutionState, __: Node) -> Value:
    return Other("", OpaqueType("string"))


def empty_parentheses(state: ExecutionState, _: Node) -> Value:
    return nothing(state)


def comma_expression(state: ExecutionState, node: Node) -> Value:
    for child in node.named_children[:-1]:
        value_of(state, child)
    return value_of(state, node.named_children[-1])


def unary_expression(state: ExecutionState, node: Node) -> Value:
    argument = node.child_by_field_name("argument")
    return unary(state, state.reader.operator(node), value_of(state, argument)) if argument else nothing(state)


def cast_expression(state: ExecutionState, node: Node) -> Value:
    kind, inner = node.child_by_field_name("type"), node.child_by_field_name("value")
    if not kind or not inner:
        return nothing(state)
    return cast_to(state, state.reader.type_descriptor(kind), value_of(state, inner))


def initializer_list(state: ExecutionState, node: Node) -> Value:
    return braced_value(state, node, UNKNOWN_TYPE)


# Calls and statements as values are added in `model.work.analyse`.
EXPRESSIONS: Mapping[str, Callable[[ExecutionState, Node], Value]] = {
    "identifier": named_value,
    "number_literal": number_literal,
    "char_literal": character,
    "true": boolean,
    "false": boolean,
    "null": null,
    "parenthesized_expression": empty_parentheses,  # others are looked through: see `dispatch`
    "string_literal": string,
    "concatenated_string": string,
    "comma_expression": comma_expression,
    "binary_expression": binary_expression,
    "unary_expression": unary_expression,
    "pointer_expression": pointer_expression,
    "update_expression": update_expression,
    "assignment_expression": assignment_expression,
    "conditional_expression": conditional_expression,
    "cast_expression": cast_expression,
    "subscript_expression": member_expression,
    "field_expression": member_expression,
    "sizeof_expression": size_of,
    "alignof_expression": size_of,
    "compound_literal_expression": compound_literal,
    "initializer_list": initializer_list,
}
