"""What anybody who knows GPUs would expect of their predictions, checked against published figures."""

from __future__ import annotations

import pytest

from model.engine import Engine
from model.known_devices import find_builtin_by_name
from model.laws import Times, launch_times

CHASE = """kernel void chase(global const int *next, global int *out, int n) {
    int j = get_global_id(0);
    for (int i = 0; i < n; i++) j = (next[j] + j + 4099) % 450000;
    out[get_global_id(0)] = j; }"""
STREAM = "kernel void scale(global const float *a, global float *b) { int i = get_global_id(0); b[i] = 2 * a[i]; }"
PRODUCT = """kernel void product(global const float *a, global const float *b, global float *c, int n) {
    int i = get_global_id(1), j = get_global_id(0); float s = 0;
    for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
    c[i * n + j] = s; }"""


def times_of(text: str, launch: str, name: str) -> Times:
    device = find_builtin_by_name(name)
    assert device is not None
    (forecast,) = Engine().forecast(f"// kernelcast: {launch}\n{text}", None, device).forecasts
    assert forecast.prediction is not None, forecast.problem
    return launch_times(forecast.prediction.work, device)


@pytest.mark.parametrize(
    ("name", "step_ns"),
    [
        ("NVIDIA GeForce GTX 1080", 129),
        ("NVIDIA GeForce GTX 1080 Ti", 154),
        ("Tesla K40c", 461),
        ("Tahiti", 432),
        ("Tesla V100-PCIE-32GB", 140),  # Jia et al. 2018: 193 cycles where L2 has it
        ("NVIDIA A100-PCIE-40GB", 145),  # gpu-benches: 205 cycles where L2 has it
    ],
)
def test_a_chain_of_loads_waits_for_each_of_them(name: str, step_ns: float) -> None:
    steps = 10_000
    # 1.8 MB: in the L2 of the newer chips, beyond that of the Kepler and of the GCN.
    launch = f"global=32 local=32 n={steps} next=450000 out=32 fill.next=zeros"
    found_ns = 1e3 * times_of(CHASE, launch, name).total_us / steps
    assert step_ns / 2 < found_ns < step_ns * 2


@pytest.mark.parametrize(
    "name",
    ["NVIDIA GeForce GTX 1080", "NVIDIA GeForce RTX 3080", "NVIDIA A100-PCIE-40GB", "Tahiti", "AMD Instinct MI100"],
)
def test_groups_of_half_a_warp_stream_no_faster(name: str) -> None:
    small, whole = (times_of(STREAM, f"global=16777216 local={local}", name).total_us for local in (16, 64))
    assert small > whole


def test_a_product_grows_smoothly_with_what_caches_hold() -> None:
    smaller, larger = (
        times_of(PRODUCT, "global=1024,1024 local=16,16 n=1024", f"NVIDIA GeForce RTX {number}").total_us
        for number in (3060, 3080)
    )
    assert larger < smaller < 4 * larger


def test_a_product_by_tiles_is_faster_than_a_naive_one() -> None:
    tiled = """kernel void tiled(global const float *a, global const float *b, global float *c, int n) {
        local float p[16][16], q[16][16];
        int x = get_local_id(0), y = get_local_id(1), i = get_global_id(1), j = get_global_id(0); float s = 0;
        for (int t = 0; t < n; t += 16) {
            p[y][x] = a[i * n + t + x]; q[y][x] = b[(t + y) * n + j]; barrier(CLK_LOCAL_MEM_FENCE);
            for (int k = 0; k < 16; k++) s += p[y][k] * q[k][x];
            barrier(CLK_LOCAL_MEM_FENCE); }
        c[i * n + j] = s; }"""
    launch, name = "global=2048,2048 local=16,16 n=2048", "NVIDIA GeForce RTX 3080"
    assert times_of(tiled, launch, name).total_us < times_of(PRODUCT, launch, name).total_us


def test_lanes_that_share_a_bank_wait_for_each_other() -> None:
    text = """kernel void k(global float *out, int n, int step) {{
        local float t[1056]; int l = get_local_id(0); t[l] = out[l]; barrier(CLK_LOCAL_MEM_FENCE); float s = 0;
        for (int i = 0; i < n; i++) s += t[(l * {stride} + i) % 1056];
        out[get_global_id(0)] = s; }}"""
    launch, name = "global=65536 local=32 n=1000 step=1 out=65536", "NVIDIA GeForce RTX 3080"
    apart, shared = (times_of(text.format(stride=stride), launch, name).total_us for stride in (33, 32))
    assert shared > 4 * apart
