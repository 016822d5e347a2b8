"""Offsets of the scalars in a buffer: one leaf for each scalar of an element."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from model.opencl.members import find_member
from model.opencl.types import ArrayType, ScalarKind, ScalarType, StructType, Type, VectorType

Array = npt.NDArray[Any]


class UnknownContents(Exception):
    """A buffer of which nobody can say what it holds, in a sentence for the user."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """Scalars of one type, `shape` of them; the first dimension counts the buffer's elements.

    `path` are the members that lead here, without the numbers of arrays.
    """

    path: tuple[str, ...]
    kind: ScalarType
    offset_bytes: int
    shape: tuple[int, ...]
    strides_bytes: tuple[int, ...]

    @property
    def dtype(self) -> np.dtype[Any]:
        return dtype_of(self.kind)

    @property
    def per_element(self) -> int:
        return prod(self.shape[1:])

    @property
    def is_dense(self) -> bool:
        """Whether nothing lies between them."""
        size = self.kind.size_bytes
        for count, stride in zip(reversed(self.shape), reversed(self.strides_bytes), strict=True):
            if stride != size:
                return False
            size *= count
        return True

    def values(self, memory: Array) -> Array:
        """Return them as they lie in a buffer's bytes, to be written or read."""
        return np.ndarray(self.shape, self.dtype, memory, self.offset_bytes, self.strides_bytes)

    def find(self, byte_offsets: Array) -> tuple[Array, Array, Array]:
        """Return which bytes are of this leaf, and of each the number of its scalar and the byte within that."""
        rest = byte_offsets - self.offset_bytes
        number = np.zeros_like(rest)
        inside = rest >= 0
        for count, stride in zip(self.shape, self.strides_bytes, strict=True):
            index = rest // stride
            inside &= index < count
            rest = rest - index * stride
            number = number * count + index
        inside &= rest < self.kind.size_bytes
        return inside, number, rest

    def of_member(self, name: str, offset_bytes: int) -> Leaf:
        return replace(self, path=(*self.path, name), offset_bytes=self.offset_bytes + offset_bytes)

    def of_each(self, count: int, stride_bytes: int) -> Leaf:
        """Return what each of these is made of."""
        return replace(self, shape=(*self.shape, count), strides_bytes=(*self.strides_bytes, stride_bytes))

    def only(self, element: int) -> Leaf:
        """Return those of one element of the buffer."""
        offset_bytes = self.offset_bytes + element * self.strides_bytes[0]
        return replace(self, offset_bytes=offset_bytes, shape=(1, *self.shape[1:]))


def leaves(element: Type, length: int, name: str) -> Iterator[Leaf]:
    """Yield what a buffer of this name is filled with: of a union only the first member, and no pointers."""
    whole = Leaf((), _BYTE, 0, (length,), (element.size_bytes,))
    if isinstance(element, _FILLED):
        yield from _inside(element, whole)
    else:
        raise UnknownContents(f"buffer `{name}` holds `{element.name}`, of which the contents are unknown")


def member_leaves(element: Type, length: int, path: tuple[str, ...]) -> list[Leaf]:
    """Return the scalars of the member that `path` leads to; none where there is no such member."""
    member = find_member(element, path)
    if member is None:
        return []
    counts, strides = zip((length, element.size_bytes), *member.repeats, strict=True)
    return list(_inside(member.type, Leaf(path, _BYTE, member.offset_bytes, counts, strides)))


def has_union(kind: Type) -> bool:
    """Tell whether some of its bytes may be read as two types."""
    if isinstance(kind, ArrayType):
        return has_union(kind.element)
    return isinstance(kind, StructType) and (
        kind.is_union
        or any(whole.is_union for _, whole in kind.unnamed)
        or any(has_union(member) for _, member in kind.members)
    )


def dtype_of(kind: ScalarType) -> np.dtype[Any]:
    code = {ScalarKind.FLOAT: "f", ScalarKind.SIGNED: "i", ScalarKind.UNSIGNED: "u", ScalarKind.BOOL: "u"}[kind.kind]
    return np.dtype(f"<{code}{kind.size_bytes}")


def _inside(kind: Type, found: Leaf) -> Iterator[Leaf]:
    match kind:
        case ScalarType():
            yield replace(found, kind=kind)
        case VectorType(element=lane):  # 4 of a 3-vector
            yield from _inside(lane, found.of_each(kind.size_bytes // lane.size_bytes, lane.size_bytes))
        case ArrayType(element=inner, length=int(length)) if length:
            yield from _inside(inner, found.of_each(length, inner.size_bytes))
        case StructType():
            members = list(zip(kind.members, kind.offsets(), strict=True))
            for (name, member), at in members[:1] if kind.is_union else members:
                if isinstance(member, _FILLED) and member.size_bytes:
                    yield from _inside(member, found.of_member(name, at))


_BYTE = ScalarType("uchar", ScalarKind.UNSIGNED, 1)
_FILLED = ScalarType | VectorType | ArrayType | StructType
