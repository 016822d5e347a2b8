"""C's operators on arrays of one type: widths and signs as they are, division cut off, by zero 0."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from model.opencl.types import ScalarKind, ScalarType
from model.sampling.values import Value, dtype_of, is_float

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
