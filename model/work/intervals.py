"""Arithmetic on intervals: the least and the greatest that an operation that is no polynomial can give."""

from __future__ import annotations

from model.work.contents import Interval
from model.work.numbers import EVALUATED

_ALWAYS, _NEVER, _EITHER = (1, 1), (0, 0), (0, 1)


def _truth(kind: str, bounds: list[Interval | None]) -> Interval:
    """Of a condition: surely met, surely not, or either."""
    if kind in ("and", "or"):
        settled, other = (_NEVER, _ALWAYS) if kind == "and" else (_ALWAYS, _NEVER)
        if settled in bounds:
            return settled
        return other if all(b == other for b in bounds) else _EITHER
    (only,) = bounds
    if only is None:
        return _EITHER
    low, high = only
    if kind == "lt0":
        return _ALWAYS if high < 0 else _NEVER if low >= 0 else _EITHER
    if low == high == 0:
        return _ALWAYS
    return _NEVER if low > 0 or high < 0 else _EITHER


def operation_interval(kind: str, bounds: list[Interval | None]) -> Interval | None:
    """Interval arithmetic for the operations that are not polynomial."""
    match kind, bounds:
        case (("lt0" | "eq0" | "not" | "and" | "or"), _):
            return _truth(kind, bounds)
        case "select", [taken, (a, b), (c, d)]:
            if taken is not None and (taken[0] > 0 or taken == (0, 0)):
                return (a, b) if taken[0] > 0 else (c, d)
            return min(a, c), max(b, d)
        case (("mod" | "floormod"), [first, (c, d)]) if c > 0:
            if first is not None and first[0] >= 0 and first[1] < c:
                return first
            # C's remainder has the sign of what is divided.
            below = 0 if kind == "floormod" or (first is not None and first[0] >= 0) else 1 - d
            return below, d - 1
        case "bitand", [first, (c, d)] if c >= 0:
            return 0, d if first is None or first[0] < 0 else min(d, first[1])
        case "bitand", [(c, d), _] if c >= 0:
            return 0, d
        case (("min" | "max"), [(a, b), (c, d)]):
            return (min(a, c), min(b, d)) if kind == "min" else (max(a, c), max(b, d))
        case (("div" | "floordiv" | "ceildiv"), [(a, b), (c, d)]) if c <= 0 <= d:
            return -max(abs(a), abs(b)), max(abs(a), abs(b))  # dividing by 1 or -1 gives the most
        case (("div" | "floordiv" | "ceildiv" | "shl" | "shr" | "sum" | "product"), [(a, b), (c, d)]):
            corners = [EVALUATED[kind](x, y) for x in (a, b) for y in (c, d)]
            known = [x for x in corners if x is not None]
            return (min(known), max(known)) if len(known) == len(corners) else None
        case "abs", [(a, b)]:
            return (0 if a <= 0 <= b else min(abs(a), abs(b))), max(abs(a), abs(b))
        case _:
            return None
