"""Integers written in a program: literals, operators between them, characters and strings."""

from __future__ import annotations

import re
from collections.abc import Callable

from model.opencl.directive_skeleton import CONTINUATION

_BEYOND = 1 << 64
_LONGEST = 64  # digits: what is longer no type holds

_FOLD: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
    "<": lambda a, b: int(a < b), ">": lambda a, b: int(a > b), "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b), "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b),
    "&&": lambda a, b: int(bool(a) and bool(b)), "||": lambda a, b: int(bool(a) or bool(b)),
}  # fmt: skip


def fold(operator: str, a: int, b: int) -> int | None:
    """Return `a operator b` in C's integers; None where C leaves it undefined, or no type holds it.

    Division truncates. Without that bound, squares of squares of squares would fill the memory.
    """
    value = _folded(operator, a, b)
    return value if value is not None and -_BEYOND < value < _BEYOND else None


def _folded(operator: str, a: int, b: int) -> int | None:
    if operator in ("/", "%"):
        if b == 0:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if operator == "/" else a - b * quotient
    if operator in ("<<", ">>"):
        if not 0 <= b < 64:
            return None
        return a << b if operator == "<<" else a >> b
    function = _FOLD.get(operator)
    return function(a, b) if function else None


_INTEGER = re.compile(
    r"(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|(?P<oct>0[0-7]*)|(?P<dec>[1-9][0-9]*))(?P<suffix>[uUlL]*)\Z"
)


def number(text: str) -> int | float | None:
    """Return the value of a number literal; the grammar makes its sign a part of it."""
    if text[:1] in ("-", "+"):
        value = number(text[1:])
        return -value if value is not None and text[0] == "-" else value
    match = _INTEGER.match(text)
    if match:
        for group, base in (("hex", 16), ("bin", 2), ("oct", 8), ("dec", 10)):
            digits = match[group]
            if digits is not None:
                return int(digits, base) if len(digits) <= _LONGEST else _BEYOND - 1
    try:
        return float.fromhex(text.rstrip("fFlLhH")) if text[:2] in ("0x", "0X") else float(text.rstrip("fFlLhH "))
    except (ValueError, OverflowError):
        return None


_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]+)|([0-7]{1,3})|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|(.))", re.DOTALL)
_ESCAPED = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27}


def character(text: str) -> int | None:
    """Return the value of a character literal, quotes included; `char` is signed."""
    inside = text[1:-1]
    if len(inside) == 1:
        code = ord(inside)
    elif (match := _ESCAPE.fullmatch(inside)) is not None:
        code = (
            int(match[1], 16)
            if match[1]
            else int(match[2], 8)
            if match[2]
            else _ESCAPED.get(inside[1:], ord(inside[1]))
        )
    else:
        return None
    return (code & 255 ^ 128) - 128


def string_bytes(text: str) -> int:
    """Return how many bytes a string literal takes, quotes excluded and the final zero included."""
    return len(_ESCAPE.sub("_", CONTINUATION.sub("", text[1:-1]))) + 1
