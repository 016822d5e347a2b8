"""The levels of a device's memory, told from where bandwidth drops as the footprint grows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from model.device import BandwidthPoint
from model.device_curves import MemoryLevel

STEP = 1.3  # a level lasts while bandwidth stays within this factor of where it began
FLAT = 1.15  # between two levels bandwidth still falls; where it falls by less than this, the next has begun
FINE = 2  # points whose footprints differ by more have no others between two levels
MOST_CACHES = 4


def memory_levels(points: Sequence[BandwidthPoint]) -> tuple[MemoryLevel, ...]:
    """Return caches from the nearest on, and memory itself, from a curve by ascending footprint; empty without one."""
    if not points:
        return ()
    levels = _plateaus(points)
    while len(levels) > MOST_CACHES + 1:
        # The level that differs least from the next tells least.
        starts = [points[first].read_gb_s for first, _ in levels]
        drops = [here / there for here, there in pairwise(starts)]
        del levels[drops.index(min(drops))]
    caches = [
        _level(f"cache {number}", points[(first + last) // 2], points[last].footprint_bytes)
        for number, (first, last) in enumerate(levels[:-1], 1)
    ]
    return (*caches, _level("memory", points[-1], None))


def _plateaus(points: Sequence[BandwidthPoint]) -> list[tuple[int, int]]:
    """(first, last) point of each level; the points between two levels belong to none."""
    found: list[tuple[int, int]] = []
    first = 0
    while first < len(points):
        last = first
        while last + 1 < len(points) and points[last + 1].read_gb_s * STEP >= points[first].read_gb_s:
            last += 1
        found.append((first, last))
        first = last + 1
        while first + 1 < len(points) and _falls_on(points[first], points[first + 1]):
            first += 1
    return found


def _falls_on(here: BandwidthPoint, there: BandwidthPoint) -> bool:
    return there.footprint_bytes <= FINE * here.footprint_bytes and here.read_gb_s > there.read_gb_s * FLAT


def _level(name: str, point: BandwidthPoint, up_to_bytes: int | None) -> MemoryLevel:
    return MemoryLevel(name, up_to_bytes, point.read_gb_s, point.write_gb_s, point.copy_gb_s)
