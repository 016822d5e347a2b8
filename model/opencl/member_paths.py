"""Where a member lies in what a buffer is made of: of structs in arrays of structs, and of vectors."""

from __future__ import annotations

from dataclasses import dataclass

from model.opencl.types import ArrayType, StructType, Type, VectorType

COMPONENTS = {name: number for number, name in enumerate("xyzw")} | {f"s{n:x}": n for n in range(16)}


@dataclass(frozen=True, slots=True)
class Member:
    """A member and its first byte; `repeats` are the lengths and strides of the arrays around it, outermost first."""

    type: Type
    offset_bytes: int
    repeats: tuple[tuple[int, int], ...] = ()


def find_member(kind: Type, path: tuple[str, ...]) -> Member | None:
    """Return what `path` leads to from `kind`, through arrays as if each of their elements were meant."""
    found = Member(kind, 0)
    for name in path:
        found = _innermost(found)
        inner = _step(found.type, name)
        if inner is None:
            return None
        found = Member(inner.type, found.offset_bytes + inner.offset_bytes, found.repeats)
    return found


def member_names(kind: Type) -> tuple[str, ...]:
    """Return what may stand behind a dot after something of this type, or after one of an array's elements."""
    match _innermost(Member(kind, 0)).type:
        case StructType(members=members):
            return tuple(name for name, _ in members)
        case VectorType(width=width):
            return tuple(f"s{lane:x}" for lane in range(width))
        case _:
            return ()


def _innermost(found: Member) -> Member:
    kind = found.type
    if not isinstance(kind, ArrayType):
        return found
    repeats = (*found.repeats, (kind.length or 0, kind.element.size_bytes))
    return _innermost(Member(kind.element, found.offset_bytes, repeats))


def _step(kind: Type, name: str) -> Member | None:
    match kind:
        case StructType():
            members = zip(kind.members, kind.offsets(), strict=True)
            return next((Member(member, at) for (called, member), at in members if called == name), None)
        case VectorType(element=lane, width=width) if COMPONENTS.get(name, width) < width:
            return Member(lane, COMPONENTS[name] * lane.size_bytes)
        case _:
            return None
