"""Every device that is known, and any that is calibrated, has its facts; what a profile does not say is NaN."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from model.device import Device
from model.device_catalog import builtin_devices
from model.learned.device_facts import DEVICE_FACT_NAMES, device_facts

DEVICES = builtin_devices()


def named(device: Device) -> Mapping[str, float]:
    return dict(zip(DEVICE_FACT_NAMES, device_facts(device), strict=True))


def test_no_two_facts_have_one_name() -> None:
    assert len(set(DEVICE_FACT_NAMES)) == len(DEVICE_FACT_NAMES)


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.id)
def test_every_known_device_has_finite_facts_but_for_what_only_a_calibration_tells(device: Device) -> None:
    found = named(device)
    assert not any(math.isinf(each) for each in found.values())
    rates = device.rates
    without = {f"compute.{name}" for name in ("fp64_gflop_s", "fp16_gflop_s") if getattr(rates, name) == 0}
    unknown = {name for name, each in found.items() if math.isnan(each)}
    known = {name for name in DEVICE_FACT_NAMES if name.startswith(("shape.is_", "memory."))}
    assert without <= unknown
    assert not unknown & known
    if not rates.costs:
        assert {name for name in DEVICE_FACT_NAMES if name.startswith("vectors.")} <= unknown


@pytest.mark.parametrize(
    ("platform", "is_pocl", "is_intels"),
    [("Portable Computing Language", 1, 0), ("Intel(R) OpenCL", 0, 1), ("A runtime of tomorrow", 0, 0)],
)
def test_a_runtime_is_known_by_its_platform(platform: str, is_pocl: int, is_intels: int) -> None:
    found = named(replace(DEVICES[0], platform=platform))
    assert (found["shape.is_pocl"], found["shape.is_intels"]) == (is_pocl, is_intels)


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.id)
def test_twice_the_units_at_the_same_rate_each_change_no_ratio_of_one_unit(device: Device) -> None:
    twice = replace(
        device, compute_units=2 * device.compute_units,
        rates=replace(device.rates, fp32_gflop_s=2 * device.rates.fp32_gflop_s),
    )  # fmt: skip
    once, found = named(device), named(twice)
    assert found["compute.fp32_per_unit"] == pytest.approx(once["compute.fp32_per_unit"])
    assert found["shape.compute_units"] == pytest.approx(once["shape.compute_units"] + 1)
    assert found["memory.bytes_per_flop"] == pytest.approx(once["memory.bytes_per_flop"] - 1)
