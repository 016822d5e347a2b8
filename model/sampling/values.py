"""How values are held: one NumPy array for all lanes.

A scalar is an array of one number a lane, or a NumPy scalar where all lanes hold the same. A vector has a row for each
component, and as columns the lanes, or one column where all hold the same. A struct by value is a vector of its bytes.
A pointer is an address in 64 bits: the number of a segment, and the byte within it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from model.opencl.builtin_types import INT, LONG, SCALARS, UINT, ULONG
from model.opencl.types import (
    ArrayType,
    ImageType,
    OpaqueType,
    PointerType,
    ScalarKind,
    ScalarType,
    StructType,
    Type,
    VectorType,
)

Array = npt.NDArray[Any]
Value = Any  # an Array or a NumPy scalar: the two share no type that has operators

_LETTERS = {ScalarKind.SIGNED: "i", ScalarKind.UNSIGNED: "u", ScalarKind.FLOAT: "f", ScalarKind.BOOL: "b"}
DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype("?" if name == "bool" else f"{_LETTERS[kind.kind]}{kind.size_bytes}")
    for name, kind in SCALARS.items()
}
NO_TAINT: frozenset[str] = frozenset()


class NotInterpreted(Exception):
    """Something that the interpreter does not know; the message is a sentence for the user."""


class BudgetEnded(Exception):
    """The budget, or whoever waits, ends the run here."""


def dtype_of(kind: ScalarType) -> np.dtype[Any]:
    return DTYPES[kind.name]


def element_of(kind: Type) -> ScalarType:
    """Return what a number of this type, or each component of it, is held as."""
    match kind:
        case ScalarType():
            return kind
        case VectorType():
            return kind.element
        case PointerType() | ArrayType() | ImageType() | OpaqueType():
            return LONG
        case StructType():
            return SCALARS["uchar"]


def rows_of(kind: Type) -> int:
    """Return how many rows a value has; 0 for one that has no rows."""
    match kind:
        case VectorType():
            return kind.width
        case StructType():
            return max(1, kind.size_bytes)
        case _:
            return 0


def zero_of(kind: Type) -> Value:
    rows, dtype = rows_of(kind), dtype_of(element_of(kind))
    return np.zeros((rows, 1), dtype) if rows else dtype.type(0)


def distinct(numbers: Array) -> Array:
    """Return each number once, in ascending order; several times as fast as `np.unique`."""
    if len(numbers) < 2:
        return numbers
    ordered = np.sort(numbers)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))]


def is_float(kind: ScalarType) -> bool:
    return kind.kind is ScalarKind.FLOAT


def is_unsigned(kind: ScalarType) -> bool:
    return kind.kind is ScalarKind.UNSIGNED


def promoted(kind: ScalarType) -> ScalarType:
    """C's integer promotion: what is narrower than `int` is computed with as `int`."""
    return kind if is_float(kind) or kind.size_bytes >= 4 else INT


def common_scalar(a: ScalarType, b: ScalarType) -> ScalarType:
    """C's usual arithmetic conversions."""
    if is_float(a) or is_float(b):
        floats = [k for k in (a, b) if is_float(k)]
        return max(floats, key=lambda k: k.size_bytes)
    a, b = promoted(a), promoted(b)
    if a.size_bytes != b.size_bytes:
        return a if a.size_bytes > b.size_bytes else b
    return (UINT if a.size_bytes == 4 else ULONG) if is_unsigned(a) or is_unsigned(b) else a


def common_type(a: Type, b: Type) -> ScalarType | VectorType:
    """Return what two operands are converted to: a scalar beside a vector becomes a component of it."""
    if isinstance(a, VectorType):
        return a
    if isinstance(b, VectorType):
        return b
    return common_scalar(element_of(a), element_of(b))


def with_element(kind: Type, element: ScalarType) -> ScalarType | VectorType:
    """`kind` made of other numbers."""
    return VectorType(element, kind.width) if isinstance(kind, VectorType) else element


def integer_like(element: ScalarType, *, unsigned: bool = False) -> ScalarType:
    """Return the integer of the same size."""
    names = {1: "char", 2: "short", 4: "int", 8: "long"}
    return SCALARS[("u" if unsigned else "") + names[element.size_bytes]]
