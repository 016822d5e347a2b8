"""What one buffer holds: any of its numbers at once, or all of its bytes.

Default values are chosen so that a kernel behaves as on ordinary data: floats in [0.5, 1.5), never
denormal (80 times slower on CPUs) nor NaN; integers in [0, 16) and below every buffer's length, so that they are
safe as an index and loops bounded by them stay short.

Contents depend on the names of the buffer and its members alone, so that two measurements see the same data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from model.contents.leaves import Leaf, UnknownContents, dtype_of, has_union, leaves, member_leaves
from model.contents.pointwise import Constant
from model.contents.randomness import Seed
from model.contents.sequences import FLOAT_PIECE, PIECE, Sequence, numbers_between, sequence
from model.launch.fill import DEFAULT_INTEGER_LIMIT
from model.launch.fill_target import parse_target
from model.launch.launch import Fill
from model.opencl.types import ScalarKind, ScalarType, Type, VectorType

Array = npt.NDArray[Any]
DEFAULT = Fill("random")
CHANNELS = 4  # RGBA, which every device has
# Values made at a time: few of random ones, so that intermediate arrays stay in a cache.
_AT_ONCE, _RANDOM_AT_ONCE = 1 << 18, 1 << 15


def piece_of(*, is_float: bool) -> int:
    """Return after how many values random ones repeat."""
    return FLOAT_PIECE if is_float else PIECE


@dataclass(frozen=True, slots=True)
class _Layer:
    """Numbers for one leaf; `rows_drawn` is after how many of the buffer's elements they are the first ones again."""

    leaf: Leaf
    numbers: Sequence
    rows_drawn: int

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.leaf.dtype

    def at(self, positions: Array) -> Array:
        """Return the scalars at these positions among the leaf's."""
        if self.numbers.repeats and self.leaf.shape[0] > self.rows_drawn:
            positions = positions % (self.rows_drawn * self.leaf.per_element)
        return _cast(self.numbers.at(positions), self.dtype)

    def rows(self, begin: int, end: int) -> Array:
        """Return the scalars of some elements, flat, to be written. They lie within one round of what is drawn."""
        each = self.leaf.per_element
        if self.numbers.repeats:
            begin, end = begin % self.rows_drawn, (end - 1) % self.rows_drawn + 1
        return _within_limits(numbers_between(self.numbers, begin * each, end * each), self.dtype)


class BufferContents:
    """The contents of a buffer of `size_bytes` in `length` elements."""

    def __init__(self, element: Type, length: int, layers: list[_Layer], *, is_ambiguous: bool) -> None:
        self._layers = layers  # later ones lie over earlier ones
        self._element_bytes = element.size_bytes
        self._is_ambiguous = is_ambiguous  # whether layers of different types may lie over each other
        self._only = layers[0] if len(layers) == 1 and layers[0].leaf.is_dense else None
        self.size_bytes = length * element.size_bytes

    def take(self, byte_offsets: npt.NDArray[np.int64], scalar: ScalarType) -> Array:
        """Return the numbers of type `scalar` that are read at these offsets; 0 for what lies outside of the buffer.

        Any shape of offsets. Made one by one: nothing depends on how large the buffer is.
        """
        offsets = np.ascontiguousarray(byte_offsets, np.int64).reshape(-1)
        dtype = dtype_of(scalar)
        found = self._from_only(offsets, dtype)
        if found is None:
            found = self._from_layers(offsets, dtype)
        return found.reshape(np.shape(byte_offsets))

    def write(self, memory: npt.NDArray[np.uint8], first_byte: int = 0) -> None:
        """Fill `memory` with the buffer's bytes from `first_byte` on, a piece at a time."""
        each = self._element_bytes
        begin, end = -(-first_byte // each), (first_byte + len(memory)) // each
        head, tail = begin * each - first_byte, end * each - first_byte
        if begin > end:
            head = tail = len(memory)
        for start, stop in ((0, head), (tail, len(memory))):
            if start < stop:
                memory[start:stop] = self._bytes(np.arange(start, stop, dtype=np.int64) + first_byte)
        if tail > head:
            self._write_elements(memory[head:tail], begin, end)

    def _write_elements(self, memory: Array, first: int, last: int) -> None:
        if self._only is None:
            memory[...] = 0
        for layer in self._layers:
            position = layer.leaf.offset_bytes // self._element_bytes  # 0 but for those of a single element
            if layer.leaf.shape[0] * self._element_bytes >= self.size_bytes:
                _write_rows(layer, memory, first, last - first)
            elif first <= position < last:
                there = memory[(position - first) * self._element_bytes :]
                _write_rows(layer, there, 0, 1, layer.leaf.offset_bytes % self._element_bytes)

    def _from_only(self, offsets: Array, dtype: np.dtype[Any]) -> Array | None:
        """Return what is read where all scalars are of one type and lie side by side; None if it is not that plain."""
        if self._only is None or self._only.dtype.itemsize != dtype.itemsize or not len(offsets):
            return None
        positions, rests = np.divmod(offsets, dtype.itemsize)
        if rests.any() or offsets.min() < 0 or offsets.max() >= self.size_bytes:
            return None
        return self._only.at(positions).view(dtype)

    def _from_layers(self, offsets: Array, dtype: np.dtype[Any]) -> Array:
        found = np.zeros(len(offsets), dtype)
        missing = np.ones(len(offsets), bool)
        for layer in self._layers if not self._is_ambiguous else ():
            if layer.dtype.itemsize == dtype.itemsize:
                inside, position, rest = layer.leaf.find(offsets)
                inside &= rest == 0
                if inside.any():
                    found[inside] = layer.at(position[inside]).view(dtype)
                    missing &= ~inside
        if missing.any():
            spread = offsets[missing, None] + np.arange(dtype.itemsize)
            found[missing] = self._bytes(spread.reshape(-1)).view(dtype)
        return found

    def _bytes(self, offsets: Array) -> npt.NDArray[np.uint8]:
        found = np.zeros(len(offsets), np.uint8)
        for layer in self._layers:
            inside, position, rest = layer.leaf.find(offsets)
            if inside.any():
                scalars = layer.at(position[inside]).view(np.uint8).reshape(-1, layer.dtype.itemsize)
                found[inside] = scalars[np.arange(len(scalars)), rest[inside]]
        return found


def buffer_contents(
    name: str, element: Type, length: int, fills: Mapping[str, Fill], shortest_length: int
) -> BufferContents:
    """Return what a buffer of `length` elements holds. Raises UnknownContents.

    `fills` has "" for the whole buffer, and `member`, `member.inner`, `[3]`, `[3].member` for parts of it, which go
    before. `shortest_length` is that of the launch's shortest buffer, in elements: default integers stay below it.
    """
    limit = max(1, min(DEFAULT_INTEGER_LIMIT, shortest_length))
    whole = fills.get("", DEFAULT)
    layers = [_layer(name, leaf, whole, limit) for leaf in (leaves(element, length, name) if length else ())]
    parts = [
        (parse_target(name + ("" if part.startswith("[") else ".") + part), fill)
        for part, fill in fills.items()
        if part
    ]
    for target, fill in sorted(parts, key=lambda each: (each[0].index is not None, len(each[0].members))):
        found = member_leaves(element, length, target.members)
        if not found:
            raise UnknownContents(f"buffer `{name}` holds `{element.name}`, which has no `{'.'.join(target.members)}`")
        if target.index is not None and target.index >= length:
            continue  # of a launch that was made smaller
        if target.index is not None:
            found = [leaf.only(target.index) for leaf in found]
        layers += (_layer(name, leaf, fill, limit) for leaf in found)
    return BufferContents(element, length, layers, is_ambiguous=bool(parts) and has_union(element))


def image_contents(name: str, channel: ScalarType, texels: int) -> BufferContents:
    """Return the contents of an image of `texels` texels, each of `CHANNELS` channels of one type."""
    fill = Fill("uniform", (0, 1)) if channel.kind is ScalarKind.FLOAT else Fill("randint", (0, 128))
    return buffer_contents(name, VectorType(channel, CHANNELS), texels, {"": fill}, texels)


def _layer(name: str, leaf: Leaf, fill: Fill, integer_limit: int) -> _Layer:
    limit = min(integer_limit, 2) if leaf.kind.kind is ScalarKind.BOOL else integer_limit
    count = leaf.shape[0] * leaf.per_element
    numbers = sequence(fill, leaf.dtype, count, limit, Seed.of(name, *leaf.path))
    if numbers is None:
        raise UnknownContents(f"fill `{fill}` of buffer `{name}` is not one of ours")
    drawn = piece_of(is_float=leaf.dtype.kind == "f") // max(1, leaf.per_element)
    return _Layer(leaf, numbers, max(1, drawn))


def _write_rows(layer: _Layer, memory: Array, first: int, count: int, offset_bytes: int | None = None) -> None:
    """Write what `count` elements from number `first` on hold into `memory`, where these begin."""
    leaf = layer.leaf
    at = leaf.offset_bytes if offset_bytes is None else offset_bytes
    values: Array = np.ndarray((count, *leaf.shape[1:]), leaf.dtype, memory, at, leaf.strides_bytes)
    if isinstance(layer.numbers, Constant):
        values[...] = layer.at(np.zeros(1, np.int64))[0]
        return
    rows = max(1, (_RANDOM_AT_ONCE if layer.numbers.repeats else _AT_ONCE) // max(1, leaf.per_element))
    drawn = min(count, layer.rows_drawn) if layer.numbers.repeats else count
    with np.errstate(over="ignore"):
        for begin, end in _blocks(first, first + drawn, rows, layer.rows_drawn):
            part = values[begin - first : end - first]
            part[...] = layer.rows(begin, end).reshape(part.shape)
    for begin in range(drawn, count, drawn):
        part = values[begin : begin + drawn]
        part[...] = values[: len(part)]


def _blocks(begin: int, end: int, most: int, period: int) -> Iterator[tuple[int, int]]:
    """Yield pieces of `begin` .. `end` that no end of a period lies within."""
    while begin < end:
        stop = min(begin + most, end, (begin // period + 1) * period)
        yield begin, stop
        begin = stop


def _cast(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return them as the type holds them, the same bytes as when they are assigned: integers wrap."""
    with np.errstate(over="ignore"):
        return _within_limits(values, dtype).astype(dtype)


def _within_limits(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return floats that an integer type cannot hold as the nearest ones that it can."""
    if dtype.kind == "f" or values.dtype.kind != "f":
        return values
    limits = np.iinfo(dtype)
    clipped: Array = np.clip(values, float(limits.min), np.nextafter(float(limits.max) + 1.0, 0.0))
    return clipped
