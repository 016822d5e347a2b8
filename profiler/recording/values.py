"""Unpack the bytes of an argument by value into the numbers of a launch: the inverse of `profiler.packing`."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator

from model.launch.launch import Number
from model.opencl.types import ArrayType, ScalarKind, ScalarType, StructType, Type, VectorType, lane_names
from profiler.packing import FLOAT_FORMATS


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
