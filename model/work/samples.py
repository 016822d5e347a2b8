"""Some values of a range that stand for all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator

_GOLDEN = (math.sqrt(5) - 1) / 2


def samples(low: int, high: int, budget: int) -> Iterator[tuple[int, float]]:
    """(value, weight): all values of a short range, else one of each of `budget` strata.

    The place within a stratum follows the golden ratio, so that a stride in the data is not met in step.
    """
    length = high - low
    if length <= max(budget, 1):
        for value in range(low, high):
            yield value, 1 / length
        return
    for j in range(budget):
        yield low + int((j + (j * _GOLDEN + 0.5) % 1.0) * length / budget), 1 / budget
