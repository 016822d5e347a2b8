"""Several functions of one name (`__attribute__((overloadable))`): which of them a call means.

Clang chooses as C++ does: the function whose parameters the arguments fit best (its document "Attributes in Clang",
section `overloadable`). Here each conversion has a price, and the cheapest sum is taken; what is not known fits all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from model.opencl.declarations import Declared
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

EXACT = 0
QUALIFIED = 1  # another address space that may be the same, or `const`
PROMOTED = 2  # a narrow integer to int, float to double
UNSURE = 3  # one of the two types is not known
CONVERTED = 10  # between numbers
FAR = 14  # between integers and floats
SPREAD = 30  # a scalar becomes each component of a vector
_GENERIC = (AddressSpace.GENERIC, AddressSpace.PRIVATE)  # a pointer without a word may be either


class Callable(Protocol):
    """What a call may mean."""

    @property
    def parameters(self) -> tuple[Declared, ...]: ...


_Function = TypeVar("_Function", bound=Callable)


def chosen(functions: Sequence[_Function], arguments: Sequence[Type]) -> _Function | None:
    """Return the function that a call with these arguments means; None where it can be none of them.

    Of equally good ones the first is taken: a compiler would refuse them.
    """
    best: _Function | None = None
    least: int | None = None
    for function in functions:
        price = _price([parameter.type for parameter in function.parameters], arguments)
        if price is not None and (least is None or price < least):
            best, least = function, price
    return best


def same_parameters(a: Callable, b: Callable) -> bool:
    """Return whether two definitions are of one function: then the later one counts."""
    kinds = [[_plain(parameter.type) for parameter in each.parameters] for each in (a, b)]
    return kinds[0] == kinds[1]


def _plain(kind: Type) -> Type:
    return PointerType(kind.pointee, kind.space) if isinstance(kind, PointerType) else kind


def _price(parameters: Sequence[Type], arguments: Sequence[Type]) -> int | None:
    if len(parameters) != len(arguments):
        return None
    prices = [conversion(argument, parameter) for parameter, argument in zip(parameters, arguments, strict=True)]
    return None if None in prices else sum(price or 0 for price in prices)


def conversion(source: Type, target: Type) -> int | None:
    """Return the price of the implicit conversion of an argument to a parameter; None where there is none."""
    if source is target or source == target:
        return EXACT
    if _is_unknown(source) or _is_unknown(target):
        return UNSURE
    match source, target:
        case ScalarType(), ScalarType():
            return _between_scalars(source, target)
        case ScalarType(), VectorType():
            between = EXACT if source == target.element else _between_scalars(source, target.element)
            return SPREAD + between
        case ((PointerType() | ArrayType()), PointerType()):
            return _between_pointers(source, target)
        case ScalarType(), PointerType():
            return SPREAD if source.kind is not ScalarKind.FLOAT else None  # NULL
        case StructType(), StructType():
            return EXACT if source.name == target.name else None
    return None


def _between_scalars(source: ScalarType, target: ScalarType) -> int:
    is_float, to_float = (kind.kind is ScalarKind.FLOAT for kind in (source, target))
    if is_float != to_float:
        return FAR
    if is_float:
        return PROMOTED if target.size_bytes > source.size_bytes else CONVERTED
    if source.size_bytes < 4 and target.name == "int":
        return PROMOTED
    return CONVERTED + (source.size_bytes != target.size_bytes)


def _between_pointers(source: PointerType | ArrayType, target: PointerType) -> int | None:
    pointee = source.pointee if isinstance(source, PointerType) else source.element
    price = EXACT
    if isinstance(source, PointerType) and source.space is not target.space:
        if source.space not in _GENERIC and target.space not in _GENERIC:
            return None
        price = QUALIFIED
    if pointee == target.pointee:
        return price + (QUALIFIED if isinstance(source, PointerType) and source.is_const != target.is_const else EXACT)
    if _is_unknown(pointee) or _is_unknown(target.pointee):
        return price + UNSURE
    return SPREAD + price if target.pointee == OpaqueType("void") else None


def _is_unknown(kind: Type) -> bool:
    return isinstance(kind, OpaqueType) and (kind.is_unknown or kind.name == "void")
