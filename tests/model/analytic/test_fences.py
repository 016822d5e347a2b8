"""Memory fences take time where a runtime makes instructions of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.analytic.operations import FENCE_CLOCKS
from model.device import Device
from model.engine import Engine
from model.opencl.builtins import FENCES
from tests.model.test_costs_of_cpus import with_calibration

ROUNDS = 64
ITEMS = 65536
TEXT = f"""// kernelcast: global={ITEMS} local=64 o={ITEMS} n={ROUNDS}
kernel void k(global float *o, int n) {{
    float s = get_global_id(0);
    for (int i = 0; i < n; i++) {{ s = s * 1.5f + 1; FENCE }}
    o[get_global_id(0)] = s;
}}"""
FULL = "mem_fence(CLK_LOCAL_MEM_FENCE);"
NEWER = "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);"


def runtime_us(device: Device, fence: str) -> float:
    (forecast,) = Engine().forecast(TEXT.replace("FENCE", fence), None, device).forecasts
    assert forecast.prediction is not None, forecast.problem
    return forecast.prediction.runtime_us.p50


@pytest.fixture(params=[False, True], ids=["uncalibrated", "calibrated"])
def intels(cpu: Device, request: pytest.FixtureRequest) -> Device:
    device = replace(cpu, platform="Intel(R) OpenCL")
    return with_calibration(device) if request.param else device


@pytest.mark.parametrize("fence", [FULL, NEWER])
def test_each_full_fence_takes_tens_of_cycles(intels: Device, fence: str) -> None:
    cycle_us = 1 / intels.clock_mhz / intels.compute_units
    added_us = runtime_us(intels, fence) - runtime_us(intels, "")
    assert 20 < added_us / (ROUNDS * ITEMS * cycle_us) < 80


def test_loads_and_stores_alone_wait_less(intels: Device) -> None:
    reads, writes = runtime_us(intels, f"read_{FULL}"), runtime_us(intels, f"write_{FULL}")
    assert runtime_us(intels, "") < writes < reads < runtime_us(intels, FULL)


def test_a_fence_that_leaves_no_instruction_takes_no_time(intels: Device) -> None:
    pocl = replace(intels, platform="Portable Computing Language")
    assert runtime_us(pocl, FULL) == pytest.approx(runtime_us(pocl, ""), rel=0.1)


def test_each_fence_has_its_price() -> None:
    assert FENCE_CLOCKS.keys() == FENCES
