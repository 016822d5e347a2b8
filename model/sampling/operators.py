"""C's operators between values: conversions, comparisons, and pointers counted on."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from tree_sitter import Node

from model.opencl.builtin_types import INT, LONG
from model.opencl.types import (
    PointerType,
    ScalarKind,
    ScalarType,
    Type,
    VectorType,
)
from model.sampling.code import Code, Run
from model.sampling.compiler import Compiler
from model.sampling.conversions import converted, truth_of
from model.sampling.places import (
    assigned_as,
)
from model.sampling.values import Value, common_type, dtype_of, element_of, integer_like, is_float, promoted

Binary = Callable[[Any, Any], Any]

COMPARISONS: dict[str, Binary] = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
BITWISE = frozenset({"&", "|", "^"})
SHIFTS = frozenset({"<<", ">>"})
_SAME: dict[str, Binary] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip


def binary_function(sign: str, kind: ScalarType) -> Binary | None:
    """`sign` between two values of type `kind`; None where C has no such operator."""
    if sign in _SAME:
        return None if is_float(kind) and sign in BITWISE else _SAME[sign]
    if sign == "/":
        if is_float(kind):
            return operator.truediv
        return _signed_divide if kind.kind is ScalarKind.SIGNED else np.floor_divide
    if sign == "%":
        return None if is_float(kind) else np.fmod
    if sign in SHIFTS and not is_float(kind):
        bits = dtype_of(kind).type(kind.size_bytes * 8 - 1)
        shift: Binary = np.left_shift if sign == "<<" else np.right_shift
        return lambda a, b: shift(a, b & bits)
    return None


def _signed_divide(a: Value, b: Value) -> Value:
    """Towards zero; NumPy's own division goes down."""
    return (a - np.fmod(a, b)) // b


UNARY: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "+": lambda a: a, "~": operator.invert}


def binary(c: Compiler, sign: str, a: Code, b: Code, node: Node) -> Code:
    """Compile `a sign b` with C's conversions."""
    if isinstance(a.type, PointerType) or isinstance(b.type, PointerType):
        return _pointer_arithmetic(c, sign, a, b, node)
    for side in (a, b):
        if not isinstance(side.type, ScalarType | VectorType):
            raise c.refuse(f"`{side.type.name}` has no operator `{sign}`", node)
    c.cost += 1
    taint = a.taint | b.taint
    pure = a.is_pure and b.is_pure
    if sign in SHIFTS:
        kind: ScalarType | VectorType = common_type(a.type, a.type if not isinstance(b.type, VectorType) else b.type)
        kind = kind if isinstance(kind, VectorType) else promoted(element_of(a.type))
    else:
        kind = common_type(a.type, b.type)
    element = element_of(kind)
    if isinstance(a.type, VectorType) and isinstance(b.type, VectorType) and a.type.width != b.type.width:
        raise c.refuse(f"`{sign}` between `{a.type.name}` and `{b.type.name}`", node)
    x, y = converted(a, _scalar_or(kind, a)), converted(b, _scalar_or(kind, b))
    if sign in COMPARISONS:
        return _comparison(COMPARISONS[sign], x, y, kind, pure, taint)
    function = binary_function(sign, element)
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
    """Return the type to convert an operand to: NumPy spreads scalars, so only their type is converted."""
    return kind if isinstance(code.type, VectorType) or isinstance(kind, ScalarType) else kind.element


def _applied(function: Binary, x: Code, y: Code) -> Run:
    left, right = x.run, y.run
    if y.constant is not None:
        value = y.constant
        return lambda f: function(left(f), value)
    if x.constant is not None:
        other = x.constant
        return lambda f: function(other, right(f))
    return lambda f: function(left(f), right(f))


def _exact_division(sign: str, element: ScalarType, divisor: Value) -> Binary | None:
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
    function: Binary, x: Code, y: Code, kind: ScalarType | VectorType, pure: bool, taint: frozenset[str]
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
    if sign in COMPARISONS:
        x, y = assigned_as(a, LONG), assigned_as(b, LONG)
        return _comparison(COMPARISONS[sign], x, y, LONG, pure, taint)
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
    """Return the address of an element."""
    if not isinstance(pointer.type, PointerType) or not isinstance(index.type, ScalarType) or is_float(index.type):
        raise c.refuse("an index is not a whole number")
    size = np.int64(-1 if backwards else 1) * np.int64(max(1, pointer.type.pointee.size_bytes))
    base, at = pointer.run, converted(index, LONG)
    c.cost += 3
    if at.constant is not None:
        distance = at.constant * size
        return lambda f: base(f) + distance
    number = at.run
    return lambda f: base(f) + number(f) * size


def unary(c: Compiler, sign: str, value: Code, node: Node) -> Code:
    c.cost += 1
    run = value.run
    if sign == "!":
        if isinstance(value.type, VectorType):
            signs = VectorType(integer_like(value.type.element), value.type.width)
            dtype = dtype_of(signs.element)
            return Code(lambda f: -((run(f) == 0).astype(dtype)), signs, None, None, value.is_pure, value.taint)
        truth = truth_of(value)
        return from_truth(lambda f: ~truth(f), is_pure=value.is_pure, taint=value.taint)
    if sign not in UNARY or not isinstance(value.type, ScalarType | VectorType):
        raise c.refuse(f"`{value.type.name}` has no operator `{sign}`", node)
    kind = value.type if isinstance(value.type, VectorType) else promoted(value.type)
    function, operand = UNARY[sign], converted(value, kind)
    inner_run = operand.run
    if operand.constant is not None:
        with np.errstate(all="ignore"):
            known = function(operand.constant)
        return Code(lambda _: known, kind, None, known)
    return Code(lambda f: function(inner_run(f)), kind, None, None, value.is_pure, value.taint)


def from_truth(truth: Run, *, is_pure: bool, taint: frozenset[str]) -> Code:
    """Booleans as C's int."""
    return Code(lambda f: truth(f).astype(np.int32), INT, truth, None, is_pure, taint)
