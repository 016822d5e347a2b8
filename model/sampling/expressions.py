"""Expressions -> closures, by the type of their node."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from tree_sitter import Node

from model.opencl.builtin_types import DOUBLE, FLOAT, HALF, INT, LONG, UINT, ULONG, VOID, sized_type
from model.opencl.builtins import FLOAT_CONSTANTS, INTEGER_CONSTANTS
from model.opencl.constants import number as number_of
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
from model.sampling import arithmetic
from model.sampling.compiler import Compiler, code_of_slot
from model.sampling.conversions import converted, truth_of
from model.sampling.places import (
    Place,
    again,
    assigned_as,
    components_of,
    counted,
    load,
    member_of,
    picker,
    place_of_variable,
    stored,
    swizzle,
    uncounted,
)
from model.sampling.short_circuit import conditional, short_circuit
from model.sampling.values import (
    Array,
    Code,
    Run,
    common_type,
    dtype_of,
    element_of,
    integer_like,
    is_float,
    promoted,
    rows_of,
    with_element,
)

_CAST_LIKE = frozenset({"+", "-", "*", "&"})
_SUFFIX = re.compile(r"[uUlLfF]*\Z")
_TINY = {"FLT": np.finfo(np.float32), "DBL": np.finfo(np.float64), "HALF": np.finfo(np.float16)}
_MATH = {
    "PI": np.pi, "PI_2": np.pi / 2, "PI_4": np.pi / 4, "E": np.e, "LN2": np.log(2), "LN10": np.log(10),
    "LOG2E": np.log2(np.e), "LOG10E": np.log10(np.e), "SQRT2": np.sqrt(2), "SQRT1_2": np.sqrt(0.5), "1_PI": 1 / np.pi,
    "2_PI": 2 / np.pi, "2_SQRTPI": 2 / np.sqrt(np.pi),
}  # fmt: skip


def expression(c: Compiler, node: Node) -> Code:
    """Compile any expression."""
    with c.inside(node):
        compiled = _BY_TYPE.get(node.type)
        if compiled is None:
            raise c.refuse(f"`{c.text(node)[:40]}` is not understood", node)
        return compiled(c, node)


def constant(value: Any, kind: Type) -> Code:  # noqa: ANN401
    held = dtype_of(element_of(kind)).type(value)
    return Code(lambda _: held, kind, None, held)


def field(c: Compiler, node: Node, name: str) -> Node:
    found = node.child_by_field_name(name)
    if found is None:
        raise c.refuse(f"`{c.text(node)[:40]}` is not understood", node)
    return found


def inner(c: Compiler, node: Node) -> Node:
    """What stands in parentheses."""
    found = [n for n in node.named_children if n.type != "comment"]
    if len(found) != 1:
        raise c.refuse(f"`{c.text(node)[:40]}` is not understood", node)
    return found[0]


# --- leaves ------------------------------------------------------------------------------------------------


def _number(c: Compiler, node: Node) -> Code:
    text = c.text(node)
    value, suffix = number_of(text), _SUFFIX.search(text)
    letters = suffix[0].lower() if suffix else ""
    if value is None:
        raise c.refuse(f"the number `{text[:40]}` is not understood", node)
    if isinstance(value, float) or (isinstance(value, int) and "f" in letters and text[:2].lower() != "0x"):
        kind = FLOAT if "f" in letters else DOUBLE
        if kind is DOUBLE:
            if "half" in c.reader.masked.between(node.start_byte, node.end_byte):
                kind = HALF
            elif "-cl-single-precision-constant" in c.program.options.flags:
                kind = FLOAT
        return constant(value, kind)
    is_hexadecimal = text[:2].lower() in ("0x", "0b")
    words = ["unsigned"] * ("u" in letters) + ["long"] * ("l" in letters)
    kind = sized_type(words)
    if kind is INT and value > 0x7FFFFFFF:
        kind = UINT if value <= 0xFFFFFFFF and is_hexadecimal else LONG
    if kind is UINT and value > 0xFFFFFFFF:
        kind = ULONG
    if kind is LONG and value > 0x7FFFFFFFFFFFFFFF:
        kind = ULONG
    return constant(_wrapped(value, kind), kind)


def _wrapped(value: int, kind: ScalarType) -> int:
    bits = kind.size_bytes * 8
    value &= (1 << bits) - 1
    return value - (1 << bits) if not kind.name.startswith("u") and value >> (bits - 1) else value


def _character(c: Compiler, node: Node) -> Code:
    return constant(c.reader.constant(node) or 0, INT)


def _name(c: Compiler, node: Node) -> Code:
    name = c.text(node)
    variable = c.lookup(name)
    if variable is not None:
        return value_of(c, place_of_variable(variable))
    if name in c.reader.names.constants and name not in c.program.globals:
        value = c.reader.names.constants[name]
        return constant(value, INT if -(1 << 31) <= value < 1 << 31 else LONG)
    if name in INTEGER_CONSTANTS:
        value = INTEGER_CONSTANTS[name]
        kind = INT if -(1 << 31) <= value < 1 << 31 else UINT if 0 <= value < 1 << 32 else LONG
        return constant(value, ULONG if value >= 1 << 63 else kind)
    if name in FLOAT_CONSTANTS:
        return _float_constant(name)
    if name in c.program.globals:
        return value_of(c, place_of_variable(c.global_variable(name)))
    if name in c.free_names:
        given = c.free_names[name]
        return constant(given, FLOAT if isinstance(given, float) else INT if -(1 << 31) <= given < 1 << 31 else LONG)
    raise c.refuse(f"`{name[:60]}` is not known to the interpreter", node)


def _float_constant(name: str) -> Code:
    if name.startswith("M_"):
        base, kind = name[2:], DOUBLE
        for suffix, narrow in (("_F", FLOAT), ("_H", HALF)):
            if base.endswith(suffix):
                base, kind = base.removesuffix(suffix), narrow
        return constant(_MATH[base], kind)
    if name in ("INFINITY", "HUGE_VALF"):
        return constant(np.inf, FLOAT)
    if name == "HUGE_VAL":
        return constant(np.inf, DOUBLE)
    if name == "NAN":
        return constant(np.nan, FLOAT)
    if name == "MAXFLOAT":
        return constant(np.finfo(np.float32).max, FLOAT)
    prefix, _, which = name.partition("_")
    kind = {"FLT": FLOAT, "DBL": DOUBLE, "HALF": HALF}[prefix]
    limits = _TINY[prefix]
    return constant({"MAX": limits.max, "MIN": limits.tiny, "EPSILON": limits.eps}[which], kind)


def value_of(c: Compiler, place: Place) -> Code:
    """The value of a place; of an array the address of its first element."""
    if isinstance(place.type, ArrayType):
        if place.address is None:
            raise c.refuse("an array is not in memory")
        kind = PointerType(place.type.element, AddressSpace.GENERIC)
        return Code(place.address, kind, taint=place.pointer | place.index)
    if place.slot is not None and not place.picks:
        c.used.add(place.slot)
        return code_of_slot(place.type, place.slot)
    return load(c, place)


# --- operators ---------------------------------------------------------------------------------------------


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
    """A chain of operators on the left is compiled in a loop: sums of a thousand parts are no thousand levels deep."""
    chain = [node]
    while (left := field(c, chain[-1], "left")).type == "binary_expression" and c.reader.operator(left) not in (
        "&&",
        "||",
    ):
        if c.reader.operator(chain[-1]) in ("&&", "||"):
            break
        chain.append(left)
    result: Code | None = None
    for each in reversed(chain):
        sign = c.reader.operator(each)
        right = field(c, each, "right")
        if result is None:
            first = field(c, each, "left")
            kind = named_type(c, first)
            if kind is not None and sign in _CAST_LIKE:  # `(uint) - x` is a cast of `-x`
                result = _unary_of(c, sign, expression(c, right), right)
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


def binary(c: Compiler, sign: str, a: Code, b: Code, node: Node) -> Code:
    """`a sign b` with C's conversions."""
    if isinstance(a.type, PointerType) or isinstance(b.type, PointerType):
        return _pointer_arithmetic(c, sign, a, b, node)
    for side in (a, b):
        if not isinstance(side.type, ScalarType | VectorType):
            raise c.refuse(f"`{side.type.name}` has no operator `{sign}`", node)
    c.cost += 1
    taint = a.taint | b.taint
    pure = a.is_pure and b.is_pure
    if sign in arithmetic.SHIFTS:
        kind: ScalarType | VectorType = common_type(a.type, a.type if not isinstance(b.type, VectorType) else b.type)
        kind = kind if isinstance(kind, VectorType) else promoted(element_of(a.type))
    else:
        kind = common_type(a.type, b.type)
    element = element_of(kind)
    if isinstance(a.type, VectorType) and isinstance(b.type, VectorType) and a.type.width != b.type.width:
        raise c.refuse(f"`{sign}` between `{a.type.name}` and `{b.type.name}`", node)
    x, y = converted(a, _scalar_or(kind, a)), converted(b, _scalar_or(kind, b))
    if sign in arithmetic.COMPARISONS:
        return _comparison(arithmetic.COMPARISONS[sign], x, y, kind, pure, taint)
    function = arithmetic.binary_function(sign, element)
    if function is None:
        raise c.refuse(f"`{a.type.name}` has no operator `{sign}`", node)
    if x.constant is not None and y.constant is not None:
        with np.errstate(all="ignore"):
            value = function(x.constant, y.constant)
        return Code(lambda _: value, kind, None, value)
    if sign in ("/", "%"):
        c.cost += 2
        if y.constant is not None and not is_float(element):
            shift = _exact_division(sign, element, y.constant)
            function = shift or function
    run = _applied(function, x, y)
    return Code(run, kind, None, None, pure, taint)


def _scalar_or(kind: ScalarType | VectorType, code: Code) -> Type:
    """A scalar beside a vector is spread by NumPy: only its type is converted."""
    return kind if isinstance(code.type, VectorType) or isinstance(kind, ScalarType) else kind.element


def _applied(function: arithmetic.Binary, x: Code, y: Code) -> Run:
    left, right = x.run, y.run
    if y.constant is not None:
        value = y.constant
        return lambda f: function(left(f), value)
    if x.constant is not None:
        other = x.constant
        return lambda f: function(other, right(f))
    return lambda f: function(left(f), right(f))


def _exact_division(sign: str, element: ScalarType, divisor: Any) -> arithmetic.Binary | None:  # noqa: ANN401
    """By a power of two, of numbers without a sign."""
    number = int(divisor) if getattr(divisor, "ndim", 0) == 0 else 0
    if not element.name.startswith("u") or number <= 0 or number & (number - 1):
        return None
    dtype = dtype_of(element)
    if sign == "%":
        rest = dtype.type(number - 1)
        return lambda a, _: a & rest
    by = dtype.type(number.bit_length() - 1)
    return lambda a, _: a >> by


def _comparison(
    function: arithmetic.Binary, x: Code, y: Code, kind: ScalarType | VectorType, pure: bool, taint: frozenset[str]
) -> Code:
    truth = _applied(function, x, y)
    if isinstance(kind, VectorType):
        whole = VectorType(integer_like(kind.element), kind.width)
        dtype = dtype_of(whole.element)
        return Code(lambda f: -(truth(f).astype(dtype)), whole, None, None, pure, taint)
    known = None
    if x.constant is not None and y.constant is not None:
        known = np.int32(function(x.constant, y.constant))
    return Code(lambda f: truth(f).astype(np.int32), INT, truth, known, pure, taint)


def _pointer_arithmetic(c: Compiler, sign: str, a: Code, b: Code, node: Node) -> Code:
    taint = a.taint | b.taint
    pure = a.is_pure and b.is_pure
    left, right = a.run, b.run
    if sign in arithmetic.COMPARISONS:
        x, y = assigned_as(a, LONG), assigned_as(b, LONG)
        return _comparison(arithmetic.COMPARISONS[sign], x, y, LONG, pure, taint)
    if isinstance(a.type, PointerType) and isinstance(b.type, PointerType):
        if sign != "-":
            raise c.refuse(f"pointers have no operator `{sign}`", node)
        size = np.int64(max(1, a.type.pointee.size_bytes))
        return Code(lambda f: (left(f) - right(f)) // size, LONG, None, None, pure, taint)
    if sign == "+" and isinstance(b.type, PointerType):
        a, b = b, a
    if sign not in ("+", "-") or not isinstance(a.type, PointerType) or not isinstance(b.type, ScalarType):
        raise c.refuse(f"a pointer has no such operator `{sign}`", node)
    run = offset_by(c, a, b, backwards=sign == "-")
    return Code(run, a.type, None, None, pure, taint)


def offset_by(c: Compiler, pointer: Code, index: Code, *, backwards: bool = False) -> Run:
    """The address of an element."""
    if not isinstance(pointer.type, PointerType) or not isinstance(index.type, ScalarType) or is_float(index.type):
        raise c.refuse("an index is no whole number")
    size = np.int64(-1 if backwards else 1) * np.int64(max(1, pointer.type.pointee.size_bytes))
    base, at = pointer.run, converted(index, LONG)
    c.cost += 3
    if at.constant is not None:
        distance = at.constant * size
        return lambda f: base(f) + distance
    number = at.run
    return lambda f: base(f) + number(f) * size


def _unary(c: Compiler, node: Node) -> Code:
    argument = field(c, node, "argument")
    return _unary_of(c, c.reader.operator(node), expression(c, argument), node)


def _unary_of(c: Compiler, sign: str, value: Code, node: Node) -> Code:
    c.cost += 1
    run = value.run
    if sign == "!":
        if isinstance(value.type, VectorType):
            kind = VectorType(integer_like(value.type.element), value.type.width)
            dtype = dtype_of(kind.element)
            return Code(lambda f: -((run(f) == 0).astype(dtype)), kind, None, None, value.is_pure, value.taint)
        truth = truth_of(value)
        return from_truth(lambda f: ~truth(f), is_pure=value.is_pure, taint=value.taint)
    if sign == "*" and isinstance(value.type, PointerType):
        return value_of(c, _pointee(c, value, node))
    if sign not in arithmetic.UNARY or not isinstance(value.type, ScalarType | VectorType):
        raise c.refuse(f"`{value.type.name}` has no operator `{sign}`", node)
    kind = value.type if isinstance(value.type, VectorType) else promoted(value.type)
    function, operand = arithmetic.UNARY[sign], converted(value, kind)
    inner_run = operand.run
    if operand.constant is not None:
        with np.errstate(all="ignore"):
            known = function(operand.constant)
        return Code(lambda _: known, kind, None, known)
    return Code(lambda f: function(inner_run(f)), kind, None, None, value.is_pure, value.taint)


def from_truth(truth: Run, *, is_pure: bool, taint: frozenset[str]) -> Code:
    """Booleans as C's int."""
    return Code(lambda f: truth(f).astype(np.int32), INT, truth, None, is_pure, taint)


def _update(c: Compiler, node: Node) -> Code:
    argument = field(c, node, "argument")
    place = required_place(c, argument)
    sign = c.reader.operator(node)[:1]
    before = value_of(c, place)
    after = binary(c, sign, before, constant(1, INT), node)
    operator_node = node.child_by_field_name("operator")
    is_postfix = operator_node is not None and operator_node.start_byte >= argument.end_byte
    keep, set_new = before.run, stored(c, again(place), after)
    kind = place.type
    if not is_postfix:
        return Code(set_new, kind, is_pure=False, taint=before.taint)

    def run(f: Any) -> Any:  # noqa: ANN401
        old = keep(f)
        set_new(f)
        return old

    return Code(run, kind, is_pure=False, taint=before.taint)


def _assignment(c: Compiler, node: Node) -> Code:
    left, right = field(c, node, "left"), field(c, node, "right")
    sign = c.reader.operator(node)
    place = required_place(c, left)
    if right.type == "initializer_list":
        value = c.braced(right, place.type)
    elif sign == "=":
        value = expression(c, right)
    else:
        before = value_of(c, place)
        value = binary(c, sign[:-1], before, expression(c, right), node)
        place = again(place)
    run = stored(c, place, value)
    return Code(run, place.type, is_pure=False, taint=value.taint)


def _comma(c: Compiler, node: Node) -> Code:
    parts = [expression(c, n) for n in node.named_children if n.type != "comment"]
    runs, last = [p.run for p in parts[:-1]], parts[-1]
    final = last.run

    def run(f: Any) -> Any:  # noqa: ANN401
        for each in runs:
            each(f)
        return final(f)

    return Code(run, last.type, None, None, all(p.is_pure for p in parts), last.taint)


def _conditional(c: Compiler, node: Node) -> Code:
    chooser = expression(c, field(c, node, "condition"))
    yes, no = field(c, node, "consequence"), field(c, node, "alternative")
    return conditional(c, chooser, lambda: expression(c, yes), lambda: expression(c, no), node)


# --- casts, members, elements ------------------------------------------------------------------------------


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
    """An explicit conversion."""
    if isinstance(kind, PointerType):
        pointee = value.type.pointee if isinstance(value.type, PointerType) else None
        if pointee is None or kind.pointee.align_bytes > pointee.align_bytes:
            c.may_misalign = True
        return assigned_as(value, kind)
    if isinstance(kind, OpaqueType):
        if kind == VOID:
            return Code(value.run, VOID, is_pure=value.is_pure)
        raise c.refuse(f"the type `{kind.name}` is not known", node)
    if isinstance(kind, VectorType) and isinstance(value.type, VectorType) and kind != value.type:
        if kind.size_bytes != value.type.size_bytes:
            raise c.refuse(f"a cast from `{value.type.name}` to `{kind.name}`", node)
    return assigned_as(value, kind)


def vector_of(c: Compiler, kind: VectorType, values: list[Code], node: Node) -> Code:
    """`(float4)(a, b.xy, c)`."""
    if len(values) == 1 and not isinstance(values[0].type, VectorType):
        return assigned_as(values[0], kind)
    parts = [converted(v, with_element(v.type, kind.element)) for v in values]
    if sum(rows_of(p.type) or 1 for p in parts) != kind.width:
        raise c.refuse(f"`{c.text(node)[:40]}` has not {kind.width} components", node)
    taint = frozenset().union(*(p.taint for p in parts))
    c.cost += 2 + len(parts)
    if all(p.constant is not None for p in parts):
        value = np.concatenate([np.reshape(p.constant, (-1, 1)) for p in parts])
        return Code(lambda _: value, kind, None, value)
    runs = [p.run for p in parts]
    spans, at = [], 0
    for part in parts:
        rows = rows_of(part.type)
        spans.append(slice(at, at + rows) if rows else at)
        at += rows or 1
    dtype, count = dtype_of(kind.element), kind.width

    def run(f: Any) -> Any:  # noqa: ANN401
        given = [each(f) for each in runs]
        width = max([v.shape[-1] if v.ndim else 1 for v in given])
        out: Array = np.empty((count, width), dtype)
        for span, value in zip(spans, given, strict=True):
            out[span] = value
        return out

    return Code(run, kind, None, None, all(p.is_pure for p in parts), taint)


def place(c: Compiler, node: Node) -> Place | None:
    """The place that an expression names; None for a mere value."""
    match node.type:
        case "parenthesized_expression":
            return place(c, inner(c, node))
        case "identifier":
            variable = c.lookup(c.text(node))
            if variable is None and c.text(node) in c.program.globals:
                variable = c.global_variable(c.text(node))
            return place_of_variable(variable) if variable is not None else None
        case "pointer_expression" if c.reader.operator(node) == "*":
            return _pointee(c, expression(c, field(c, node, "argument")), node)
        case "subscript_expression":
            return _element(c, node)
        case "field_expression":
            return _member(c, node)
    return None


def required_place(c: Compiler, node: Node) -> Place:
    found = place(c, node)
    if found is None:
        raise c.refuse(f"`{c.text(node)[:40]}` cannot be set", node)
    return found


def _pointee(c: Compiler, pointer: Code, node: Node) -> Place:
    if not isinstance(pointer.type, PointerType):
        raise c.refuse(f"`{c.text(node)[:40]}` is no pointer", node)
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
        raise c.refuse(f"`{c.text(node)[:40]}` is no array", node)
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
            raise c.refuse(f"`{c.text(argument)[:40]}` is no pointer", node)
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
    """A member of a vector or struct that is no place: the result of a call."""
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


def _from_bytes(data: Array, kind: Type, at: int) -> Any:  # noqa: ANN401
    """What lies `at` bytes from the start of structs, of which each column is one."""
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
    found = uncounted(c, found)
    run = found.address
    if found.picks:
        offset = found.picks[0] * element_of(found.type).size_bytes
        base = run
        run = lambda f: base(f) + offset  # noqa: E731
    kind = PointerType(found.type, AddressSpace.GENERIC)
    return Code(run, kind, is_pure=False, taint=found.pointer | found.index)


def _sizeof(c: Compiler, node: Node) -> Code:
    known = c.reader.constant(node)
    if known is None:
        argument = field(c, node, "value")
        while argument.type == "parenthesized_expression":
            argument = inner(c, argument)
        kind = c.type_of(argument)
        known = kind.size_bytes
    return constant(known, ULONG)


def _compound_literal(c: Compiler, node: Node) -> Code:
    return c.braced(field(c, node, "value"), c.reader.type_descriptor(field(c, node, "type")))


def _parenthesized(c: Compiler, node: Node) -> Code:
    only = inner(c, node)
    if only.type == "compound_statement":
        return c.block_value(only)
    return expression(c, only)


def _truth_name(c: Compiler, node: Node) -> Code:
    return constant(int(node.type == "true"), INT)


_BY_TYPE: dict[str, Callable[[Compiler, Node], Code]] = {
    "identifier": _name,
    "number_literal": _number,
    "char_literal": _character,
    "true": _truth_name,
    "false": _truth_name,
    "null": lambda _c, _n: constant(0, INT),
    "parenthesized_expression": _parenthesized,
    "compound_statement": lambda c, n: c.block_value(n),
    "string_literal": lambda _c, _n: constant(0, LONG),
    "concatenated_string": lambda _c, _n: constant(0, LONG),
    "comma_expression": _comma,
    "binary_expression": _binary,
    "unary_expression": _unary,
    "pointer_expression": _pointer,
    "update_expression": _update,
    "assignment_expression": _assignment,
    "conditional_expression": _conditional,
    "cast_expression": _cast,
    "call_expression": lambda c, n: c.call(n),
    "subscript_expression": _loaded,
    "field_expression": _loaded,
    "sizeof_expression": _sizeof,
    "alignof_expression": _sizeof,
    "compound_literal_expression": _compound_literal,
}
