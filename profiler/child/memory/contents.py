"""What stands in a buffer before a kernel runs.

Values that nobody specified are chosen so that a kernel behaves as on ordinary data: floats in [0.5, 1.5), never
denormal (80 times slower on CPUs) nor NaN; integers in [0, 16) and below every buffer's length, so that they are
safe as an index and loops bounded by them stay short.

They are written where they are to lie, a piece at a time: a second copy of a large buffer might not find room.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from model.launch.fill import DEFAULT_INTEGER_LIMIT
from model.launch.launch import Fill
from model.opencl.types import ArrayType, ScalarKind, ScalarType, StructType, Type, VectorType
from profiler.arguments import BufferArgument
from profiler.child.memory.sequences import Span, skewed, write_clustered, write_row_pointers, write_sorted
from profiler.measurement import NeedsAnnotation

Array = npt.NDArray[Any]
# So many random values are drawn, and then repeated, which is fast. Integers may be indices: a gather through fewer
# different ones would find its lines in the caches again. Of floats no kernel can tell.
PIECE, FLOAT_PIECE = 1 << 22, 1 << 18
DRAWN_AT_ONCE = 1 << 18


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the elements of one buffer come about."""

    name: str
    fill: Fill
    rng: np.random.Generator
    integer_limit: int  # default integers stay below it


def write_contents(buffer: BufferArgument, shortest_length: int, memory: Array) -> None:
    """Fill `memory`, all bytes of `buffer`.

    `shortest_length` is that of the launch's shortest buffer, in elements: default integers stay below it.
    Contents depend on the buffer's name alone, so that two measurements see the same data.
    """
    recipe = Recipe(
        buffer.name,
        buffer.fill or Fill("random"),
        np.random.default_rng(zlib.crc32(buffer.name.encode())),
        max(1, min(DEFAULT_INTEGER_LIMIT, shortest_length)),
    )
    if buffer.length:
        _write(buffer.element, _Place(memory, 0, (buffer.length,), (buffer.element.size_bytes,)), recipe)


def repeat_in(values: Array, draw: Callable[[tuple[int, ...]], Array]) -> None:
    """Fill `values` with what `draw` makes for their first rows, again and again. `draw` is told a shape."""
    width = max(1, prod(values.shape[1:]))
    rows = max(1, piece_of(is_float=values.dtype.kind == "f") // width)
    for part in _pieces(values[:rows], max(1, DRAWN_AT_ONCE // width)):
        part[...] = draw(part.shape)
    for part in _pieces(values[rows:], rows):
        part[...] = values[: len(part)]


def piece_of(*, is_float: bool) -> int:
    """After how many values random ones repeat."""
    return FLOAT_PIECE if is_float else PIECE


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the elements of an array, or one member of each, lie in a buffer's bytes."""

    memory: Array
    offset_bytes: int
    shape: tuple[int, ...]
    strides_bytes: tuple[int, ...]

    def of_member(self, offset_bytes: int) -> _Place:
        return _Place(self.memory, self.offset_bytes + offset_bytes, self.shape, self.strides_bytes)

    def of_each(self, count: int, stride_bytes: int) -> _Place:
        """Of what each element is made of."""
        return _Place(self.memory, self.offset_bytes, (*self.shape, count), (*self.strides_bytes, stride_bytes))

    def values(self, dtype: np.dtype[Any]) -> Array:
        return np.ndarray(self.shape, dtype, self.memory, self.offset_bytes, self.strides_bytes)


def _write(element: Type, place: _Place, recipe: Recipe) -> None:
    match element:
        case ScalarType():
            _write_scalars(element, place.values(_dtype(element)), recipe)
        case VectorType(element=lane):
            _write(
                lane, place.of_each(element.size_bytes // lane.size_bytes, lane.size_bytes), recipe
            )  # 4 of a 3-vector
        case ArrayType(element=inner, length=int(length)):
            if length:
                _write(inner, place.of_each(length, inner.size_bytes), recipe)
        case StructType():
            _write_structs(element, place, recipe)
        case _:
            raise NeedsAnnotation(f"buffer `{recipe.name}` holds `{element.name}`, of which the contents are unknown")


def _write_structs(struct: StructType, place: _Place, recipe: Recipe) -> None:
    """Member by member; of a union only the first is filled, pointers stay null."""
    whole = ScalarType("uchar", ScalarKind.UNSIGNED, 1)
    place.of_each(struct.size_bytes, 1).values(_dtype(whole))[...] = 0
    members = list(zip(struct.members, struct.offsets(), strict=True))
    for (_, kind), at in members[:1] if struct.is_union else members:
        if isinstance(kind, ScalarType | VectorType | ArrayType | StructType) and kind.size_bytes:
            _write(kind, place.of_member(at), recipe)


def _write_scalars(kind: ScalarType, values: Array, recipe: Recipe) -> None:
    rng, is_float = recipe.rng, kind.kind is ScalarKind.FLOAT
    limit = min(recipe.integer_limit, 2) if kind.kind is ScalarKind.BOOL else recipe.integer_limit
    match recipe.fill.kind, recipe.fill.arguments:
        case "random", () if is_float:
            repeat_in(values, lambda shape: rng.random(shape, np.float32) + np.float32(0.5))
        case "random", ():
            repeat_in(values, lambda shape: rng.integers(0, limit, shape))
        case "zeros", ():
            values[...] = 0
        case "const", (value,):
            values[...] = np.full((), value).astype(values.dtype)
        case "uniform", (low, high):
            repeat_in(values, lambda shape: rng.uniform(low, high, shape))
        case "randint", (low, high):
            repeat_in(values, lambda shape: rng.integers(int(low), max(int(low) + 1, int(high)), shape))
        case "skewed", (low, high):
            span = Span.between(low, high, values.dtype)
            repeat_in(values, lambda shape: skewed(shape, span, rng))
        case (("iota" | "perm" | "csr_rows" | "sorted" | "clustered"), _):
            ordered = values.reshape(-1)  # in place, but for members of structs
            _write_sequence(ordered, recipe)
            if not np.may_share_memory(ordered, values):
                values[...] = ordered.reshape(values.shape)
        case _:
            _refuse(recipe)


def _write_sequence(values: Array, recipe: Recipe) -> None:
    match recipe.fill.kind, recipe.fill.arguments:
        case "iota", ():
            _count(values)
        case "perm", ():
            _count(values)
            recipe.rng.shuffle(values)
        case "csr_rows", (nonzeros, *skew):
            write_row_pointers(values, int(nonzeros), skew[0] if skew else None, recipe.rng)
        case "sorted", (low, high):
            write_sorted(values, Span.between(low, high, values.dtype), recipe.rng)
        case "clustered", (low, high, run):
            write_clustered(values, Span.between(low, high, values.dtype), run, recipe.rng)
        case _:
            _refuse(recipe)


def _count(values: Array) -> None:
    begin = 0
    for part in _pieces(values, DRAWN_AT_ONCE):
        part[...] = np.arange(begin, begin + len(part))
        begin += len(part)


def _pieces(values: Array, rows: int) -> Iterator[Array]:
    return (values[begin : begin + rows] for begin in range(0, len(values), rows))


def _refuse(recipe: Recipe) -> NoReturn:
    raise NeedsAnnotation(f"fill `{recipe.fill}` of buffer `{recipe.name}` is not one of ours")


def _dtype(kind: ScalarType) -> np.dtype[Any]:
    code = {ScalarKind.FLOAT: "f", ScalarKind.SIGNED: "i", ScalarKind.UNSIGNED: "u", ScalarKind.BOOL: "u"}[kind.kind]
    return np.dtype(f"<{code}{kind.size_bytes}")
