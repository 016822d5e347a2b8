"""Integers whose values fit in fewer bytes than their type: compilers compute with those in narrow vectors.

C computes with `char` and `short` in `int`. LLVM's vectorisers bring each operation back to as few bytes as its result
needs ("minimum value sizes", from demanded bits), so that a vector holds four times as many of them. Here it is found
out forwards, from what operands hold; what a later cast throws away is not known.
"""

from __future__ import annotations

from model.opencl.types import ScalarKind, ScalarType
from model.work.execution.values import Scalar, Value

_WORD_BYTES = 4
_NARROW = {1: ScalarType("char", ScalarKind.SIGNED, 1), 2: ScalarType("short", ScalarKind.SIGNED, 2)}
_GROWING = frozenset({"+", "-", "*"})  # by at most as many bits as an operand has
_KEEPING = frozenset({"&", "|", "^", ">>", "/", "%"})


def held_bytes(value: Value) -> int:
    """Return how many bytes the values of a scalar integer need, signed or unsigned; 4 for any other value."""
    if not isinstance(value, Scalar) or value.type.kind is ScalarKind.FLOAT:
        return _WORD_BYTES
    constant = value.value.constant
    if constant is not None:
        return 1 if -0x80 <= constant <= 0xFF else 2 if -0x8000 <= constant <= 0xFFFF else _WORD_BYTES
    return value.held or value.type.size_bytes


def result_bytes(operator: str, left: Value, right: Value) -> int:
    """Return how many bytes `left operator right` needs; 4 where that is not known."""
    if operator in _GROWING:
        return min(_WORD_BYTES, 2 * max(held_bytes(left), held_bytes(right)))
    return min(_WORD_BYTES, max(held_bytes(left), held_bytes(right))) if operator in _KEEPING else _WORD_BYTES


def computed_in(kind: ScalarType, needed_bytes: int) -> ScalarType:
    """Return the narrowest type for a result of `kind` that needs `needed_bytes`, as compilers choose it."""
    return _NARROW.get(needed_bytes, kind) if kind.size_bytes == _WORD_BYTES else kind


def kept_bytes(kind: ScalarType, needed_bytes: int) -> int:
    """Return the value of `Scalar.held` for a result of `kind` that needs `needed_bytes`: 0 where it needs all."""
    return needed_bytes if kind.kind is not ScalarKind.FLOAT and needed_bytes < kind.size_bytes else 0
