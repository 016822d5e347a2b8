"""What the device spends and what the host waits are told apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.device import Device, DeviceType, ProfileSource
from model.device_catalog import builtin_devices, find_builtin
from model.device_rates import DriverFacts, derive_rates
from model.engine import Engine
from model.host_cost import host_cost_us, host_launch_us
from model.prediction import Prediction

SOURCE = """// kernelcast: global=({n},) local=(64,) x={n}
__kernel void scale(__global float *x) { x[get_global_id(0)] *= 2.0f; }
"""


def known(device_id: str) -> Device:
    device = find_builtin(device_id)
    assert device is not None
    return device


def predicted(device: Device, n: int = 1024) -> Prediction:
    prediction = Engine().forecast(SOURCE.replace("{n}", str(n)), None, device).forecasts[0].prediction
    assert prediction is not None
    return prediction


def test_the_host_waits_for_the_driver_on_top_of_the_device() -> None:
    prediction = predicted(known("amd-radeon-r9-290x"))  # clpeak: 98.17 us from enqueueing to the start
    host = prediction.host_runtime_us
    assert host is not None
    assert host.p50 - prediction.runtime_us.p50 == pytest.approx(98.17, rel=0.01)
    assert prediction.runtime_us.p10 < host.p10 < host.p50 < host.p90


def test_the_driver_costs_the_same_whatever_the_kernel_takes() -> None:
    device = known("amd-radeon-r9-290x")
    small, large = predicted(device), predicted(device, 1 << 26)
    assert small.host_runtime_us is not None
    assert large.host_runtime_us is not None
    assert small.host_runtime_us.p50 > 5 * small.runtime_us.p50
    assert large.host_runtime_us.p50 < 1.1 * large.runtime_us.p50


def test_nothing_is_claimed_of_the_host_where_its_cost_is_unknown() -> None:
    device = known("nvidia-geforce-rtx-3080")
    earlier = replace(device, rates=replace(device.rates, launch_wall_us=0.0))  # as calibrations of earlier versions
    assert predicted(earlier).host_runtime_us is None


def test_a_calibration_of_this_device_makes_the_host_surer() -> None:
    device = known("nvidia-geforce-rtx-3080")
    elsewhere = predicted(device)
    here = predicted(replace(device, source=ProfileSource.CALIBRATED))
    assert elsewhere.host_runtime_us is not None
    assert here.host_runtime_us is not None
    added = [p.host_runtime_us.p90 - p.runtime_us.p90 for p in (here, elsewhere) if p.host_runtime_us]
    assert added[0] < added[1]


@pytest.mark.parametrize("device", builtin_devices(), ids=lambda device: device.id)
def test_every_profile_knows_what_the_host_waits_for_a_launch(device: Device) -> None:
    if not device.id.startswith("generic"):
        assert 1 <= host_cost_us(device) <= 500
        assert "launch latency" in device.note or "host's launch cost" in device.note


@pytest.mark.parametrize(
    ("platform", "name", "slower_platform", "slower_name"),
    [
        ("NVIDIA CUDA", "GeForce RTX 3080", "Intel(R) OpenCL Graphics", "Intel(R) Arc(TM) A770 Graphics"),
        ("AMD Accelerated Parallel Processing", "gfx1100", "AMD Accelerated Parallel Processing", "Radeon HD 7970"),
        ("Intel(R) OpenCL Graphics", "Intel(R) UHD Graphics 770", "ARM Platform", "Mali-G710"),
    ],
)
def test_drivers_differ_in_what_a_launch_costs(
    platform: str, name: str, slower_platform: str, slower_name: str
) -> None:
    assert host_launch_us(platform, name) < host_launch_us(slower_platform, slower_name)


def test_windows_makes_launches_dearer_and_cpus_make_them_cheaper() -> None:
    assert host_launch_us("NVIDIA CUDA", system="win32") > host_launch_us("NVIDIA CUDA", system="linux")
    assert host_launch_us("Intel(R) OpenCL", is_cpu=True) < host_launch_us("Intel(R) OpenCL")


@pytest.mark.parametrize("kind", [DeviceType.GPU, DeviceType.CPU])
def test_an_unknown_device_takes_what_is_usual_with_its_driver(kind: DeviceType) -> None:
    facts = DriverFacts(
        name="A device nobody knows", platform="NVIDIA CUDA", vendor="", type=kind, driver="", compute_units=8,
        clock_mhz=1000, global_mem_bytes=1 << 30, max_alloc_bytes=1 << 28, local_mem_bytes=1 << 15,
        cache_bytes=1 << 20, max_work_group_size=1024, max_work_item_sizes=(1024, 1024, 64), preferred_multiple=32,
        has_fp64=True, has_fp16=False, has_images=True,
    )  # fmt: skip
    rates = derive_rates(facts)
    assert rates.launch_floor_us < rates.launch_wall_us < rates.launch_floor_us + 100
