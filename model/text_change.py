"""Where two versions of a text differ: what both begin and end with, found by comparing slices at memory speed."""

from __future__ import annotations

from typing import AnyStr


def replaced_part(old: AnyStr, new: AnyStr) -> tuple[int, int, int]:
    """Return start and end of the part of `old` that was replaced, and the end of what stands for it in `new`."""
    start = common_prefix(old, new)
    same = common_suffix(old, new, min(len(old), len(new)) - start)
    return start, len(old) - same, len(new) - same


def common_prefix(a: AnyStr, b: AnyStr) -> int:
    """Return the length of the common prefix, by bisection."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_suffix(a: AnyStr, b: AnyStr, limit: int) -> int:
    """Return the length of the common suffix, at most `limit`, by bisection."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if a[len(a) - middle : len(a) - low] == b[len(b) - middle : len(b) - low]:
            low = middle
        else:
            high = middle - 1
    return low
