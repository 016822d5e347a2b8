"""The members of a struct as they are read, with the alignment that each is given."""

from __future__ import annotations

from dataclasses import dataclass, field

from model.opencl.types import StructType, Type


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
