"""What stands in a buffer before a kernel runs.

Values that nobody specified are chosen so that a kernel behaves as on ordinary data: floats in [0.5, 1.5), never
denormal (80 times slower on CPUs) nor NaN; integers in [0, 16) and below every buffer's length, so that they are
safe as an index and loops bounded by them stay short.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from model.launch.fill import DEFAULT_INTEGER_LIMIT
from model.launch.launch import Fill
from model.opencl.types import ArrayType, ScalarKind, ScalarType, StructType, Type, VectorType
from profiler.arguments import BufferArgument
from profiler.measurement import NeedsAnnotation

Array = npt.NDArray[Any]
TILE = 1 << 20  # random values are drawn so many at a time and repeated: no kernel can tell, and it is fast


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the elements of one buffer come about."""

    name: str
    fill: Fill
    rng: np.random.Generator
    integer_limit: int  # default integers stay below it


def contents(buffer: BufferArgument, shortest_length: int) -> Array:
    """The bytes of a buffer as a one-dimensional array of uint8.

    `shortest_length` is that of the launch's shortest buffer, in elements: default integers stay below it.
    Contents depend on the buffer's name alone, so that two measurements see the same data.
    """
    recipe = Recipe(
        buffer.name,
        buffer.fill or Fill("random"),
        np.random.default_rng(zlib.crc32(buffer.name.encode())),
        max(1, min(DEFAULT_INTEGER_LIMIT, shortest_length)),
    )
    return np.ascontiguousarray(_filled(buffer.element, buffer.length, recipe)).reshape(-1).view(np.uint8)


def _filled(element: Type, length: int, recipe: Recipe) -> Array:
    match element:
        case ScalarType():
            return _scalars(element, length, recipe)
        case VectorType():
            lanes = element.size_bytes // element.element.size_bytes  # 4 for a 3-vector
            return _scalars(element.element, length * lanes, recipe)
        case ArrayType(length=int(inner)):
            return _filled(element.element, length * inner, recipe)
        case StructType():
            return _structs(element, length, recipe)
        case _:
            raise NeedsAnnotation(f"buffer `{recipe.name}` holds `{element.name}`, of which the contents are unknown")


def _structs(struct: StructType, length: int, recipe: Recipe) -> Array:
    """Rows of raw bytes, member by member; of a union only the first member is filled, pointers stay null."""
    rows = np.zeros((length, struct.size_bytes), np.uint8)
    members = list(zip(struct.members, struct.offsets(), strict=True))
    for (_, kind), at in members[:1] if struct.is_union else members:
        if isinstance(kind, ScalarType | VectorType | ArrayType | StructType) and kind.size_bytes:
            values = np.ascontiguousarray(_filled(kind, length, recipe))
            rows[:, at : at + kind.size_bytes] = values.reshape(-1).view(np.uint8).reshape(length, kind.size_bytes)
    return rows


def _scalars(kind: ScalarType, length: int, recipe: Recipe) -> Array:
    dtype, rng = _dtype(kind), recipe.rng
    limit = min(recipe.integer_limit, 2) if kind.kind is ScalarKind.BOOL else recipe.integer_limit
    match recipe.fill.kind, recipe.fill.arguments:
        case "random", () if dtype.kind == "f":
            return _repeated(lambda n: (rng.random(n, np.float32) + np.float32(0.5)).astype(dtype), length)
        case "random", ():
            return _repeated(lambda n: rng.integers(0, limit, n).astype(dtype), length)
        case "zeros", ():
            return np.zeros(length, dtype)
        case "iota", ():
            return np.arange(length).astype(dtype)
        case "perm", ():
            return rng.permutation(length).astype(dtype)
        case "const", (value,):
            return np.full(length, value).astype(dtype)
        case "uniform", (low, high):
            return _repeated(lambda n: rng.uniform(low, high, size=n).astype(dtype), length)
        case "randint", (low, high):
            return _repeated(lambda n: rng.integers(int(low), max(int(low) + 1, int(high)), n).astype(dtype), length)
        case "csr_rows", (nonzeros,):
            return _row_pointers(length, int(nonzeros), rng).astype(dtype)
        case _:
            raise NeedsAnnotation(f"fill `{recipe.fill}` of buffer `{recipe.name}` is not one of ours")


def _row_pointers(length: int, nonzeros: int, rng: np.random.Generator) -> Array:
    """Ascending from 0 to `nonzeros`: rows of random lengths."""
    inner = np.sort(rng.integers(0, nonzeros + 1, max(0, length - 2)))
    return np.concatenate(([0], inner, [nonzeros]))[:length]


def _repeated(draw: Callable[[int], Array], length: int) -> Array:
    return np.resize(draw(min(length, TILE)), length) if length else np.zeros(0, draw(1).dtype)


def _dtype(kind: ScalarType) -> np.dtype[Any]:
    code = {ScalarKind.FLOAT: "f", ScalarKind.SIGNED: "i", ScalarKind.UNSIGNED: "u", ScalarKind.BOOL: "u"}[kind.kind]
    return np.dtype(f"<{code}{kind.size_bytes}")
