"""A launch on a GPU's compute units: what its warps, groups and caches come to, by hand-computed numbers."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from model.analytic.gpu_memory import caches_of
from model.architectures import architecture_of
from model.device import Device
from model.device_catalog import find_builtin
from model.launch.launch import Launch
from model.learned.gpu_facts import GPU_FACT_NAMES, gpu_facts
from model.opencl.program import read_program
from model.work.analyse import analyse
from model.work.work_counts import WorkCounts

COPY = "__kernel void k(__global float *x, __global float *y) { size_t i = get_global_id(0); y[i] = x[i]; }"
SHARED = """__kernel void k(__global float *x, __global float *y, __local float *tile) {
    tile[get_local_id(0)] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = tile[get_local_size(0) - 1 - get_local_id(0)];
}"""
REUSE = """__kernel void k(__global float *x, __global float *y) {
    float s = 0.0f;
    for (int i = 0; i < 64; ++i) s += x[get_group_id(0) * 64 + i];
    y[get_global_id(0)] = s;
}"""


@pytest.fixture
def gpu() -> Device:
    """A GPU of 48 units."""
    found = find_builtin("nvidia-rtx-a4000")
    assert found is not None
    return found


def _counts(text: str, items: int, group: int, local_bytes: int = 0) -> WorkCounts:
    program = read_program(text)
    local = (("tile", local_bytes),) if local_bytes else ()
    launch = Launch((items,), (group,), buffers=(("x", items), ("y", items)), local_bytes=local)
    return analyse(program, program.kernels[0]).count(launch)


def _facts(counts: WorkCounts, device: Device) -> dict[str, float]:
    found = gpu_facts(counts, device)
    assert all(math.isfinite(fact) for fact in found)
    return {name: 2**fact for name, fact in zip(GPU_FACT_NAMES, found, strict=True)}


def test_small_groups_fill_a_core_up_to_its_work_items(gpu: Device) -> None:
    items = architecture_of(gpu).max_items_per_core
    facts = _facts(_counts(COPY, 256 * 48 * items // 128, 256), gpu)
    assert (facts["warps_per_group"], facts["resident_groups"]) == pytest.approx((8, items // 256))
    assert (facts["waves"], facts["last_wave"]) == pytest.approx((2.0, 1.0))


def test_local_memory_limits_how_many_groups_a_core_holds(gpu: Device) -> None:
    held = architecture_of(gpu).local_bytes_per_core // 3
    assert _facts(_counts(SHARED, 64 * 1000, 64, local_bytes=held), gpu)["resident_groups"] == pytest.approx(3)


def test_a_last_wave_of_one_group_keeps_the_device_half_empty(gpu: Device) -> None:
    groups = architecture_of(gpu).max_items_per_core // 256 * gpu.compute_units + 1
    assert _facts(_counts(COPY, 256 * groups, 256), gpu)["last_wave"] == pytest.approx(0.5, abs=0.01)


def test_lanes_beyond_the_group_idle(gpu: Device) -> None:
    assert _facts(_counts(COPY, 48 * 1000, 48), gpu)["idle_lanes"] == pytest.approx(64 / 48)


def test_what_a_group_asks_for_again_comes_from_its_cores_cache(gpu: Device) -> None:
    facts = _facts(_counts(REUSE, 64 * 10_000, 64), gpu)
    assert facts["reuse_in_core"] == pytest.approx((64 * 64 + 64) / (64 + 64))
    assert facts["shared_us"] == pytest.approx(1e-3 * 64 * 10_000 * 8 / caches_of(gpu).last_gb_s, rel=1e-3)
    lines = 10_000 * 2 * (64 + 1)  # of each warp: one for all lanes in each round, and one stored
    assert facts["near_us"] == pytest.approx(lines / (gpu.compute_units * gpu.clock_mhz), rel=1e-3)


def test_amds_lanes_convert_as_fast_as_they_add(gpu: Device) -> None:
    text = "__kernel void k(__global int *x, __global float *y) { size_t i = get_global_id(0); y[i] = (float)x[i]; }"
    counts = _counts(text, 1 << 20, 256)
    other = replace(gpu, platform="AMD Accelerated Parallel Processing")
    assert _facts(counts, other)["convert_us"] == pytest.approx(
        _facts(counts, gpu)["convert_us"] * gpu.rates.native_gop_s / (gpu.rates.fp32_gflop_s / 2),
        rel=1e-3,
    )
