"""Known bytes beside a buffer, which a store beyond its ends changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from model.opencl.types import ScalarType, Type, VectorType

Bytes = npt.NDArray[np.uint8]
WORD_BYTES = 4  # where elements have parts of several sizes


def canary_of(element: Type) -> bytes:
    """Return a one of the element's own size.

    It is harmless as an index if it is read, and not zero, which kernels often store.
    """
    match element:
        case ScalarType(size_bytes=size_bytes) | VectorType(element=ScalarType(size_bytes=size_bytes)):
            return b"\1".ljust(size_bytes, b"\0")
        case _:
            return b"\1".ljust(WORD_BYTES, b"\0")


def laid_out(canary: bytes, size_bytes: int) -> Bytes:
    """`size_bytes` of them, one behind the other."""
    return np.resize(np.frombuffer(canary, np.uint8), size_bytes)


def changed(memory: Bytes, canary: bytes) -> npt.NDArray[Any]:
    """Where `memory`, which was laid out with canaries, no longer holds them."""
    return np.flatnonzero(memory != laid_out(canary, memory.size))
