"""Values of the symbolic execution: what a variable holds, as far as the launch decides it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from model.opencl.builtin_types import INT
from model.opencl.types import (
    AddressSpace,
    ArrayType,
    OpaqueType,
    PointerType,
    ScalarKind,
    ScalarType,
    StructType,
    Type,
    VectorType,
)
from model.work.execution.narrow_ids import HeldIds
from model.work.expressions.symbolic import ZERO, Expression


@dataclass(frozen=True, slots=True)
class Memory:
    """Something addressable: a buffer parameter, an array, or (by `&`) a private variable `variable`."""

    name: str
    space: AddressSpace
    type: Type  # of an element for buffers, of the whole for arrays
    variable: int | None = None  # key of the private variable that this is
    may_alias: bool = False  # a pointer parameter without `restrict`


class Scalar(NamedTuple):
    """A number. For floats `value` is only a name for it (equal names, equal values).

    Of a 64-bit integer made from a pointer, `address` is the memory it points into, and `value` the offset in bytes.
    """

    value: Expression
    type: ScalarType
    ids: HeldIds | None = None  # of neighbours, in what is computed in 32 bits
    held: int = 0  # bytes that its values need, where these are fewer than its type has: see `narrow_values`
    address: Memory | None = None


class Vector(NamedTuple):
    components: tuple[Expression, ...]
    type: VectorType


class Pointer(NamedTuple):
    """`offset` counts bytes from the start of `memory`, which is None where it is not known.

    `hidden`: bit d where compilers may not see that offsets are consecutive in dimension d (see `narrow_ids`).
    """

    memory: Memory | None
    offset: Expression
    type: PointerType
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A struct by value; members not listed are unknown."""

    members: tuple[tuple[str, Value], ...]
    type: StructType

    def member(self, name: str) -> Value | None:
        return next((v for n, v in self.members if n == name), None)

    def with_member(self, name: str, value: Value) -> Aggregate:
        return Aggregate((*(m for m in self.members if m[0] != name), (name, value)), self.type)


@dataclass(frozen=True, slots=True)
class Other:
    """Images, samplers, events, arrays as a whole, and what nobody knows. `name` is the parameter's, if it is one."""

    name: str
    type: Type


Value = Scalar | Vector | Pointer | Aggregate | Other

MAX_NUMBERS = 1024  # in a struct by value: members of a larger one are not followed one by one

UNKNOWN_TYPE = OpaqueType("unknown", is_unknown=True)


def integer(value: Expression, kind: ScalarType = INT) -> Scalar:
    return Scalar(value, kind)


_FLOAT = ScalarKind.FLOAT  # members of enumerations are slow to reach
_FLOATS = {size: f"f{8 * size}" for size in (2, 4, 8)}
_INTEGERS = {size: f"i{8 * size}" for size in (1, 2, 4, 8)}


def element_name(kind: ScalarType) -> str:
    """`f32`, `i64`: how counts name an element type (signedness costs nothing)."""
    return _FLOATS[kind.size_bytes] if kind.kind is _FLOAT else _INTEGERS[kind.size_bytes]


def scalar_of(kind: Type) -> ScalarType:
    """Return the scalar that a type is computed with; int where it is not arithmetic."""
    match kind:
        case ScalarType():
            return kind
        case VectorType():
            return kind.element
        case ArrayType():
            return scalar_of(kind.element)
        case _:
            return INT


def width_of(kind: Type) -> int:
    return kind.width if isinstance(kind, VectorType) else 1


def components_in(size_bytes: int, kind: Type) -> int:
    """Return how many numbers so many bytes of a number or vector hold; 1 for anything else."""
    return max(1, size_bytes // scalar_of(kind).size_bytes) if isinstance(kind, ScalarType | VectorType) else 1


def is_float(kind: Type) -> bool:
    return scalar_of(kind).kind is _FLOAT


def common_type(a: Type, b: Type) -> ScalarType | VectorType:
    """Return the usual arithmetic conversions (OpenCL C 3.0, section 6.3.6): a vector wins, then rank."""
    if isinstance(a, VectorType):
        return a
    if isinstance(b, VectorType):
        return b
    if a is b and isinstance(a, ScalarType) and a.size_bytes >= 4:
        return a
    x, y = scalar_of(a), scalar_of(b)
    floats = [t for t in (x, y) if t.kind is ScalarKind.FLOAT]
    if floats:
        return max(floats, key=lambda t: t.size_bytes)
    x, y = (INT if t.size_bytes < 4 else t for t in (x, y))
    if x.size_bytes != y.size_bytes:
        return max(x, y, key=lambda t: t.size_bytes)
    return x if x.kind is ScalarKind.UNSIGNED else y


def expression_of(value: Value) -> Expression:
    """Return the number that a value is, where it is one."""
    match value:
        case Scalar():
            return value.value
        case Vector():
            return value.components[0]
        case Pointer():
            return value.offset
        case _:
            return ZERO


def numbers_in(value: Value) -> tuple[Expression, ...]:
    """Return all numbers in a value, those of a struct's members in order."""
    match value:
        case Scalar():
            return (value.value,)
        case Vector():
            return value.components
        case Pointer():
            return (value.offset,)
        case Aggregate():
            return tuple(n for _, member in value.members for n in numbers_in(member))
        case _:
            return ()


def with_numbers(value: Value, parts: tuple[Expression, ...]) -> Value:
    """Return the value with its numbers replaced, in the order of `numbers_in`."""
    match value:
        case Scalar():
            return Scalar(parts[0], value.type, value.ids, address=value.address)
        case Vector():
            return Vector(parts, value.type)
        case Pointer():
            return Pointer(value.memory, parts[0], value.type, value.hidden)
        case Aggregate():
            members, at = [], 0
            for name, member in value.members:
                count = len(numbers_in(member))
                members.append((name, with_numbers(member, parts[at : at + count])))
                at += count
            return Aggregate(tuple(members), value.type)
        case _:
            return value
