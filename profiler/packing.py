"""By-value arguments as the bytes that a kernel sees, and back (little-endian devices; OpenCL C 3.0, section 6.3)."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping

from model.launch.launch import Number
from model.opencl.kernel import Parameter
from model.opencl.types import ArrayType, ScalarKind, ScalarType, StructType, Type, VectorType, lane_names
from profiler.measurement import NeedsAnnotation

FLOAT_FORMATS = {2: "e", 4: "f", 8: "d"}


def pack_by_value(parameter: Parameter, scalars: Mapping[str, Number]) -> bytes:
    """Return the bytes of a scalar, vector or struct parameter. `scalars` names them `n`, `v` or `v.x`, `p.member`.

    Raises NeedsAnnotation for a value that is missing or does not fit. Padding, unions and arrays that nobody
    gave a value are zero.
    """
    return _pack(parameter.type, parameter.name, scalars)


def _pack(kind: Type, name: str, scalars: Mapping[str, Number]) -> bytes:
    match kind:
        case ScalarType():
            return _pack_scalar(kind, name, _value(name, scalars))
        case VectorType():
            lanes = [_component(name, lane, scalars) for lane in range(kind.width)]
            return b"".join(_pack_scalar(kind.element, name, v) for v in lanes).ljust(kind.size_bytes, b"\0")
        case StructType(is_union=False):
            data = bytearray(kind.size_bytes)
            for (member, member_type), at in zip(kind.members, kind.offsets(), strict=True):
                data[at : at + member_type.size_bytes] = _pack(member_type, f"{name}.{member}", scalars)
            return bytes(data)
        case ArrayType(length=int(length)) if name in scalars:
            return _pack(kind.element, name, scalars) * length
        case StructType() | ArrayType(length=int()):
            return bytes(kind.size_bytes)
        case _:
            raise NeedsAnnotation(f"`{name}` is a `{kind.name}`, which cannot be passed by value")


def _component(name: str, lane: int, scalars: Mapping[str, Number]) -> Number:
    spellings = lane_names(name, lane)
    given = next((spelling for spelling in spellings if spelling in scalars), name)
    return _value(given, scalars)


def _value(name: str, scalars: Mapping[str, Number]) -> Number:
    if name not in scalars:
        raise NeedsAnnotation(f"say what `{name}` is, for example: // kernelcast: {name}=1024")
    return scalars[name]


def _pack_scalar(kind: ScalarType, name: str, value: Number) -> bytes:
    try:
        if kind.kind is ScalarKind.FLOAT:
            return struct.pack(f"<{FLOAT_FORMATS[kind.size_bytes]}", value)
        return int(value).to_bytes(kind.size_bytes, "little", signed=value < 0 or kind.kind is ScalarKind.SIGNED)
    except (OverflowError, struct.error):
        raise NeedsAnnotation(f"{value} does not fit into `{name}`, which is a `{kind.name}`") from None


class Unreadable(Exception):
    """The bytes are no value of the parameter's type; the message says why."""


def unpack_by_value(name: str, kind: Type, data: bytes) -> tuple[tuple[str, Number], ...]:
    """Return the numbers in `data`: `n`, `v.x`, `p.member`. Raises Unreadable.

    Unions have none. An array in a struct has one number, if all its elements are equal.
    """
    if kind.size_bytes != len(data):
        raise Unreadable(f"`{name}` is a {kind.name} of {kind.size_bytes} bytes, and the program passed {len(data)}")
    return tuple(_unpacked(name, kind, data))


def _unpacked(name: str, kind: Type, data: bytes) -> Iterator[tuple[str, Number]]:
    match kind:
        case ScalarType():
            yield name, _number(name, kind, data)
        case VectorType():
            size = kind.element.size_bytes
            for lane in range(kind.width):
                spelling = lane_names(name, lane)[-1]
                yield spelling, _number(spelling, kind.element, data[lane * size : (lane + 1) * size])
        case StructType(is_union=False):
            for (member, member_type), at in zip(kind.members, kind.offsets(), strict=True):
                yield from _unpacked(f"{name}.{member}", member_type, data[at : at + member_type.size_bytes])
        case ArrayType(length=int(length), element=element) if length:
            parts = {data[at : at + element.size_bytes] for at in range(0, len(data), element.size_bytes)}
            if len(parts) == 1:
                yield from _unpacked(name, element, parts.pop())


def _number(name: str, kind: ScalarType, data: bytes) -> Number:
    if kind.kind is ScalarKind.FLOAT:
        (value,) = struct.unpack(f"<{FLOAT_FORMATS[kind.size_bytes]}", data)
        if not math.isfinite(value):
            raise Unreadable(f"`{name}` is {value}, which no launch can be given")
        return float(value)
    return int.from_bytes(data, "little", signed=kind.kind is ScalarKind.SIGNED)
