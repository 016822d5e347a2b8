"""What the non-polynomial operations of `symbolic` mean in numbers; None where C leaves them undefined."""

from __future__ import annotations

from collections.abc import Callable

Value = int | float


def truncated_division(a: Value, b: Value) -> Value:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_INTEGER_LIMIT = 1 << 63

EVALUATED: dict[str, Callable[..., Value | None]] = {
    "div": lambda a, b: truncated_division(a, b) if b else None,
    "mod": lambda a, b: a - b * truncated_division(a, b) if b else None,
    "floordiv": lambda a, b: a // b if b else None,
    "ceildiv": lambda a, b: -(-a // b) if b else None,
    "floormod": lambda a, b: a % b if b else None,
    "min": min,
    "max": max,
    "abs": abs,
    "lt0": lambda a: int(a < 0),
    "eq0": lambda a: int(a == 0),
    "not": lambda a: int(not a),
    "and": lambda a, b: int(bool(a) and bool(b)),
    "or": lambda a, b: int(bool(a) or bool(b)),
    "select": lambda c, a, b: a if c else b,
    "bitand": lambda a, b: int(a) & int(b),
    "bitor": lambda a, b: int(a) | int(b),
    "bitxor": lambda a, b: int(a) ^ int(b),
    "shl": lambda a, b: int(a) << int(b) if 0 <= b < 64 and abs(a) < _INTEGER_LIMIT else None,
    "shr": lambda a, b: int(a) >> int(b) if 0 <= b < 64 else None,
    "sum": lambda a, b: a + b,
    "product": lambda a, b: a * b,
}


# Kinds that `model.work.evaluate` can give a number to. "trips" and "iterate" run a loop's own variables.
EVALUABLE_KINDS = frozenset({"symbol", "load", "trips", "iterate", *EVALUATED})
