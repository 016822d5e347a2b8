"""A loop whose result is used is never dropped, nor counted by a closed form that does not hold for it."""

from __future__ import annotations

import pytest

from model.launch.launch import Fill
from model.work.counts import OpKind
from tests.model.conftest import Count

HEAD = "kernel void k(global const int *in, global int *out, float x0, int most, int n) { int i = get_global_id(0); "
ESCAPE = (
    "float x = 0, y = 0; int it = 0; while (x * x + y * y <= 4.0f && it < most) "
    "{ float t = x * x - y * y + x0; y = 2.0f * x * y; x = t; it++; } out[i] = it; }"
)
COLLATZ = "int v = i + 27, steps = 0; while (v != 1) { v = v & 1 ? 3 * v + 1 : v / 2; steps++; } out[i] = steps; }"
NEWTON = (
    "float r = x0 + i, last = 0; int steps = 0; while (fabs(r - last) > 1e-4f) "
    "{ last = r; r = 0.5f * (r + 612.0f / r); steps++; } out[i] = steps; }"
)
BISECTION = (
    "float low = 0, high = x0 + i; int steps = 0; while (high - low > 0.001f) "
    "{ float m = 0.5f * (low + high); if (m * m < 2.0f) low = m; else high = m; steps++; } out[i] = steps; }"
)
EUCLID = "int a = i + 1000, b = i * 7 + 3; while (b) { int t = a % b; a = b; b = t; } out[i] = a; }"
SENTINEL = "int p = 0; while (in[p + i] != 0) p++; out[i] = p; }"
BITS = "int v = i | 1023, bits = 0; while (v) { v &= v - 1; bits++; } out[i] = bits; }"
HELPER = (
    "int find(global const int *a, int n, int x) { for (int j = 0; j < n; j++) if (a[j] == x) return j; return -1; }\n"
)
FIND = "out[i] = find(in, n, i); }"


@pytest.mark.parametrize(
    ("body", "kind", "least"),
    [
        (ESCAPE, OpKind.FMA, 100 * 64),
        (COLLATZ, OpKind.INTEGER, 20 * 64),
        (NEWTON, OpKind.DIVIDE, 2 * 64),
        (BISECTION, OpKind.MUL, 8 * 64),
        (EUCLID, OpKind.INT_DIVIDE, 2 * 64),
        (SENTINEL, OpKind.COMPARE, 0),
        (BITS, OpKind.INTEGER, 10 * 64),
    ],
    ids=["escape time", "collatz", "newton", "bisection", "euclid", "sentinel", "bits"],
)
def test_a_loop_whose_result_is_used_is_executed(count: Count, body: str, kind: OpKind, least: float) -> None:
    counted = count(HEAD + body, (64,), (64,), x0=0.1, most=100, n=64, buffers={"in": 4096, "out": 64})
    assert counted.ops(kind) >= least
    assert counted.ops(OpKind.BRANCH) > 64


def test_an_escape_time_loop_runs_until_the_point_escapes(count: Count) -> None:
    x = y = 0.0
    steps = 0
    while x * x + y * y <= 4 and steps < 5000:
        x, y, steps = x * x - y * y + 0.3, 2 * x * y, steps + 1
    counted = count(HEAD + ESCAPE, (64,), (64,), x0=0.3, most=5000, n=64, buffers={"in": 64, "out": 64})
    assert counted.ops(OpKind.FMA) == pytest.approx(64 * 2 * steps, rel=0.1)


def test_a_helper_that_returns_early_is_executed(count: Count) -> None:
    counted = count(HELPER + HEAD + FIND, (64,), (64,), x0=0.1, most=10, n=64, buffers={"in": 64, "out": 64})
    assert sum(a.count for a in counted.accesses("in")) > 64
    assert "line 1" in counted.said


def test_a_point_that_stays_where_it_is_runs_to_the_bound(count: Count) -> None:
    counted = count(HEAD + ESCAPE, (64,), (64,), x0=0.0, most=20_000, n=1, buffers={"in": 1, "out": 64})
    assert counted.ops(OpKind.FMA) == pytest.approx(20_000 * 64 * 3, rel=0.4)


def test_a_loop_of_which_nothing_is_used_is_not_executed(count: Count) -> None:
    unused = ESCAPE.replace("out[i] = it;", "out[i] = i;")
    counted = count(HEAD + unused, (64,), (64,), x0=0.1, most=100, n=64, buffers={"in": 64, "out": 64})
    assert counted.ops(OpKind.FMA) == 0


@pytest.mark.parametrize(("step", "trips"), [(1, 60), (4, 15)])
def test_a_loop_until_two_numbers_are_equal_runs_as_often_as_its_step_fits(count: Count, step: int, trips: int) -> None:
    body = f"for (int j = 0; j != n; j += {step}) out[j] = i; }}"
    counted = count(HEAD + body, (64,), (64,), x0=0.1, most=1, n=60, buffers={"in": 64, "out": 64})
    assert counted.access("out").count == trips * 64


def test_a_step_that_never_meets_the_end_is_no_closed_form(count: Count) -> None:
    body = "for (int j = 0; j != n; j += 7) out[j] = i; }"
    counted = count(HEAD + body, (64,), (64,), x0=0.1, most=1, n=60, buffers={"in": 64, "out": 64})
    assert counted.counts.undecided_loops == (0,)


def test_work_items_too_many_to_follow_are_said_to_stand_for_others(count: Count) -> None:
    body = COLLATZ.replace("i + 27", "i + 1024 * get_global_id(1) + 837799")
    counted = count(HEAD + body, (1024, 1024), (64, 1), x0=0.1, most=1, n=60, buffers={"in": 64, "out": 1 << 20})
    assert counted.counts.estimated_loops == (0,)


def test_a_number_that_is_never_negative_is_not_shifted_for_ever(count: Count) -> None:
    """The mean of ascending numbers was half below the least of them at the first index."""
    body = (
        "int bytes = 0; for (int j = 0; j < 6; ++j) { uint w = in[i * 6 + j]; do { bytes++; w >>= 7; } while (w); } "
        "out[i] = bytes; }"
    )
    fills = {"in": Fill("sorted", (0, 30000))}
    counted = count(HEAD + body, (8192,), (64,), n=8192, buffers={"in": 6 * 8192, "out": 8192}, fills=fills)
    assert 6 * 8192 < counted.ops(OpKind.BRANCH) < 6 * 8192 * 8
