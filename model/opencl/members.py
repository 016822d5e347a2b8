"""The members of a struct as they are read, with their alignment, and where one lies in what a buffer is made of."""

from __future__ import annotations

from dataclasses import dataclass, field

from model.opencl.types import ArrayType, StructType, Type, VectorType


@dataclass(frozen=True, slots=True)
class Alignment:
    """What is said of one member: its attributes' least alignment (0: none), `packed`, and its type's alignment."""

    least_bytes: int
    is_packed: bool
    own_bytes: int


@dataclass(slots=True)
class Members:
    """Collects members in order. `is_packed`: of the whole struct."""

    is_packed: bool
    members: list[tuple[str, Type]] = field(default_factory=list)
    alignments: list[tuple[str, int]] = field(default_factory=list)
    unnamed: list[tuple[int, StructType]] = field(default_factory=list)

    def add(self, name: str, kind: Type, said: Alignment) -> None:
        self._align(name, kind, said)
        self.members.append((name, kind))

    def add_unnamed(self, kind: StructType, said: Alignment) -> None:
        """Add a struct or union without a name: its members are named as members of the one around it."""
        if not kind.members:
            return
        self._align(kind.members[0][0], kind, said)
        self.unnamed.append((len(self.members), kind))
        self.members += kind.members

    def struct(self, tag: str, aligned_bytes: int, *, is_union: bool) -> StructType:
        return StructType(
            tag,
            tuple(self.members),
            is_union,
            self.is_packed,
            max(1, aligned_bytes),
            tuple(self.alignments),
            tuple(self.unnamed),
        )

    def _align(self, name: str, kind: Type, said: Alignment) -> None:
        natural = 1 if self.is_packed else kind.align_bytes
        given = max(1 if said.is_packed or self.is_packed else said.own_bytes, said.least_bytes)
        if given != natural:
            self.alignments.append((name, given))


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
