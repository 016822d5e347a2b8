"""Shipped device profiles are complete, consistent, and readable."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from model.device import Device, DeviceType, ProfileSource
from model.device_catalog import (
    builtin_devices,
    device_from_json,
    device_to_json,
    find_builtin,
    slug,
)
from model.device_rates import DriverFacts, derive_rates
from model.known_devices import find_builtin_by_name

EVERY = pytest.mark.parametrize("device", builtin_devices(), ids=lambda device: device.id)


def facts(kind: DeviceType, units: int = 8, clock_mhz: int = 3000) -> DriverFacts:
    return DriverFacts(
        name="x",
        platform="x",
        vendor="x",
        type=kind,
        driver="1",
        compute_units=units,
        clock_mhz=clock_mhz,
        global_mem_bytes=10**10,
        max_alloc_bytes=10**9,
        local_mem_bytes=32768,
        cache_bytes=2**24,
        max_work_group_size=1024,
        max_work_item_sizes=(1024, 1024, 64),
        preferred_multiple=32,
        has_fp64=True,
        has_fp16=False,
        has_images=True,
    )


def test_stand_ins_and_known_gpus_are_there() -> None:
    ids = {device.id for device in builtin_devices()}
    assert {"generic-cpu", "generic-gpu", "nvidia-tesla-t4", "amd-instinct-mi210", "nvidia-h100-80gb-hbm3"} <= ids
    assert find_builtin("nvidia-tesla-t4") == find_builtin_by_name("Tesla T4")
    assert find_builtin("no-such-device") is None


@EVERY
def test_every_profile_survives_the_way_to_json_and_back(device: Device) -> None:
    assert device_from_json(device_to_json(device)) == device
    assert json.loads(device_to_json(device))["rates"]["fp32_gflop_s"] == device.rates.fp32_gflop_s


@EVERY
def test_every_profile_is_consistent(device: Device) -> None:
    rates = device.rates
    assert device.source is ProfileSource.DATASHEET
    assert device.note
    assert rates.launch_floor_us > 0
    assert rates.fp32_gflop_s >= rates.scalar_fp32_gflop_s > 0
    for name in ("int32_gop_s", "divide_gop_s", "special_gop_s", "native_gop_s", "int_divide_gop_s", "barrier_ns"):
        assert getattr(rates, name) > 0
    footprints = [point.footprint_bytes for point in rates.bandwidth]
    assert footprints == sorted(footprints)
    for point, near in zip(rates.gather, rates.bandwidth, strict=True):
        assert 4 * point.gather_gaccess_s <= near.read_gb_s
    for curve in (
        [point.read_gb_s for point in rates.bandwidth],
        [point.gather_gaccess_s for point in rates.gather],
        [point.strided_gaccess_s for point in rates.strided],
    ):
        assert curve == sorted(curve, reverse=True)


def test_a_calibrated_profile_keeps_its_date_and_noise() -> None:
    device = replace(
        builtin_devices()[0],
        source=ProfileSource.CALIBRATED,
        measured_at="2026-01-01T00:00:00+00:00",
        noise_percent=1.8,
    )
    assert device_from_json(device_to_json(device)) == device


@pytest.mark.parametrize("kind", list(DeviceType))
def test_more_units_and_a_faster_clock_are_never_slower(kind: DeviceType) -> None:
    small, large = derive_rates(facts(kind)), derive_rates(facts(kind, units=16, clock_mhz=3500))
    assert large.fp32_gflop_s > small.fp32_gflop_s
    assert large.group_overhead_ns <= small.group_overhead_ns
    assert large.bandwidth[-1].read_gb_s >= small.bandwidth[-1].read_gb_s


@pytest.mark.parametrize("kind", list(DeviceType))
def test_a_driver_that_reports_nothing_still_gets_rates(kind: DeviceType) -> None:
    silent = replace(facts(kind, units=1, clock_mhz=0), cache_bytes=0, has_fp64=False)
    assert derive_rates(silent).fp32_gflop_s > 0
    assert derive_rates(silent).fp64_gflop_s == 0


def test_ids_are_made_of_plain_words() -> None:
    assert slug("Intel(R) UHD Graphics™ 770") == "intel-uhd-graphics-770"
    assert slug("///") == "device"
