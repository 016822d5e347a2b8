"""Curves of a device's memory, read between the measured points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from model.device import Rates


def bandwidth_gb_s(footprint_bytes: float, rates: Rates) -> tuple[float, float]:
    """(read, write) bandwidth at a footprint, between the measured points on a log scale."""
    points = [(p.footprint_bytes, (p.read_gb_s, p.write_gb_s)) for p in rates.bandwidth]
    return read_between([(x, y[0]) for x, y in points], footprint_bytes), read_between(
        [(x, y[1]) for x, y in points], footprint_bytes
    )


def gather_gaccess_s(footprint_bytes: float, rates: Rates) -> float:
    return read_between([(p.footprint_bytes, p.gather_gaccess_s) for p in rates.gather], footprint_bytes)


def strided_gaccess_s(stride_elements: float, rates: Rates) -> float:
    return read_between([(p.stride_elements, p.strided_gaccess_s) for p in rates.strided], stride_elements)


def read_between(points: Sequence[tuple[float, float]], x: float) -> float:
    """Geometric interpolation; constant beyond the ends."""
    if not points:
        return math.inf
    if x <= points[0][0]:
        return points[0][1]
    for (x0, y0), (x1, y1) in pairwise(points):
        if x <= x1:
            share = math.log(x / x0) / math.log(x1 / x0)
            return math.exp(math.log(y0) * (1 - share) + math.log(y1) * share)
    return points[-1][1]
