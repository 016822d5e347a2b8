"""Types and numbers as OpenCL C spells them."""

from __future__ import annotations

import re

_TYPE = re.compile(r"(float|double|char|uchar|short|ushort|int|uint|long|ulong)(2|3|4|8|16)?")
BITS = {"char": 8, "short": 16, "int": 32, "long": 64}  # of the signed types


def literal(type: str, value: float) -> str:
    """Of a scalar type; a vector's elements are all the same."""
    base, width = split_type(type)
    if base in ("float", "double"):
        text = f"{value:.4g}"
        text += "" if "." in text or "e" in text else ".0"
        text += "f" if base == "float" else ""
    else:
        suffix = {"uint": "u", "long": "L", "ulong": "UL"}.get(base, "")
        text = f"{int(value)}{suffix}"
        if BITS[base.removeprefix("u")] < 32 and width == 1:
            return f"({base}){text}" if value >= 0 else f"({base})({text})"
    if width > 1:
        return f"({type})({text})"
    return text if value >= 0 else f"({text})"


def split_type(type: str) -> tuple[str, int]:
    """`float4` is (`float`, 4)."""
    found = _TYPE.fullmatch(type)
    if found is None:
        raise ValueError(f"`{type}` is neither a scalar nor a vector type of OpenCL C")
    return found[1], int(found[2] or 1)
