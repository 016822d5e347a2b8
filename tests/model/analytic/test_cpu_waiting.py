"""Loads of which each waits for the one before, on CPUs: by the calibration's curve, else from clocks and gathers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.analytic.cpu import dependent_load_ns, dependent_loads_us
from model.device import Device, GatherPoint
from model.device_catalog import builtin_devices
from model.opencl.types import AddressSpace
from model.work.counts import AccessCount, Pattern

KIB, MIB = 1 << 10, 1 << 20
CPU = next(device for device in builtin_devices() if device.id == "generic-cpu")


def with_curve(*points: tuple[int, float, float]) -> Device:
    """Return a CPU whose calibration found (bytes, gathers, dependent loads) in 1e9 a second."""
    gather = tuple(GatherPoint(size, fast, chase_gaccess_s=slow) for size, fast, slow in points)
    return replace(CPU, rates=replace(CPU.rates, gather=gather))


def load(waiting: float, footprint: float, **changes: object) -> AccessCount:
    plain = AccessCount(
        "x", AddressSpace.GLOBAL, False, False, 1, Pattern.GATHERED, 0, 4, waiting, 4 * waiting, footprint,
        waiting=waiting,
    )  # fmt: skip
    return replace(plain, **changes)  # type: ignore[arg-type]


def test_a_measured_curve_is_taken_as_it_is() -> None:
    device = with_curve((16 * KIB, 3.0, 1.0), (64 * MIB, 0.2, 0.01))
    assert dependent_load_ns(16 * KIB, device) == pytest.approx(1)
    assert dependent_load_ns(64 * MIB, device) == pytest.approx(100)
    assert dependent_loads_us(load(1000, 64 * MIB), device) == pytest.approx(100)


def test_without_one_far_loads_take_several_times_a_gather() -> None:
    device = with_curve((16 * KIB, 3.0, 0.0), (64 * MIB, 0.2, 0.0))
    near, far = dependent_load_ns(16 * KIB, device), dependent_load_ns(64 * MIB, device)
    assert near >= 1 / 3.0
    assert far > 4 / 0.2


def test_a_larger_footprint_is_never_faster() -> None:
    device = with_curve((16 * KIB, 3.0, 0.5), (MIB, 2.0, 0.6), (64 * MIB, 0.2, 0.01))
    assert dependent_load_ns(16 * KIB, device) <= dependent_load_ns(MIB, device) <= dependent_load_ns(64 * MIB, device)


def test_what_stays_near_waits_for_the_near_cache_alone() -> None:
    device = with_curve((16 * KIB, 3.0, 1.0), (64 * MIB, 0.2, 0.01))
    half = load(1000, 64 * MIB, working_sets=((0.5, 16.0 * KIB), (0.5, 64.0 * MIB)))
    assert dependent_loads_us(half, device) == pytest.approx(0.5 * 1 + 0.5 * 100)


def test_operations_in_between_wait_as_well() -> None:
    device = with_curve((16 * KIB, 3.0, 1.0), (64 * MIB, 0.2, 0.01))
    plain, with_ops = load(1000, 16 * KIB), load(1000, 16 * KIB, waiting_ops=5)
    assert dependent_loads_us(with_ops, device) > dependent_loads_us(plain, device)
    assert dependent_loads_us(load(0, 64 * MIB), device) == 0
