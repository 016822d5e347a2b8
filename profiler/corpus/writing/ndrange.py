"""Global and local sizes, matrices and lengths that come near a wish and stay within the corpus' limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt, prod

from model.launch.launch import Fill, Launch, Number
from profiler.corpus.draw import Draw
from profiler.corpus.family import Sized, Wish

BUDGET_BYTES = 180_000_000  # over all buffers


@dataclass(frozen=True, slots=True)
class Range:
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None

    @property
    def items(self) -> int:
        return prod(self.global_size)

    @property
    def group(self) -> int:
        """Items in a group; 1 where the driver chooses."""
        return prod(self.local_size or (1,))

    @property
    def groups(self) -> int:
        return self.items // self.group


def power_below(number: int) -> int:
    """Return the largest power of two that is not larger; `number` is at least 1."""
    return 1 << (number.bit_length() - 1)


def affordable(count: int, bytes_each: float, budget: int = BUDGET_BYTES) -> int:
    """At most so many elements as the budget holds; at least one."""
    return max(1, min(count, int(budget / bytes_each)))


def line(
    wish: Wish, bytes_an_item: float = 1, local: int | None = None, most: int = 1024, barriers: bool = False
) -> Range:
    """Return a one-dimensional range. `local` is a size that the kernel insists on, `most` its largest.

    With `barriers` the driver is not left to choose, as it may choose groups of one item.
    """
    items = affordable(wish.items, bytes_an_item)
    if local is None:
        if wish.local is None and not barriers:
            return Range((items,), None)
        local = min(power_below(min(wish.local or 64, most)), power_below(items))
    return Range((max(1, round(items / local)) * local,), (local,))


def plane(
    wish: Wish, bytes_an_item: float = 1, local: tuple[int, int] | None = None, most: int = 1024, barriers: bool = False
) -> Range:
    """Return a two-dimensional range whose shape follows from the wished items and local size alone."""
    items = affordable(wish.items, bytes_an_item)
    shape = Draw("plane", wish.items, wish.local or 0)
    if local is None and (wish.local is not None or barriers):
        total = min(power_below(min(wish.local or 64, most)), power_below(items))
        wide = min(total, 1 << shape.integer(0, 10)) if shape.chance(0.6) else min(total, power_below(2 * isqrt(total)))
        local = (wide, total // wide)
    wide, high = local or (1, 1)
    tiles = max(1, items // (wide * high))
    across = max(1, min(tiles, int(shape.log_real(0.25, 4) * isqrt(tiles))))
    return Range((across * wide, max(1, tiles // across) * high), local)


def matrix(draw: Draw, elements: int, bytes_each: float, columns: tuple[int, int] = (1, 4096)) -> tuple[int, int]:
    """Rows and columns of about so many elements, columns evenly spread in the logarithm."""
    elements = affordable(elements, bytes_each)
    wide = draw.log_integer(min(columns[0], elements), max(1, min(columns[1], elements)))
    return max(1, elements // wide), wide


def side(elements: int, most: int) -> int:
    """Of a square matrix of about so many elements."""
    return max(1, min(most, isqrt(elements)))


def slack(draw: Draw, length: int) -> int:
    """Return the length, and now and then more than the kernel touches."""
    return length + (draw.log_integer(1, max(1, length // 4)) if draw.chance(0.1) else 0)


def sized(
    size: Range,
    operations: float,
    buffers: Mapping[str, int],
    scalars: Mapping[str, Number] | None = None,
    fills: Mapping[str, Fill] | None = None,
    local_bytes: Mapping[str, int] | None = None,
) -> Sized:
    """Return a launch, and its operations.

    Those of few groups count more often, as most of a device then only waits.
    """
    groups = size.groups if size.local_size else -(-size.items // 64)
    launch = Launch(
        size.global_size,
        size.local_size,
        scalars=tuple((scalars or {}).items()),
        buffers=tuple((name, max(1, int(length))) for name, length in buffers.items()),
        fills=tuple((fills or {}).items()),
        local_bytes=tuple((local_bytes or {}).items()),
    )
    return Sized(launch, float(operations) * max(1, 4 / groups))
