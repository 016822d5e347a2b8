"""Curves of a device's memory, read between the measured points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from model.device import Rates


def bandwidth_gb_s(footprint_bytes: float, rates: Rates) -> tuple[float, float]:
    """(read, write) bandwidth at a footprint, between the measured points on a log scale."""
    curves = _curves(rates)
    return read_between(curves.read, footprint_bytes), read_between(curves.write, footprint_bytes)


def gather_gaccess_s(footprint_bytes: float, rates: Rates) -> float:
    return read_between(_curves(rates).gather, footprint_bytes)


def chase_gaccess_s(footprint_bytes: float, rates: Rates) -> float:
    """Return dependent loads a second, in 1e9; 0 where not measured."""
    return read_between(_curves(rates).chase, footprint_bytes) if _curves(rates).chase else 0.0


def strided_gaccess_s(stride_elements: float, rates: Rates) -> float:
    return read_between(_curves(rates).strided, stride_elements)


Curve = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class _Curves:
    read: Curve
    write: Curve
    gather: Curve
    chase: Curve
    strided: Curve


@lru_cache(maxsize=64)
def _curves(rates: Rates) -> _Curves:
    return _Curves(
        tuple((p.footprint_bytes, p.read_gb_s) for p in rates.bandwidth),
        tuple((p.footprint_bytes, p.write_gb_s) for p in rates.bandwidth),
        tuple((p.footprint_bytes, p.gather_gaccess_s) for p in rates.gather),
        _falling([(p.footprint_bytes, p.chase_gaccess_s) for p in rates.gather if p.chase_gaccess_s]),
        tuple((p.stride_elements, p.strided_gaccess_s) for p in rates.strided),
    )


def _falling(points: Sequence[tuple[float, float]]) -> Curve:
    """Return the points, each at least as fast as those after it."""
    return tuple((x, max(y for _, y in points[at:])) for at, (x, _) in enumerate(points))


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
