"""What the name of a scalar or vector type tells."""

from __future__ import annotations

REALS = ("float", "double")
_SCALAR_BYTES = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "half": 2, "int": 4, "uint": 4, "float": 4}
_SCALAR_BYTES |= {"long": 8, "ulong": 8, "double": 8}


def base_type(kind: str) -> str:
    """Of a vector's elements."""
    return kind.rstrip("0123456789")


def lanes(kind: str) -> int:
    return int(kind[len(base_type(kind)) :] or 1)


def is_real(kind: str) -> bool:
    return base_type(kind) in REALS


def bytes_of(kind: str) -> int:
    """Return the size of a type; a vector of three takes the room of four."""
    count = lanes(kind)
    return _SCALAR_BYTES[base_type(kind)] * (4 if count == 3 else count)
