"""What the laws say of a launch on a device, resource by resource, in logarithms of microseconds."""

from __future__ import annotations

import math

from model.laws import Times

LEAST_US = 2.0**-20


def law_facts(times: Times) -> tuple[float, ...]:
    """log2 of microseconds: the whole, the least, and each resource in the order of `times`."""
    found = (times.total_us, times.least_us, *(time_us for _, _, time_us in times.resources))
    return tuple(math.log2(min(max(time_us, LEAST_US), 1e30)) for time_us in found)
