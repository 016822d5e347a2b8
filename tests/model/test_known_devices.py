"""A device that somebody has measured before is recognised by what its driver calls it, and scaled to what it is."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.device import Device, DeviceType
from model.device_catalog import builtin_devices, find_builtin, well_known_devices
from model.device_rates import DriverFacts
from model.known_devices import find_builtin_by_name, recognised

CUDA, ROCM, POCL, INTEL = (
    "NVIDIA CUDA",
    "AMD Accelerated Parallel Processing",
    "Portable Computing Language",
    "Intel(R) OpenCL",
)


def facts_of(device: Device, name: str | None = None, **changes: object) -> DriverFacts:
    """What a driver would say of a known device, under the name it gives it."""
    same = {
        field: getattr(device, field)
        for field in DriverFacts.__dataclass_fields__
        if field not in ("name", "vendor", "board", "platform")
    }
    facts = DriverFacts(name=name or device.name, vendor="", platform=device.platform, **same)
    return replace(facts, **changes)  # type: ignore[arg-type]


def known(device_id: str) -> Device:
    device = find_builtin(device_id)
    assert device is not None
    return device


def test_many_well_known_devices_are_there() -> None:
    real = [device for device in builtin_devices() if device.platform != "none"]
    assert len(real) >= 80
    assert {"NVIDIA CUDA", ROCM, "Apple", INTEL, POCL, "ARM Platform"} <= {device.platform for device in real}
    assert len(well_known_devices()) == len({device.id for device in well_known_devices()}) > 25


@pytest.mark.parametrize("device", builtin_devices(), ids=lambda device: device.id)
def test_every_known_device_is_recognised_as_itself(device: Device) -> None:
    found = recognised(facts_of(device))
    assert found is not None
    assert (found.id, found.rates) == (device.id, device.rates)
    assert find_builtin_by_name(device.name) is not None


@pytest.mark.parametrize(
    ("name", "device_id"),
    [
        ("NVIDIA GeForce GTX 1080", "nvidia-geforce-gtx-1080"),
        ("NVIDIA Tesla T4", "nvidia-tesla-t4"),
        ("NVIDIA A100 80GB PCIe", "nvidia-a100-80gb-pcie"),
        ("NVIDIA A100-SXM4-40GB", "nvidia-a100-sxm4-40gb"),
        ("Intel(R) Arc(TM) A770 Graphics", "intel-arc-a770-graphics"),
        ("Intel(R) Gen9 HD Graphics NEO", "intel-uhd-graphics-620"),
        ("gfx908:sramecc+:xnack-", "amd-instinct-mi100"),
        ("Mali-G78 r0p1", "arm-mali-g78"),
    ],
)
def test_what_drivers_put_around_a_name_does_not_matter(name: str, device_id: str) -> None:
    found = find_builtin_by_name(name)
    assert found is not None
    assert found.id == device_id


@pytest.mark.parametrize("name", ["GeForce GTX 1080 Max", "GeForce RTX 4060 SUPER", "NVIDIA", "gfx", "", "Tesla"])
def test_another_chip_is_not_taken_for_a_known_one(name: str) -> None:
    assert find_builtin_by_name(name) is None


@pytest.mark.parametrize(
    ("board", "units", "device_id"),
    [("AMD Radeon Pro VII", 60, "amd-radeon-pro-vii"), ("AMD Instinct MI50", 60, "amd-instinct-mi50")],
)
def test_a_chip_on_several_cards_is_told_by_its_board(board: str, units: int, device_id: str) -> None:
    facts = facts_of(known(device_id), "gfx906:sramecc+:xnack-", board=board, compute_units=units)
    found = recognised(facts)
    assert found is not None
    assert found.id == device_id


def test_a_chip_on_several_cards_is_told_by_its_units_or_not_at_all() -> None:
    hawaii = facts_of(known("amd-radeon-r9-290x"), "Hawaii")
    assert (found := recognised(hawaii)) is not None
    assert found.id == "amd-radeon-r9-290x"
    assert recognised(replace(hawaii, compute_units=36)) is None


def test_a_laptop_variant_is_slower_by_its_units_and_clock() -> None:
    desktop = known("nvidia-geforce-rtx-3080")
    laptop = recognised(
        facts_of(desktop, "NVIDIA GeForce RTX 3080 Laptop GPU", compute_units=48, clock_mhz=desktop.clock_mhz // 2 + 1)
    )
    assert laptop is not None
    assert laptop.rates.fp32_gflop_s == pytest.approx(desktop.rates.fp32_gflop_s * 48 / 68 / 2, rel=0.01)
    assert laptop.rates.bandwidth[-1].read_gb_s < desktop.rates.bandwidth[-1].read_gb_s
    assert laptop.rates.groups_to_fill < desktop.rates.groups_to_fill
    assert "48 units" in laptop.note


def test_a_slice_of_a_gpu_gets_its_share_of_the_memory() -> None:
    whole = known("nvidia-a100-sxm4-40gb")
    eighth = whole.global_mem_bytes // 8
    name = "NVIDIA A100-SXM4-40GB MIG 1g.5gb"
    part = recognised(facts_of(whole, name, compute_units=14, global_mem_bytes=eighth))
    assert part is not None
    assert part.rates.fp32_gflop_s == pytest.approx(whole.rates.fp32_gflop_s * 14 / 108, rel=0.01)
    assert part.rates.bandwidth[-1].read_gb_s == pytest.approx(whole.rates.bandwidth[-1].read_gb_s / 8, rel=0.01)


def test_what_a_driver_counts_otherwise_scales_nothing() -> None:
    m1, uhd = known("apple-m1"), known("intel-uhd-graphics-620")
    elsewhere = recognised(facts_of(m1, platform="clvk", compute_units=1, clock_mhz=0))
    idle = recognised(facts_of(uhd, clock_mhz=300))
    assert elsewhere is not None
    assert idle is not None
    assert (elsewhere.rates, idle.rates) == (m1.rates, uhd.rates)


def test_a_cpu_is_known_under_the_runtime_that_was_measured_only() -> None:
    epyc = known("pocl-amd-epyc-7763")
    under_pocl = recognised(facts_of(epyc, "pthread-AMD EPYC 7763 64-Core Processor"))
    assert under_pocl is not None
    assert under_pocl.rates == epyc.rates
    assert recognised(facts_of(epyc, platform=INTEL)) is None
    assert recognised(facts_of(epyc, compute_units=4)) is None  # a small virtual machine on it


@given(
    st.sampled_from([d for d in builtin_devices() if d.type is not DeviceType.CPU]),
    st.integers(1, 600),
    st.integers(0, 6000),
    st.integers(1, 200),
    st.sampled_from(["", " Laptop GPU", " MIG 1g.5gb", " with Max-Q Design"]),
)
def test_whatever_a_driver_says_the_rates_stay_sound(
    device: Device, units: int, clock_mhz: int, memory_gb: int, suffix: str
) -> None:
    facts = facts_of(device, device.name + suffix, compute_units=units, clock_mhz=clock_mhz)
    found = recognised(replace(facts, global_mem_bytes=memory_gb * 10**9))
    if found is None:
        return
    rates = found.rates
    assert rates.fp32_gflop_s > 0
    assert rates.fp32_gflop_s <= 2 * device.rates.fp32_gflop_s
    assert rates.barrier_ns > 0
    assert rates.groups_to_fill >= 1
    for curve in ([p.read_gb_s for p in rates.bandwidth], [p.gather_gaccess_s for p in rates.gather]):
        assert min(curve) > 0
        assert all(b <= a * (1 + 1e-9) for a, b in pairwise(curve))


@given(st.text(max_size=80))
def test_no_name_is_too_odd(name: str) -> None:
    find_builtin_by_name(name)
