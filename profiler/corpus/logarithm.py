"""Logarithms and powers of two with the same bits on every machine.

Those of C's library differ in the last digit from system to system; additions, products and square roots do not
(IEEE 754), so these are made of such.
"""

from __future__ import annotations

import math

_BITS = 40
_ROOTS: list[float] = []  # 2 ** (1/2), 2 ** (1/4), 2 ** (1/8) ...
for _ in range(_BITS):
    _ROOTS.append(math.sqrt(_ROOTS[-1] if _ROOTS else 2.0))


def log2(value: float) -> float:
    """Of a positive number, to about 12 digits."""
    mantissa, exponent = math.frexp(value)
    mantissa, result, step = 2 * mantissa, float(exponent - 1), 1.0
    for root in _ROOTS:
        step /= 2
        if mantissa >= root:
            mantissa /= root
            result += step
    return result


def exp2(value: float) -> float:
    whole = math.floor(value)
    left, result = value - whole, 1.0
    for root in _ROOTS:
        left *= 2
        if left >= 1:
            left -= 1
            result *= root
    return math.ldexp(result, whole)
