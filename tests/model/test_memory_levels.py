"""Caches are told from where bandwidth drops."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from model.device import BandwidthPoint
from model.device_catalog import builtin_devices
from model.memory_levels import MOST_CACHES, memory_levels

KIB, MIB = 1024, 1024 * 1024


def curve(*read_gb_s: float, first_bytes: int = 16 * KIB, step: int = 2) -> list[BandwidthPoint]:
    return [BandwidthPoint(first_bytes * step**at, rate, rate / 2, rate / 3) for at, rate in enumerate(read_gb_s)]


def sizes(points: list[BandwidthPoint]) -> list[int | None]:
    return [level.up_to_bytes for level in memory_levels(points)]


def test_two_caches_and_memory_are_found_with_their_sizes_and_rates() -> None:
    #        16 KiB    32     64     128    256    512    1 MiB  2      4      8 ...
    points = curve(400.0, 395.0, 200.0, 198.0, 195.0, 190.0, 190.0, 20.0, 20.0, 20.0)
    near, far, memory = memory_levels(points)
    assert (near.name, near.up_to_bytes, near.read_gb_s) == ("cache 1", 32 * KIB, 400.0)
    assert (far.name, far.up_to_bytes) == ("cache 2", 1 * MIB)
    assert 190 <= far.read_gb_s <= 200
    assert (memory.name, memory.up_to_bytes, memory.read_gb_s, memory.copy_gb_s) == ("memory", None, 20.0, 20.0 / 3)


def test_footprints_of_which_a_part_is_cached_are_no_level_of_their_own() -> None:
    assert sizes(curve(400.0, 400.0, 400.0, 230.0, 120.0, 60.0, 58.0, 57.0)) == [64 * KIB, None]


def test_noise_makes_no_level() -> None:
    assert sizes(curve(100.0, 96.0, 103.0, 92.0, 97.0, 94.0)) == [None]


def test_a_coarse_curve_whose_every_point_is_another_level_keeps_them() -> None:
    assert sizes(curve(400.0, 200.0, 90.0, 20.0, step=8)) == [16 * KIB, 128 * KIB, 1 * MIB, None]


def test_no_curve_no_levels() -> None:
    assert memory_levels([]) == ()


@given(st.lists(st.floats(0.1, 1e5), min_size=1, max_size=20), st.sampled_from((2, 4)))
def test_whatever_the_curve_levels_grow_slower_and_larger_and_end_with_memory(rates: list[float], step: int) -> None:
    levels = memory_levels(curve(*sorted(rates, reverse=True), step=step))
    *caches, memory = levels
    assert memory.up_to_bytes is None
    assert len(caches) <= MOST_CACHES
    ends = [level.up_to_bytes or 0 for level in caches]
    assert ends == sorted(set(ends))
    reads = [level.read_gb_s for level in levels]
    assert reads == sorted(reads, reverse=True)


def test_shipped_profiles_have_memory_behind_their_caches() -> None:
    for device in builtin_devices():
        assert memory_levels(device.rates.bandwidth)[-1].name == "memory"
