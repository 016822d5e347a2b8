"""The types of OpenCL C: scalars, vectors, pointers, arrays, structs, images (OpenCL C 3.0, section 6.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b


class AddressSpace(StrEnum):
    """OpenCL's disjoint address spaces; `generic` is a 2.0 pointer that may be any of them."""

    PRIVATE = "private"
    LOCAL = "local"
    GLOBAL = "global"
    CONSTANT = "constant"
    GENERIC = "generic"


class ScalarKind(StrEnum):
    """How a scalar is computed with."""

    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"
    BOOL = "bool"


@dataclass(frozen=True, slots=True)
class ScalarType:
    """`int`, `float`, `half`, ...; `name` is OpenCL's short name (`uint`, never `unsigned int`)."""

    name: str
    kind: ScalarKind
    size_bytes: int

    @property
    def align_bytes(self) -> int:
        return self.size_bytes


@dataclass(frozen=True, slots=True)
class VectorType:
    """`float4` and friends; a 3-vector takes the room of 4 (section 6.3.5)."""

    element: ScalarType
    width: int

    @property
    def name(self) -> str:
        return f"{self.element.name}{self.width}"

    @property
    def size_bytes(self) -> int:
        return self.element.size_bytes * (4 if self.width == 3 else self.width)

    @property
    def align_bytes(self) -> int:
        return self.size_bytes


@dataclass(frozen=True, slots=True)
class PointerType:
    """A pointer; as a kernel parameter a buffer (global, constant) or a block of local memory."""

    pointee: Type
    space: AddressSpace
    is_const: bool = False
    is_restrict: bool = False
    is_volatile: bool = False

    @property
    def name(self) -> str:
        return f"{self.space} {self.pointee.name}*"

    @property
    def size_bytes(self) -> int:
        return 8

    @property
    def align_bytes(self) -> int:
        return 8


@dataclass(frozen=True, slots=True)
class ArrayType:
    """A fixed-size array; `length` is None where the source does not say it plainly."""

    element: Type
    length: int | None

    @property
    def name(self) -> str:
        own = f"[{'' if self.length is None else self.length}]"
        if not isinstance(self.element, ArrayType):
            return self.element.name + own
        innermost, bracket, inner = self.element.name.partition("[")
        return innermost + own + bracket + inner

    @property
    def size_bytes(self) -> int:
        return self.element.size_bytes * (self.length or 0)

    @property
    def align_bytes(self) -> int:
        return self.element.align_bytes


def nesting(kind: Type) -> int:
    """Return how many pointers and arrays are in each other."""
    depth = 0
    while isinstance(kind, PointerType | ArrayType):
        kind, depth = kind.pointee if isinstance(kind, PointerType) else kind.element, depth + 1
    return depth


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StructType:
    """A struct or union with OpenCL's layout: natural alignment unless attributes say otherwise (section 6.11.1).

    `aligned_bytes` is the least alignment of the whole; `alignments` names members whose alignment is not natural.
    `unnamed` are members without a name, whose own members are spoken of as if they were this one's: the first of
    these, by number, and the struct or union that they are laid out by.
    """

    name: str
    members: tuple[tuple[str, Type], ...]
    is_union: bool = False
    is_packed: bool = False
    aligned_bytes: int = 1
    alignments: tuple[tuple[str, int], ...] = ()
    unnamed: tuple[tuple[int, StructType], ...] = ()
    # Computed once: structs of two structs of two structs would otherwise be walked 2^depth times.
    size_bytes: int = field(init=False)
    align_bytes: int = field(init=False)
    numbers: int = field(init=False)  # members that are no structs, those of members included; arrays count once
    _offsets: tuple[int, ...] = field(init=False)
    _meaning: str = field(init=False)  # the same for equal types

    def __post_init__(self) -> None:
        said, unnamed = dict(self.alignments), dict(self.unnamed)
        end, widest, offsets = 0, self.aligned_bytes, list[int]()
        for number, (name, member) in enumerate(self.members):
            if number < len(offsets):
                continue  # laid out with the unnamed member that it is in
            whole = unnamed.get(number, member)
            align = said.get(name) or (1 if self.is_packed else whole.align_bytes)
            at = 0 if self.is_union else round_up(end, align)
            inside = whole.offsets() if isinstance(whole, StructType) and number in unnamed else (0,)
            offsets += (at + offset for offset in inside)
            end, widest = max(end, at + whole.size_bytes), max(widest, align)
        object.__setattr__(self, "size_bytes", round_up(end, widest))
        object.__setattr__(self, "align_bytes", widest)
        object.__setattr__(self, "_offsets", tuple(offsets))
        numbers = (t.numbers if isinstance(t, StructType) else 1 for _, t in self.members)
        object.__setattr__(self, "numbers", sum(numbers))
        parts = tuple((name, _meaning(t)) for name, t in (*self.members, *((str(n), t) for n, t in self.unnamed)))
        layout = (self.is_union, self.is_packed, self.aligned_bytes, self.alignments)
        object.__setattr__(self, "_meaning", blake2b(repr((self.name, parts, layout)).encode()).hexdigest())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StructType) and self._meaning == other._meaning

    def __hash__(self) -> int:
        return hash(self._meaning)

    def __repr__(self) -> str:
        return f"StructType({self.name!r}, {[(name, t.name) for name, t in self.members]}, {self.size_bytes} bytes)"

    def offsets(self) -> tuple[int, ...]:
        """Byte offset of each member, in order."""
        return self._offsets

    def member(self, name: str) -> Type | None:
        return next((t for n, t in self.members if n == name), None)


@dataclass(frozen=True, slots=True)
class ImageType:
    """`image2d_t`, `image3d_t`, `image1d_buffer_t`, ...: opaque, no size of its own."""

    name: str

    @property
    def dimensions(self) -> int:
        return next((n for n in (1, 2, 3) if f"{n}d" in self.name), 2)

    @property
    def size_bytes(self) -> int:
        return 8

    @property
    def align_bytes(self) -> int:
        return 8


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """`sampler_t`, `event_t`, `void`, and names that nothing declares (`is_unknown`)."""

    name: str
    is_unknown: bool = False

    @property
    def size_bytes(self) -> int:
        return 0 if self.name == "void" else 8 if not self.is_unknown else 4

    @property
    def align_bytes(self) -> int:
        return max(1, self.size_bytes)


Type = ScalarType | VectorType | PointerType | ArrayType | StructType | ImageType | OpaqueType


def _meaning(kind: Type) -> str:
    """Return a text that is the same for equal types."""
    match kind:
        case StructType():
            return kind._meaning
        case PointerType():
            own = (kind.space.value, kind.is_const, kind.is_restrict, kind.is_volatile)
            return f"{own} pointer to {_meaning(kind.pointee)}"
        case ArrayType():
            return f"{kind.length} of {_meaning(kind.element)}"
        case _:
            return repr(kind)


def round_up(value: int, multiple: int) -> int:
    """Return the least multiple of `multiple` that is not below `value`."""
    return -(-value // multiple) * multiple


def lane_names(vector: str, lane: int) -> tuple[str, ...]:
    """Return how one component of a vector may be called: `v.s0`, `v.x` (OpenCL C 3.0, section 6.3.7)."""
    named = (f"{vector}.{'xyzw'[lane]}",) if lane < 4 else ()
    return tuple(dict.fromkeys((f"{vector}.s{lane:x}", f"{vector}.s{lane:X}", *named)))
