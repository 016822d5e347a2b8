"""Analytical times in logarithms: of every known device, for launches from nothing to more than anyone runs."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.account import RESOURCES, Bound, Times
from model.analytic.launch_times import launch_times
from model.device import Device
from model.device_catalog import builtin_devices
from model.launch.launch import Launch
from model.learned.question import ANALYTIC_FACT_NAMES, analytic_facts
from model.opencl.program import read_program
from model.work.analyse import analyse

ADD = read_program("kernel void k(global float *x) { size_t i = get_global_id(0); x[i] += 1.0f; }")
WORK = analyse(ADD, ADD.kernels[0])


@pytest.mark.parametrize("device", builtin_devices(), ids=lambda device: device.id)
def test_facts_are_the_analytical_model_times_on_every_known_device(device: Device) -> None:
    times = launch_times(WORK.count(Launch((1 << 20,), (64,), buffers=(("x", 1 << 20),))), device)
    found = dict(zip(ANALYTIC_FACT_NAMES, analytic_facts(times), strict=True))
    assert len(found) == len(ANALYTIC_FACT_NAMES)
    assert all(math.isfinite(each) for each in found.values())
    assert 2 ** found["total"] == pytest.approx(times.total_us)
    assert 2 ** found["least"] == pytest.approx(times.least_us)
    assert 2 ** found["launch floor"] == pytest.approx(device.rates.launch_floor_us)
    assert found["atomics"] == -20


@given(st.lists(st.floats(0, math.inf), min_size=len(RESOURCES) + 2, max_size=len(RESOURCES) + 2))
def test_facts_are_finite_whatever_the_analytical_model_says(times_us: list[float]) -> None:
    total_us, least_us, *rest = times_us
    resources = tuple((name, Bound.COMPUTE, time_us) for name, time_us in zip(RESOURCES, rest, strict=True))
    found = analytic_facts(Times(resources, total_us, least_us))
    assert len(found) == len(ANALYTIC_FACT_NAMES)
    assert all(math.isfinite(each) for each in found)
