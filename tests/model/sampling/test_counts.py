"""Loops that data or arithmetic end are counted exactly, against the same algorithm in plain Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from model.contents.buffer import buffer_contents
from model.launch.launch import Fill
from model.opencl.builtin_types import INT
from tests.model.sampling.conftest import Sample

MANDELBROT = """
__kernel void escape(__global int* out, int width, int height, int max_iter) {
  int px = get_global_id(0), py = get_global_id(1);
  float x0 = (float)px / width * 3.5f - 2.5f, y0 = (float)py / height * 2.0f - 1.0f, x = 0, y = 0;
  int it = 0;
  while (x*x + y*y <= 4.0f && it < max_iter) { float t = x*x - y*y + x0; y = 2*x*y + y0; x = t; it++; }
  out[py*width+px] = it;
}
"""


def _escape_times(width: int, height: int, max_iter: int) -> int:
    py, px = np.mgrid[0:height, 0:width].astype(np.float32)
    x0 = px / np.float32(width) * np.float32(3.5) - np.float32(2.5)
    y0 = py / np.float32(height) * np.float32(2) - np.float32(1)
    x, y, total = np.zeros_like(x0), np.zeros_like(x0), 0
    for _ in range(max_iter):
        inside = x * x + y * y <= 4
        x, y, x0, y0 = x[inside], y[inside], x0[inside], y0[inside]
        total += len(x)
        x, y = x * x - y * y + x0, np.float32(2) * x * y + y0
    return total


def test_every_pixel_of_a_small_mandelbrot_set_is_counted(sample: Sample) -> None:
    found = sample(MANDELBROT, (48, 32), (16, 2), buffers={"out": 48 * 32}, width=48, height=32, max_iter=200)
    assert found.raw.complete
    assert found.raw.items == 48 * 32
    assert found.at("while").taken == _escape_times(48, 32, 200)
    assert found.at("while").begun == found.at("while").completed == 48 * 32


@pytest.mark.parametrize(("width", "height", "max_iter"), [(1920, 1080, 100), (640, 480, 300), (1000, 777, 64)])
def test_a_sample_of_a_large_mandelbrot_set_is_right_within_a_tenth(
    sample: Sample, width: int, height: int, max_iter: int
) -> None:
    found = sample(
        MANDELBROT,
        (width, height),
        None,
        buffers={"out": width * height},
        width=width,
        height=height,
        max_iter=max_iter,
    )
    total = found.at("while").taken / found.raw.items * width * height
    assert total == pytest.approx(_escape_times(width, height, max_iter), rel=0.1)


def test_iterations_cost_a_sub_group_as_many_as_its_longest_lane_makes(sample: Sample) -> None:
    text = """__kernel void k(__global int* out) {
      int n = get_global_id(0) % 32;
      for (int i = 0; i < n; i++) out[get_global_id(0)] += i;
    }"""
    found = sample(text, (128,), (64,), buffers={"out": 128})
    assert found.at("for").taken == 4 * sum(range(32))
    assert found.at("for").lane_slots == 4 * 31 * 32


def _collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n, steps = (3 * n + 1 if n & 1 else n // 2), steps + 1
    return steps


def test_collatz_steps_and_the_share_of_odd_numbers(sample: Sample, ints_after: Callable[..., list[int]]) -> None:
    text = """__kernel void k(__global int* out) {
      ulong n = get_global_id(0) + 1; int steps = 0;
      while (n != 1) { if (n & 1) n = 3 * n + 1; else n /= 2; steps++; }
      out[get_global_id(0)] = steps;
    }"""
    expected = [_collatz(n) for n in range(1, 513)]
    assert ints_after(text, size=(512,), buffers={"out": 512}) == expected
    assert sample(text, (512,), buffers={"out": 512}).at("while").taken == sum(expected)


def test_binary_search_in_a_described_buffer(sample: Sample) -> None:
    text = """__kernel void k(__global int* out, __global const int* keys, int n) {
      int lo = 0, hi = n, want = get_global_id(0) * 7;
      while (lo < hi) { int mid = (lo + hi) >> 1; if (keys[mid] < want) lo = mid + 1; else hi = mid; }
      out[get_global_id(0)] = lo;
    }"""
    fills = {"keys": Fill("sorted", (0, 4096))}
    found = sample(text, (512,), buffers={"out": 512, "keys": 1000}, fills=fills, n=1000)
    keys = buffer_contents("keys", INT, 1000, {"": fills["keys"]}, 512).take(np.arange(1000, dtype=np.int64) * 4, INT)
    rounds = lower = 0
    for want in range(0, 512 * 7, 7):
        low, high = 0, 1000
        while low < high:
            middle = (low + high) // 2
            rounds += 1
            low, high, lower = (middle + 1, high, lower + 1) if keys[middle] < want else (low, middle, lower)
    assert found.at("while").taken == rounds
    assert found.at("if").taken == lower
    assert found.raw.rests_on == ()


def test_euclid_by_a_helper_that_returns_early(sample: Sample, ints_after: Callable[..., list[int]]) -> None:
    text = """
    uint gcd(uint a, uint b) { if (a == b) return a; while (b) { uint t = a % b; a = b; b = t; } return a; }
    __kernel void k(__global int* out) { uint i = get_global_id(0); out[i] = gcd(i * 31u + 17u, (i ^ 85u) + 1u); }"""
    pairs = [(i * 31 + 17, (i ^ 85) + 1) for i in range(256)]
    assert ints_after(text, buffers={"out": 256}) == [int(np.gcd(*pair)) for pair in pairs]
    counts = sample(text, buffers={"out": 256}).at("while")
    assert counts.taken == sum(_euclid(a, b) for a, b in pairs if a != b)
    assert counts.begun == sum(a != b for a, b in pairs)


def _euclid(a: int, b: int) -> int:
    rounds = 0
    while b:
        a, b, rounds = b, a % b, rounds + 1
    return rounds


def test_probing_a_hash_table_with_break_and_continue(sample: Sample, ints_after: Callable[..., list[int]]) -> None:
    text = """__kernel void k(__global int* out, __global const int* table) {
      uint h = get_global_id(0) * 2654435761u; int probes = 0;
      for (int j = 0; j < 64; j++) {
        uint at = (h + j) & 255u;
        probes++;
        if (table[at] == 0) continue;
        if (table[at] == (int)(h & 7u)) break;
      }
      out[get_global_id(0)] = probes;
    }"""
    fill = Fill("randint", (0, 9))
    launch = {"buffers": {"out": 256, "table": 256}, "fills": {"table": fill}}
    table = buffer_contents("table", INT, 256, {"": fill}, 256).take(np.arange(256, dtype=np.int64) * 4, INT)
    expected = []
    for i in range(256):
        h = i * 2654435761 % 2**32
        probes = next((j + 1 for j in range(64) if (v := table[(h + j) & 255]) and v == (h & 7)), 64)
        expected.append(probes)
    assert ints_after(text, **launch) == expected
    assert sample(text, **launch).at("for").taken == sum(expected)


def test_counts_of_a_helper_are_told_apart_by_who_calls_it(sample: Sample) -> None:
    text = """
    int spin(int n) { int c = 0; while (c < n) c++; return c; }
    __kernel void k(__global int* out) { int i = get_global_id(0); out[i] = spin(3) + spin(i % 5); }"""
    found = sample(text, (100,), (20,), buffers={"out": 100})
    taken = sorted(counts.taken for site, counts in found.raw.sites.items() if site.function == "spin")
    assert taken == [20 * sum(range(5)), 300]


def test_branches_left_by_return_are_not_completed(sample: Sample) -> None:
    text = """__kernel void k(__global int* out, int n) {
      int i = get_global_id(0);
      if (i >= n) return;
      if (i & 1) out[i] = 1; else out[i] = 2;
    }"""
    found = sample(text, buffers={"out": 256}, n=200)
    assert (found.at("if (i >= n)").taken, found.at("if (i >= n)").completed) == (56, 200)
    assert (found.at("if (i & 1)").begun, found.at("if (i & 1)").taken) == (200, 100)


def test_operands_that_are_not_evaluated_are_not_counted(sample: Sample) -> None:
    text = """__kernel void k(__global int* out, __global int* x) {
      int i = get_global_id(0);
      if (i < 64 && x[i] >= 0) out[i] = i > 10 ? 1 : 2;
    }"""
    found = sample(text, buffers={"out": 256, "x": 64})
    assert found.at("i < 64 &&").taken == 64
    assert found.at("i > 10 ?").taken == 53
    assert found.access("x[i]").executed == 64
    assert not found.raw.notes


def test_cases_of_a_switch_fall_through(sample: Sample, ints_after: Callable[..., list[int]]) -> None:
    text = """__kernel void k(__global int* out) {
      int i = get_global_id(0), r = 0;
      switch (i & 3) { case 0: r += 1; case 1: r += 10; break; case 2: r += 100; break; default: r = 7; }
      out[i] = r;
    }"""
    assert ints_after(text, buffers={"out": 256}) == [[11, 10, 100, 7][i & 3] for i in range(256)]
    found = sample(text, buffers={"out": 256})
    assert found.at("case 0").taken == 64
    assert found.at("case 1").taken == 128


def test_work_groups_meet_at_barriers(ints_after: Callable[..., list[int]]) -> None:
    text = """__kernel void k(__global int* out) {
      __local int t[64];
      int l = get_local_id(0);
      t[l] = get_global_id(0);
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int s = 32; s > 0; s >>= 1) { if (l < s) t[l] += t[l + s]; barrier(CLK_LOCAL_MEM_FENCE); }
      out[get_global_id(0)] = t[0];
    }"""
    sums = [sum(range(g * 64, g * 64 + 64)) for g in range(4)]
    assert ints_after(text, buffers={"out": 256}) == [sums[i // 64] for i in range(256)]


def test_atomics_give_each_lane_what_was_there_before(ints_after: Callable[..., list[int]]) -> None:
    text = "__kernel void k(__global int* out, __global int* n) { out[get_global_id(0)] = atomic_add(n, 2); }"
    found = ints_after(text, buffers={"out": 256, "n": 1}, fills={"n": Fill("zeros")})
    assert sorted(found) == list(range(0, 512, 2))


def test_of_overloaded_helpers_the_one_that_fits_is_run(ints_after: Callable[..., list[int]]) -> None:
    text = """
    __attribute__((overloadable)) int twice(int x) { return 2 * x; }
    __attribute__((overloadable)) int twice(float x) { return (int)(20 * x); }
    __kernel void k(__global int* out) { int i = get_global_id(0); out[i] = twice(i) + twice(i * 1.0f); }"""
    assert ints_after(text, buffers={"out": 256}) == [22 * i for i in range(256)]


ADDED_BY_EXCHANGE = """
__kernel void add(__global uint* sum, __global const float* x) {
  uint old = sum[0], seen;
  do {
    seen = old;
    old = atomic_cmpxchg(sum, seen, as_uint(as_float(seen) + x[get_global_id(0)]));
  } while (old != seen);
}
"""
CLAIMED = """
__kernel void claim(__global int* slots, __global int* won) {
  if (atomic_cmpxchg(&slots[get_global_id(0) / 8], 0, 1) == 0) won[get_global_id(0)] = 1;
}
"""


def test_a_loop_that_adds_by_compare_and_exchange_runs_once_an_item_as_it_does_for_items_in_turn(
    sample: Sample,
) -> None:
    found = sample(ADDED_BY_EXCHANGE, (1024,), (64,), buffers={"sum": 1, "x": 1024})
    assert found.at("do").taken == found.at("do").begun == 1024


def test_of_those_who_claim_one_place_only_the_first_gets_it(sample: Sample) -> None:
    zeros = {"slots": Fill("zeros")}
    found = sample(CLAIMED, (1024,), (64,), buffers={"slots": 128, "won": 1024}, fills=zeros)
    assert found.at("if").taken == 128


def test_a_counter_in_memory_that_is_stepped_is_one_load_and_one_store(sample: Sample) -> None:
    text = "__kernel void k(__global int *out) { int i = get_global_id(0), r = 0; r += out[i]++; out[r & 63] = r; }"
    found = sample(text, (64,), (64,), buffers={"out": 64})
    assert found.access("out[i]").executed == 64
