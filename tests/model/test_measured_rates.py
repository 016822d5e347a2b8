"""A GPU that was calibrated is predicted by what was measured of it, kind by kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from model.device import Cost, Device
from model.device_catalog import find_builtin
from model.device_curves import ArithmeticRate, BarrierPoint, ImageRate, LocalStridePoint
from model.engine import Engine

CALL = """// kernelcast: global=1048576 local=256 x=1048576
__kernel void k(__global float *restrict x) { size_t i = get_global_id(0); float v = x[i];
    for (int j = 0; j < 64; j++) v += CALL; x[i] = v; }"""
INTEGERS = """// kernelcast: global=1048576 local=256 x=1048576
__kernel void k(__global TYPE *restrict x, TYPE n) { size_t i = get_global_id(0); TYPE v = x[i];
    for (int j = 0; j < 256; j++) v = OPERATION; x[i] = v; }"""
TILE = """// kernelcast: global=1048576 local=256 x=1048576
__kernel void k(__global float *restrict x) { __local float t[4096]; int l = get_local_id(0);
    t[l] = x[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE); float s = 0;
    for (int j = 0; j < 256; j++) s += t[(INDEX) + j]; x[get_global_id(0)] = s; }"""
BARRIERS = """// kernelcast: global=1048576 local=LOCAL x=1048576
__kernel void k(__global float *restrict x) { __local float t[1024]; int l = get_local_id(0);
    float v = x[get_global_id(0)];
    for (int j = 0; j < 64; j++) { t[l] = v; barrier(CLK_LOCAL_MEM_FENCE); v += t[0]; barrier(CLK_LOCAL_MEM_FENCE); }
    x[get_global_id(0)] = v; }"""
COUNTS = """// kernelcast: global=1048576 local=256 x=1048576 h=256
__kernel void k(__global const int *restrict x, __global int *restrict h) { __local int c[256]; int l = get_local_id(0);
    c[l] = 0; barrier(CLK_LOCAL_MEM_FENCE); atomic_add(&c[WHERE], 1); barrier(CLK_LOCAL_MEM_FENCE); h[l] = c[l]; }"""


@pytest.fixture
def gpu() -> Device:
    found = find_builtin("nvidia-l4")
    assert found is not None
    return found


def runtime_us(device: Device, text: str, **changed: Any) -> float:
    calibrated = replace(device, rates=replace(device.rates, **changed))
    (forecast,) = Engine().forecast(text, None, calibrated).forecasts
    assert forecast.prediction is not None, forecast.problem
    return forecast.prediction.runtime_us.p50


def test_a_function_takes_what_it_was_measured_to_take(gpu: Device) -> None:
    of_erf, of_sin = CALL.replace("CALL", "erf(v)"), CALL.replace("CALL", "sin(v)")
    slow = (Cost("call.erf", 1e-2), Cost("call.sin", 1e-4))
    assert runtime_us(gpu, of_erf, costs=slow) > 10 * runtime_us(gpu, of_sin, costs=slow)


def test_a_function_like_one_that_was_measured_takes_as_long(gpu: Device) -> None:
    text = CALL.replace("CALL", "fmax(v, 0.5f)")
    assert runtime_us(gpu, text, costs=(Cost("call.fmin", 1e-2),)) > 2 * runtime_us(gpu, text)


def test_64_bit_integers_and_multiplications_have_rates_of_their_own(gpu: Device) -> None:
    of_int = INTEGERS.replace("TYPE", "int").replace("OPERATION", "(v ^ n) * n")
    of_long = INTEGERS.replace("TYPE", "long").replace("OPERATION", "(v ^ n) * n")
    slow_long = {"int32_mul_gop_s": 5000.0, "int64_mul_gop_s": 50.0}
    assert runtime_us(gpu, of_long, **slow_long) > 10 * runtime_us(gpu, of_int, **slow_long)


def test_lanes_that_meet_in_one_bank_of_local_memory_queue_up(gpu: Device) -> None:
    strided = tuple(LocalStridePoint(stride, 16000.0 / min(stride, 32)) for stride in (1, 2, 4, 8, 16, 32))
    conflicting, odd = TILE.replace("INDEX", "l * 8"), TILE.replace("INDEX", "l * 9")
    assert runtime_us(gpu, conflicting, local_strided=strided) > 2 * runtime_us(gpu, odd, local_strided=strided)
    # Where no calibration says what it costs, each lane takes a turn.
    assert runtime_us(gpu, conflicting) > 2 * runtime_us(gpu, odd)


def test_barriers_cost_what_groups_of_that_size_were_measured_to_wait(gpu: Device) -> None:
    barriers = (BarrierPoint(64, 0.1), BarrierPoint(1024, 100.0))
    small, large = BARRIERS.replace("LOCAL", "64"), BARRIERS.replace("LOCAL", "1024")
    assert runtime_us(gpu, large, barriers=barriers) > 10 * runtime_us(gpu, small, barriers=barriers)


def test_local_atomics_on_one_address_take_longer_than_on_many(gpu: Device) -> None:
    measured = {"local_atomic_gop_s": 500.0, "contended_local_atomic_gop_s": 5.0}
    many, one = COUNTS.replace("WHERE", "x[get_global_id(0)] & 255"), COUNTS.replace("WHERE", "0")
    assert runtime_us(gpu, one, **measured) > 2 * runtime_us(gpu, many, **measured)


def test_vectors_that_beat_scalars_move_the_roof(gpu: Device) -> None:
    text = CALL.replace("CALL", "v * 0.5f")
    slow = {"fp32_gflop_s": 1.0, "scalar_fp32_gflop_s": 1.0}
    vectors = (ArithmeticRate("float4", "multiply-add", 30000.0),)
    assert runtime_us(gpu, text, **slow, arithmetic=vectors) <= runtime_us(gpu, text, **slow)


def test_writing_images_has_a_rate_of_its_own(gpu: Device) -> None:
    text = """// kernelcast: global=(1024, 1024) local=(16, 16) out=(1024, 1024)
__kernel void k(write_only image2d_t out) {
    int2 at = (int2)(get_global_id(0), get_global_id(1)); write_imagef(out, at, (float4)(1.0f)); }"""
    assert runtime_us(gpu, text, images=(ImageRate(2, "write", 0.5),)) > 5 * runtime_us(gpu, text)
