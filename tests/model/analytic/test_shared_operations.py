"""What neighbouring work-items share, a CPU's runtime computes once for a row or a group: where its loops let it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.device import Device
from model.engine import Engine
from tests.model.test_costs_of_cpus import with_calibration

HEAD = "// kernelcast: global=(512, 512) local=(16, 16) x=N o=N N=262144 n=512 m=7\n"
KERNEL = (
    "__kernel void k(__global const float *x, __global float *o, float a, float b, int n, int m) {"
    " int i = get_global_id(0), j = get_global_id(1); BODY }"
)
PLACE = "j * 512 + i"


@pytest.fixture(params=["Portable Computing Language", "Intel(R) OpenCL"])
def calibrated(cpu: Device, request: pytest.FixtureRequest) -> Device:
    return replace(with_calibration(cpu, call__exp=20.0, call__pow=40.0), platform=request.param)


def special_us(device: Device, body: str) -> float:
    return resource_us(device, body, "special functions")


def resource_us(device: Device, body: str, resource: str) -> float:
    text = HEAD + KERNEL.replace("BODY", body)
    (forecast,) = Engine().forecast(text, None, device).forecasts
    assert forecast.prediction is not None, forecast.problem
    return next((r.time_us for r in forecast.prediction.resources if r.resource == resource), 0.0)


def stored(value: str) -> str:
    return f"o[{PLACE}] = x[{PLACE}] * ({value});"


OF_ALL, OF_EACH = stored("exp(x[j * 512 + i])"), stored("exp(a * i)")


@pytest.mark.parametrize("value", ["exp(a)", "pow(a, b)", "exp(a * get_group_id(0))", "(float)(n / m % 17)"])
def test_a_value_of_the_whole_group_is_computed_once(calibrated: Device, value: str) -> None:
    assert special_us(calibrated, stored(value)) < special_us(calibrated, OF_ALL) / 50


def test_a_value_of_a_row_is_computed_once_a_row(calibrated: Device) -> None:
    assert special_us(calibrated, OF_ALL) / special_us(calibrated, stored("exp(a * j)")) == pytest.approx(16, rel=0.01)


@pytest.mark.parametrize("body", [OF_EACH, stored("exp(x[0])"), f"for (int k = 0; k < n; ++k) {stored('exp(a * k)')}"])
def test_other_values_are_computed_by_each_work_item(calibrated: Device, body: str) -> None:
    """Another work-item may store to the place of a load; within loops of the source nothing moves."""
    assert special_us(calibrated, body) >= special_us(calibrated, OF_ALL)


@pytest.mark.parametrize("guard", ["if (i < n) {{ {0} }}", "if (i >= n) return; {0}"])
def test_guarded_calls_move_where_the_runtime_was_seen_to_move_them(calibrated: Device, guard: str) -> None:
    shared, all_us = special_us(calibrated, guard.format(stored("exp(a)"))), special_us(calibrated, OF_ALL)
    assert (shared < all_us / 50) is calibrated.platform.startswith("Intel")


def test_lone_work_items_share_nothing(calibrated: Device) -> None:
    text = HEAD.replace("(16, 16)", "(1, 1)") + KERNEL.replace("BODY", stored("exp(a)"))
    (forecast,) = Engine().forecast(text, None, calibrated).forecasts
    assert forecast.prediction is not None
    special = next(r.time_us for r in forecast.prediction.resources if r.resource == "special functions")
    assert special >= special_us(calibrated, OF_ALL)


def test_sizes_that_the_runtime_keeps_in_memory_may_change(calibrated: Device) -> None:
    """PoCL divides by them for each work-item, Intel's runtime for each vector."""
    wide = replace(calibrated, preferred_multiple=8)
    each = special_us(wide, stored("(float)((n + i) / (ulong)m)"))
    once = 8 if calibrated.platform.startswith("Intel") else 1
    assert each / special_us(wide, stored("(float)(n / get_global_size(0))")) == pytest.approx(once, rel=0.1)


ARITHMETIC = "({0} * n ^ m) * 3 + ({0} | n) * 5 - ({0} & m) * 7"


@pytest.mark.parametrize("guard", ["{0}", "if (x[j * 512 + i] > 0) {{ {0} }}", "if (i >= n) return; {0}"])
def test_integers_of_a_row_are_computed_once_on_pocl(calibrated: Device, guard: str) -> None:
    """Nothing goes wrong where they are computed for a row of which no work-item enters."""
    each, row, none = (
        resource_us(calibrated, guard.format(f"o[{PLACE}] = {value};"), "integer")
        for value in (ARITHMETIC.format("i"), ARITHMETIC.format("j"), "j")
    )
    assert (row - none < (each - none) / 3) is not calibrated.platform.startswith("Intel")


def test_integers_within_a_loop_are_computed_each_time(calibrated: Device) -> None:
    row, each = (
        resource_us(calibrated, f"for (int k = 0; k < n; ++k) o[{PLACE}] += k * {id};", "integer") for id in "ji"
    )
    assert row == pytest.approx(each, rel=0.01)
