"""Parts of values: vector components by name, struct members by path."""

from __future__ import annotations

from model.opencl.builtin_types import INT
from model.opencl.types import ScalarType, StructType, Type, VectorType
from model.work.execution.narrow_ids import component_ids
from model.work.execution.values import Aggregate, Scalar, Value, Vector
from model.work.expressions.symbolic import ZERO

_SWIZZLE = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}


def with_path(value: Value, path: tuple[str, ...], new: Value) -> Value:
    if not path:
        return new
    if not isinstance(value, Aggregate):
        return value
    inner = value.member(path[0])
    if inner is None:
        kind = value.type.member(path[0])
        inner = Aggregate((), kind) if isinstance(kind, StructType) else Scalar(ZERO, INT)
    if value.type.is_union:  # what the other members held is overwritten
        return Aggregate(((path[0], with_path(inner, path[1:], new)),), value.type)
    return value.with_member(path[0], with_path(inner, path[1:], new))


def offset_of(kind: Type, path: tuple[str, ...]) -> int:
    """Bytes from the start of a struct to the member that `path` leads to."""
    at = 0
    for name in path:
        if not isinstance(kind, StructType):
            break
        index = next((i for i, (member, _) in enumerate(kind.members) if member == name), None)
        if index is None:
            break
        at += kind.offsets()[index]
        kind = kind.members[index][1]
    return at


def path_to(kind: Type, at: int | None, wanted: Type) -> tuple[str, ...] | None:
    """Return the path to what of type `wanted` lies `at` bytes from the start; None where there is no such member."""
    if at is None:
        return None
    path: list[str] = []
    while at or not _reads_as(kind, wanted):
        if not isinstance(kind, StructType):
            return None
        inside = [
            (at - start, name, member)
            for (name, member), start in zip(kind.members, kind.offsets(), strict=True)
            if start <= at < start + member.size_bytes
        ]
        if not inside:
            return None
        at, name, kind = next((i for i in inside if not i[0] and _reads_as(i[2], wanted)), inside[0])
        path.append(name)
    return tuple(path)


def _reads_as(kind: Type, wanted: Type) -> bool:
    if isinstance(kind, ScalarType) and isinstance(wanted, ScalarType):
        return kind.size_bytes == wanted.size_bytes
    return kind is wanted or kind == wanted


def picked(value: Value, swizzle: tuple[int, ...]) -> Value:
    """Return the named components of a vector value."""
    if not swizzle or not isinstance(value, Vector):
        return value
    parts = tuple(value.components[i] if i < len(value.components) else ZERO for i in swizzle)
    return (
        Scalar(parts[0], value.type.element, component_ids(parts[0], value.type.element))
        if len(parts) == 1
        else Vector(parts, VectorType(value.type.element, len(parts)))
    )


def swizzled(name: str, width: int) -> tuple[int, ...] | None:
    """Component numbers of `xyz`, `s03`, `lo`, `even` ... of a vector of `width`; None when it is no such name."""
    half = max(1, (4 if width == 3 else width) // 2)
    named = {
        "lo": range(half),
        "hi": range(half, 2 * half),
        "even": range(0, 2 * half, 2),
        "odd": range(1, 2 * half, 2),
    }
    if name in named:
        return tuple(named[name])
    if name[:1] in ("s", "S") and len(name) > 1:
        try:
            return tuple(int(c, 16) for c in name[1:])
        except ValueError:
            return None
    return tuple(_SWIZZLE[c] for c in name) if name and all(c in _SWIZZLE for c in name) else None
