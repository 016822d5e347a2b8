"""What anybody who knows GPUs would expect of their predictions, checked against published figures."""

from __future__ import annotations

import pytest

from model.account import Times
from model.analytic.launch_times import issue_us, launch_times
from model.engine import Engine
from model.known_devices import find_builtin_by_name

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


def test_loads_take_issue_slots_from_arithmetic_on_nvidias_gpus_alone() -> None:
    """Each multiply-add beside a load that all lanes share: the cache would keep up, the scheduler cannot."""
    text = """kernel void k(global float *out, constant float *f, int n) {{
        float s = out[get_global_id(0)], t = s;
        for (int i = 0; i < n; i++) {{ {body} }}
        out[get_global_id(0)] = s + t; }}"""
    launch = "global=1048576 local=256 n=512 out=1048576 f=4096"
    bare, loading = (text.format(body=body) for body in ("s = s * t + 2.0f;", "s = s * t + f[i];"))

    def slots_us(source: str, name: str) -> float:
        device = find_builtin_by_name(name)
        assert device is not None
        (forecast,) = Engine().forecast(f"// kernelcast: {launch}\n{source}", None, device).forecasts
        assert forecast.prediction is not None
        work = forecast.prediction.work
        times = {name: time_us for name, _, time_us in launch_times(work, device).resources}
        return sum(issue_us(work, device, times).values())

    assert slots_us(loading, "NVIDIA GeForce RTX 3080") > 1.2 * slots_us(bare, "NVIDIA GeForce RTX 3080")
    assert slots_us(loading, "AMD Radeon RX 6800 XT") == pytest.approx(
        slots_us(bare, "AMD Radeon RX 6800 XT"), rel=0.01
    )


def test_a_cache_between_l2_and_memory_serves_what_fits_there() -> None:
    """A copy of 2 MB, 48 MB and 1 GB: L2, the cache beyond it, memory."""
    name = "AMD Radeon RX 6800 XT"
    rates = []
    for count in (1 << 18, 6 << 20, 1 << 27):
        times = times_of(STREAM, f"global={count} local=256", name)
        by_name = {resource: time_us for resource, _, time_us in times.resources}
        rates.append(8 * count / by_name["global memory"])
    near, middle, far = rates
    assert near > 1.5 * middle > 2.25 * far


def test_places_that_a_private_array_holds_are_bytes_too() -> None:
    """Neighbours' places in a table of each work-item: as many bytes as where the index is written out."""
    head = "kernel void k(global float *x) { int i = get_global_id(0); "
    table = "int at[4] = {i, i + 4194304, i + 8388608, i + 12582912}; float s = 0; "
    table += "for (int j = 0; j < 4; j++) s += x[at[j]]; "
    plain = "float s = 0; for (int j = 0; j < 4; j++) s += x[i + 4194304 * j]; "
    launch, name = "global=4194304 local=256 x=16777216", "NVIDIA GeForce RTX 3080"
    kept, written = (
        times_of(head + body + "if (s == 7) x[0] = s; }", launch, name).total_us for body in (table, plain)
    )
    assert kept == pytest.approx(written, rel=0.2)


def test_groups_of_few_work_items_are_counted_by_their_warps() -> None:
    """Eight work-items a group keep a quarter of the lanes busy: four times as long, not sixteen."""
    text = """kernel void k(global float *x, int n) {
        int l = get_global_id(0); float s = x[l], t = s; for (int i = 0; i < n; i++) s = s * t + 2.0f; x[l] = s; }"""
    name = "NVIDIA GeForce RTX 3080"
    whole, few = (times_of(text, f"global=65536 local={local} n=4096 x=65536", name).total_us for local in (32, 8))
    assert 2 < few / whole < 6


def test_an_index_from_a_small_table_waits_for_the_first_cache_alone() -> None:
    """A gather through 1,024 entries that all groups ask for, against one through as many entries of their own."""
    text = """kernel void gather(global const float *a, global const int *at, global float *b, int n) {
        int i = get_global_id(0); float s = 0;
        for (int k = 0; k < n; k++) s += a[INDEX];
        b[i] = s; }"""
    launch = "global=16384 local=64 n=1024 a=16777216 at=16777216 b=16384 fill.at=randint:0:16777216"
    table, own = (
        {name: us for name, _, us in times_of(text.replace("INDEX", index), launch, "NVIDIA A100-PCIE-40GB").resources}
        for index in ("(at[k] + i) & 16777215", "at[k * 16384 + i]")
    )
    waiting = "operations that wait for each other"
    assert table[waiting] < 0.75 * own[waiting]


@pytest.mark.parametrize("name", ["NVIDIA A100-PCIE-40GB", "NVIDIA GeForce RTX 3080"])
def test_outputs_that_share_inputs_in_registers_are_computed_faster(name: str) -> None:
    """A column of 25 taps: eight outputs a work-item load 32 values of local memory instead of 200."""
    text = """kernel void column(global const float *a, constant float *w, global float *b) {
        local float near[64 + 24][32]; int x = get_local_id(0), y = get_local_id(1) * TILE; float s[TILE];
        for (int j = get_local_id(1); j < 64 + 24; j += 64 / TILE) near[j][x] = a[j * 32 + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int t = 0; t < TILE; t++) s[t] = 0;
        #pragma unroll
        for (int j = 0; j < 25; j++)
            for (int t = 0; t < TILE; t++) s[t] += w[j] * near[y + t + j][x];
        for (int t = 0; t < TILE; t++) b[(get_group_id(1) * 64 + y + t) * 32 + x] = s[t]; }"""
    taken = {}
    for tile in (2, 8):
        launch = f"global=32,{262144 // tile} local=32,{64 // tile} a=2816 w=25 b=8388608"
        times = times_of(f"#define TILE {tile}\n{text}", launch, name)
        taken[tile] = {kind: us for kind, _, us in times.resources}["local memory"]
    assert taken[8] < taken[2] / 2


def test_rounds_of_table_lookups_take_no_longer_than_their_text() -> None:
    """Each round's index is made of the one before, twice: read as a tree it would be of 2^40 parts."""
    rounds = " ".join("s = box[(s >> 1) & 255] + s;" for _ in range(40))
    body = f"uint s = get_global_id(0); {rounds} out[s] = s;"
    text = f"kernel void mix(global const uint *box, global uint *out) {{ {body} }}"
    assert times_of(text, "global=4096 local=64 box=256 out=4096", "NVIDIA A100-PCIE-40GB").total_us > 0
