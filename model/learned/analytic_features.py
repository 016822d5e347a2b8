"""What the analytical model says of a launch on a device, resource by resource, in logarithms of microseconds."""

from __future__ import annotations

import math

from model.account import RESOURCES, Times

LEAST_US = 2.0**-20
ANALYTIC_FACT_NAMES = ("total", "least", *RESOURCES)


def analytic_facts(times: Times) -> tuple[float, ...]:
    """log2 of microseconds, in the order of ANALYTIC_FACT_NAMES; -20 for what a launch has nothing of."""
    by_name = {name: time_us for name, _, time_us in times.resources}
    found = (times.total_us, times.least_us, *(by_name[name] for name in RESOURCES))
    return tuple(math.log2(min(max(time_us, LEAST_US), 1e30)) for time_us in found)
