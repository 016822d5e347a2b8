"""What the non-polynomial operations of `symbolic` mean in numbers; None where C leaves them undefined."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

Value = int | float


def truncated_division(a: Value, b: Value) -> Value:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


SHIFTED_BELOW = 1 << 63

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
    "shl": lambda a, b: int(a) << int(b) if 0 <= b < 64 and abs(a) < SHIFTED_BELOW else None,
    "shr": lambda a, b: int(a) >> int(b) if 0 <= b < 64 else None,
    "sum": lambda a, b: a + b,
    "product": lambda a, b: a * b,
}


@lru_cache(1024)
def function_of(kind: str, name: str) -> Callable[..., Value | None] | None:
    """Return what an operation computes: `name` is its first argument where that is a word; None where nobody says."""
    match kind:
        case "compare" | "float" | "operator":
            return _OPERATORS.get(name)
        case "negate":
            return lambda a: -a
        case "convert":
            return (lambda a: a) if name.startswith(("float", "double", "half")) else int
        case "narrow":
            return lambda a: a
        case "call":
            return _CALLS.get(name.removeprefix("native_").removeprefix("half_"))
    return EVALUATED.get(kind)


def word_of(arguments: Sequence[object]) -> str:
    """Return the first argument where it is a word: spelling out an expression would take time without bounds."""
    return arguments[0] if arguments and isinstance(arguments[0], str) else ""


def is_evaluable(kind: str, arguments: Sequence[object]) -> bool:
    """Return whether `model.work.evaluate` may give an operation a number, if it can its operands."""
    return kind in _EVALUABLE_KINDS or (kind == "call" and function_of(kind, str(arguments[0])) is not None)


_OPERATORS: dict[str, Callable[..., Value | None]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "fma": lambda a, b, c: a * b + c,
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
}
_CALLS: dict[str, Callable[..., Value | None]] = {
    "rounded": lambda a: a,
    "saturate": lambda a: a,
    "saturate_char": lambda a: a,
    "fabs": abs,
    "fmin": min,
    "fmax": max,
    "min": min,
    "max": max,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "round": lambda a: math.floor(abs(a) + 0.5) * (1 if a >= 0 else -1),
    "rint": round,
    "sqrt": math.sqrt,
    "rsqrt": lambda a: 1 / math.sqrt(a),
    "exp": math.exp,
    "exp2": lambda a: 2.0**a,
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "atan": math.atan,
    "atan2": math.atan2,
    "pow": math.pow,
    "powr": math.pow,
    "pown": math.pow,
    "fma": lambda a, b, c: a * b + c,
    "mad": lambda a, b, c: a * b + c,
    "fmod": math.fmod,
    "hypot": math.hypot,
    "length": math.hypot,
    "atan2pi": lambda a, b: math.atan2(a, b) / math.pi,
    "clamp": lambda a, low, high: min(max(a, low), high),
    "mix": lambda a, b, t: a + (b - a) * t,
    "degrees": math.degrees,
    "radians": math.radians,
    "isnan": lambda a: int(math.isnan(a)),
    "isfinite": lambda a: int(math.isfinite(a)),
}

# "trips" and "iterate" run a loop's own variables.
_EVALUABLE_KINDS = frozenset(
    {"symbol", "load", "trips", "iterate", "negate", "compare", "float", "convert", "literal", *EVALUATED}
)
