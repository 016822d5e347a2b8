"""The roofs that a prediction stands under."""

from __future__ import annotations

import pytest

from model.device import BandwidthPoint, Device
from model.device_catalog import builtin_devices
from model.engine import Engine
from model.roofline import Roofline, memory_levels, roofline

SIZES = "global=65536 local=64"


def roofline_of(body: str, device: Device, parameters: str = "__global float *a") -> Roofline:
    text = f"// kernelcast: {SIZES}\n__kernel void k({parameters}) {{ int i = get_global_id(0); {body} }}"
    (forecast,) = Engine().forecast(text, None, device).forecasts
    assert forecast.prediction is not None, forecast.problem
    return roofline(forecast.prediction, device)


def test_flops_for_each_byte_that_is_asked_for(cpu: Device) -> None:
    found = roofline_of("a[i] = a[i] * 2.0f + 1.0f;", cpu)
    assert found.unit == "flop"
    assert found.requested_bytes == 65536 * 8
    assert found.intensity == pytest.approx(2 / 8)
    assert found.gop_s(1000.0) == pytest.approx(found.operations * 1e-6)


def test_a_kernel_of_integers_is_counted_in_those(cpu: Device) -> None:
    found = roofline_of("a[i] = a[i] * 3 + 1;", cpu, "__global int *a")
    assert found.unit == "int op"
    assert [c.name for c in found.ceilings] == ["int32"]


def test_a_kernel_without_memory_has_no_intensity(cpu: Device) -> None:
    found = roofline_of("float s = i; for (int k = 0; k < 9; ++k) s = s * s + 0.5f; (void)s;", cpu)
    assert found.intensity is None


def test_only_ceilings_that_the_kernel_may_meet_are_named(cpu: Device) -> None:
    plain = roofline_of("a[i] = a[i] * 2.0f;", cpu)
    assert [c.name for c in plain.ceilings] == ["fp32"]
    double = roofline_of("a[i] = a[i] * 2.0;", cpu, "__global double *a")
    assert "fp64" in [c.name for c in double.ceilings]
    sines = roofline_of("a[i] = sin(a[i]);", cpu)
    assert "special functions" in [c.name for c in sines.ceilings]


@pytest.mark.parametrize("device", builtin_devices(), ids=lambda d: d.id)
def test_every_device_has_one_to_three_levels_and_memory_is_the_slowest(device: Device) -> None:
    levels = memory_levels(device.rates.bandwidth)
    assert 1 <= len(levels) <= 3
    assert [level.read_gb_s for level in levels] == sorted((level.read_gb_s for level in levels), reverse=True)
    assert levels[-1].up_to_bytes is None
    assert levels[-1].read_gb_s == device.rates.bandwidth[-1].read_gb_s


def test_noise_between_points_makes_no_level() -> None:
    points = [
        BandwidthPoint(16 << (2 * n), rate, rate) for n, rate in enumerate((100.0, 104.0, 97.0, 20.0, 21.0, 20.0))
    ]
    assert [level.read_gb_s for level in memory_levels(points)] == [97.0, 20.0]


def test_no_prediction_beats_the_roofs(cpu: Device) -> None:
    (forecast,) = (
        Engine().forecast("__kernel void k(__global float *a) { a[get_global_id(0)] *= 2; }", None, cpu).forecasts
    )
    assert forecast.prediction is not None
    found, q = roofline(forecast.prediction, cpu), forecast.prediction.runtime_us
    assert found.gop_s(q.p10) <= found.ceilings[0].gop_s * 1.001


@pytest.mark.parametrize("device", builtin_devices(), ids=lambda d: d.id)
def test_roofs_are_in_the_operations_that_the_point_is_in(device: Device) -> None:
    """A function counts once and takes as long as many additions: its roof must be of all the operations beside it."""
    for body in (
        "a[i] = sin(a[i]) * 2.0f + 1.0f;",
        "a[i] = a[i] / (a[i] + 1.0f);",
        "float s = a[i]; s = s * s + i; a[i] = s;",
    ):
        text = f"// kernelcast: {SIZES}\n__kernel void k(__global float *a) {{ int i = get_global_id(0); {body} }}"
        (forecast,) = Engine().forecast(text, None, device).forecasts
        assert forecast.prediction is not None
        found = roofline(forecast.prediction, device)
        assert found.gop_s(forecast.prediction.runtime_us.p50) <= min(c.gop_s for c in found.ceilings) * 1.001
