"""Checked arithmetic of launch expressions: integers within 64 bits, finite floats, and a reason for every refusal."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

Number = int | float

LEAST = -(2**63)  # `long`
LARGEST = 2**64 - 1  # `ulong`: seeds and hashes use all of it
MAX_DIGITS = 40  # longer literals are refused before they are converted


class BoundsError(ArithmeticError):
    """No value within bounds; the text is for the user."""


def bounded(value: Number) -> Number:
    """`value` itself, if an integer of 64 bits or a finite float."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BoundsError("the value is too large for a floating-point number")
    elif not LEAST <= value <= LARGEST:
        raise BoundsError("the value needs more than 64 bits")
    return value


def apply(operator: str, operands: Sequence[Number]) -> Number:
    """Return one operator or function of `FUNCTIONS`; raises `BoundsError`."""
    try:
        value = _OPERATORS[operator](*operands)
    except ZeroDivisionError:
        raise BoundsError("division by zero") from None
    except OverflowError:
        raise BoundsError("the value is too large for a floating-point number") from None
    return bounded(value)


def _divide(left: Number, right: Number) -> Number:
    if isinstance(left, int) and isinstance(right, int):
        whole, rest = divmod(left, right)
        if rest:
            raise BoundsError(
                f"{left}/{right} is not a whole number; use // (rounds down) or ceil_div(a, b), "
                f"or write a fraction as {left}.0/{right}"
            )
        return whole
    return left / right


def _power(base: Number, exponent: Number) -> Number:
    """Refuses what cannot fit before computing it: 9**9**9 would take gigabytes."""
    if isinstance(base, int) and isinstance(exponent, int):
        if exponent < 0 and abs(base) != 1:
            if base == 0:
                raise ZeroDivisionError
            raise BoundsError("a negative power is not a whole number")
        if abs(base) > 1 and exponent > 64:
            raise BoundsError("the value needs more than 64 bits")
        return int(base**exponent) if exponent >= 0 else base ** (exponent % 2)
    value = base**exponent
    if isinstance(value, complex):
        raise BoundsError("a fractional power of a negative number")
    return float(value)


def _ceil_div(left: Number, right: Number) -> Number:
    return -(-left // right)


FUNCTIONS: dict[str, Callable[..., Number]] = {
    "min": lambda *values: min(values),
    "max": lambda *values: max(values),
    "ceil_div": _ceil_div,
}

_OPERATORS: dict[str, Callable[..., Number]] = {
    **FUNCTIONS,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": _power,
    "negate": lambda a: -a,
    "plus": lambda a: a,
}
