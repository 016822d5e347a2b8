"""Predictions keep physical bounds: never below the roofline, never faster for more work, no interval turned over."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from model.device import Device
from model.device_catalog import builtin_devices
from model.engine import Engine
from model.prediction import Prediction

STREAM = """__kernel void k(__global const float *a, __global float *b, int n) {
    int i = get_global_id(0); if (i < n) b[i] = a[i] * 2.0f; }"""
COMPUTE = """__kernel void k(__global float *b, int n) { int i = get_global_id(0); float v = b[i];
    for (int j = 0; j < n; j++) v = v * 1.5f + 0.5f; b[i] = v; }"""
TRIANGLE = """__kernel void k(__global float *b, int n) { float v = 0; int i = get_global_id(0);
    for (int j = 0; j < n; j++) for (int k = 0; k < j; k++) v += b[k]; b[i] = v; }"""
REDUCTION = """__kernel void k(__global const float *a, __global float *b, __local float *t, int n) {
    int l = get_local_id(0); float v = 0;
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) v += a[i];
    t[l] = v; barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s >>= 1) { if (l < s) t[l] += t[l + s]; barrier(CLK_LOCAL_MEM_FENCE); }
    if (l == 0) b[get_group_id(0)] = t[0]; }"""
KERNELS = {
    "stream": (STREAM, "global=n local=64", (1 << 8, 1 << 12, 1 << 16, 1 << 20, 1 << 24)),
    "compute": (COMPUTE, "global=65536 local=64", (1, 4, 16, 100, 1000)),
    "triangle": (TRIANGLE, "global=1024 local=64", (2, 8, 32, 128, 512)),
    "reduction": (REDUCTION, "global=8192 local=128", (1 << 10, 1 << 13, 1 << 16, 1 << 20, 1 << 23)),
}
DEVICES = [pytest.param(device, id=device.id) for device in builtin_devices()]


@cache
def engine(text: str) -> Engine:
    """One for each text: what it has read, counted and analysed serves all devices."""
    return Engine()


def predict(device: Device, text: str, launch: str) -> Prediction:
    annotated = f"// kernelcast: {launch}\n{text}"
    (forecast,) = engine(annotated).forecast(annotated, None, device).forecasts
    assert forecast.prediction is not None, forecast.problem
    return forecast.prediction


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", KERNELS)
def test_more_work_is_never_faster(device: Device, name: str) -> None:
    text, launch, sizes = KERNELS[name]
    times = [predict(device, text, f"{launch} n={n}").runtime_us.p50 for n in sizes]
    assert times == sorted(times)
    assert times[-1] > times[0]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", KERNELS)
def test_no_prediction_is_faster_than_the_device_can_be(device: Device, name: str) -> None:
    text, launch, sizes = KERNELS[name]
    rates = device.rates
    best_gflop_s = max(rates.fp32_gflop_s, rates.fp64_gflop_s, rates.fp16_gflop_s)
    for n in sizes:
        prediction = predict(device, text, f"{launch} n={n}")
        assert prediction.runtime_us.p50 >= rates.launch_floor_us
        assert prediction.runtime_us.p50 >= 1e-3 * prediction.work.flops / best_gflop_s


@pytest.mark.parametrize("device", DEVICES)
def test_quantiles_shares_and_resources_are_what_they_say(device: Device, repository: Path) -> None:
    for file in sorted((repository / "tests" / "kernels").glob("*.cl")):
        text = file.read_text(encoding="utf-8")
        for forecast in engine(text).forecast(text, file, device).forecasts:
            if forecast.prediction is None:
                continue  # another test's business: the launch may be too large for this device
            runtime = forecast.prediction.runtime_us
            assert 0 < runtime.p10 <= runtime.p50 <= runtime.p90 < 1e12
            shares = [line.share for line in forecast.prediction.lines]
            assert shares == sorted(shares, reverse=True)
            assert not shares or sum(shares) == pytest.approx(1, abs=0.01)
            times = [resource.time_us for resource in forecast.prediction.resources]
            assert times == sorted(times, reverse=True)
            assert all(time_us >= 0 for time_us in times)


def test_assumptions_widen_the_interval(cpu: Device) -> None:
    loop = "__kernel void k(__global float *x, int n) {{ for (int i = 0; {}; i++) x[get_global_id(0)] += i; }}"
    known = predict(cpu, loop.format("i < n"), "global=1024 n=100").runtime_us
    guessed = predict(cpu, loop.format("x[i] > 0.0f"), "global=1024 n=100").runtime_us
    assert guessed.p90 / guessed.p50 > known.p90 / known.p50
