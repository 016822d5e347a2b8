"""What one item of a group stores in local memory is known to all behind a barrier, as if each had it in a variable."""

from __future__ import annotations

import pytest

from model.launch.launch import Fill
from tests.model.conftest import Count

ROWS = {"rows": Fill("csr_rows", (6400,))}
LENGTHS = {"rows": 101, "x": 6400, "y": 6400, "n": 1, "out": 6400}


def kernel(shared: str, body: str) -> str:
    """A kernel of work-groups of 64 that reads `x` in its loop on the values that `shared` declares."""
    return f"""__kernel void k(__global const int *rows, __global const float *x, int arg, __global float *out) {{
        {shared}
        const int lid = get_local_id(0), g = get_group_id(0);
        float s = 0.0f;
        {body}
        out[get_global_id(0)] = s;
    }}"""


def loads(count: Count, shared: str, body: str) -> tuple[float, bool]:
    """How often each item reads `x`, and whether it is known how often every loop runs."""
    counted = count(kernel(shared, body), (6400,), (64,), buffers=LENGTHS, fills=ROWS, arg=10)
    return sum(a.count for a in counted.accesses("x")) / 6400, not counted.counts.undecided_loops


BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"
LOOP = "for (int j = {} + lid; j < {}; j += 64) s += x[j];"


@pytest.mark.parametrize(
    ("shared", "store", "begin", "end"),
    [
        ("__local struct { int start, end; } r;", "r.start = rows[g]; r.end = rows[g + 1];", "r.start", "r.end"),
        ("__local int start, end;", "start = rows[g]; end = rows[g + 1];", "start", "end"),
        ("__local int2 r;", "r = (int2)(rows[g], rows[g + 1]);", "r.x", "r.y"),
        ("__local int r[2];", "r[0] = rows[g]; r[1] = rows[g + 1];", "r[0]", "r[1]"),
        (
            "__local struct { int a[2]; } r[3];",
            "r[1].a[0] = rows[g]; r[1].a[1] = rows[g + 1];",
            "r[1].a[0]",
            "r[1].a[1]",
        ),
        ("__local struct { int a; struct { int b; } in; } r;", "r.a = rows[g]; r.in.b = rows[g + 1];", "r.a", "r.in.b"),
    ],
)
@pytest.mark.parametrize(
    "guard", ["lid == 0", "!lid", "lid == 63", "get_local_id(0) == get_local_size(0) - 1", "lid < 1", "lid == arg"]
)
def test_the_bounds_of_a_loop_are_those_of_plain_variables(
    count: Count, shared: str, store: str, begin: str, end: str, guard: str
) -> None:
    plain, _ = loads(count, "", f"int start = rows[g], end = rows[g + 1]; {LOOP.format('start', 'end')}")
    assert plain == pytest.approx(1)
    found, is_known = loads(count, shared, f"if ({guard}) {{ {store} }} {BARRIER} {LOOP.format(begin, end)}")
    assert is_known
    assert found == pytest.approx(plain)


def test_every_item_still_loads_what_it_needs_from_local_memory(count: Count) -> None:
    body = f"if (lid == 0) n = arg * 2; {BARRIER} for (int j = 0; j < n; j++) s += x[j];"
    counted = count(kernel("__local int n;", body), (6400,), (64,), buffers=LENGTHS, arg=10)
    assert sum(a.count for a in counted.accesses("x")) == 6400 * 20
    assert counted.access("n", store=True).count == 100
    assert counted.access("n", store=False).count == 6400


@pytest.mark.parametrize(
    ("body", "trips"),
    [
        (f"n = arg; {BARRIER}", 10),  # all items the same
        (f"if (lid == 0) {{ if (arg > 5) n = 7; else n = 3; }} {BARRIER}", 7),
        (f"if (lid == 0) n = arg; {BARRIER} s = x[0]; {BARRIER}", 10),  # still there behind another one
        (f"if (lid == 0) n = 2; {BARRIER} s += n; {BARRIER} if (lid == 0) n = 5; {BARRIER}", 5),
        (f"if (lid == 5) n = lid + arg; {BARRIER}", 15),
        (f"if (get_local_id(0) == 0 && get_local_id(1) == 0) n = arg; {BARRIER}", 10),
    ],
)
def test_what_the_group_knows_is_known(count: Count, body: str, trips: float) -> None:
    found, is_known = loads(count, "__local int n;", body + "for (int j = 0; j < n; j++) s += x[j * 64];")
    assert is_known
    assert found == pytest.approx(trips + ("s = x[0]" in body))


@pytest.mark.parametrize(
    "body",
    [
        "if (lid == 0) n = arg;",  # no barrier: others may not see it yet
        f"n = lid; {BARRIER}",  # whose?
        f"if (lid < 3) n = lid; {BARRIER}",
        f"if (lid == 0) n = arg; if (lid == 1) n = 3; {BARRIER}",  # which of the two?
        f"if (lid == 0) n = arg; {BARRIER} if (lid == 1) n = rows[lid]; {BARRIER} atomic_inc(&n); {BARRIER}",
        f"if (get_global_id(0) == 0) n = arg; {BARRIER}",  # only in one group
        f"if (x[g] > 0.5f) n = arg; {BARRIER}",  # perhaps no one
        f"if (lid == 0) n = out[lid] > 0.1f; n += lid; {BARRIER}",
        f"if (lid == 0) n = arg; t[lid] = n; {BARRIER} n = t[lid]; {BARRIER}",
        f"if (lid == 0) atomic_xchg(&n, arg); {BARRIER}",
        f"for (int k = 0; k < (int)x[g]; k++) if (lid == k) n = k; {BARRIER}",
    ],
)
def test_what_the_group_does_not_know_is_not_made_up(count: Count, body: str) -> None:
    shared = "__local int n; __local int t[64];"
    _, is_known = loads(count, shared, body + "for (int j = 0; j < n; j++) s += x[j];")
    assert not is_known


def test_a_value_of_each_round_is_followed_through_a_loop_with_barriers(count: Count) -> None:
    body = f"""for (int k = 0; k < arg; k++) {{
        if (lid == 0) {{ r.start = rows[g + k]; r.end = rows[g + k + 1]; }}
        {BARRIER}
        {LOOP.format("r.start", "r.end")}
        {BARRIER}
    }}"""
    found, is_known = loads(count, "__local struct { int start, end; } r;", body)
    assert is_known
    assert found == pytest.approx(10, rel=0.01)


def test_what_a_loop_stores_after_its_barrier_is_not_what_it_reads_before(count: Count) -> None:
    body = f"""if (lid == 0) n = 3;
    for (int k = 0; k < arg; k++) {{
        {BARRIER}
        for (int j = 0; j < n; j++) s += x[j];
        {BARRIER}
        if (lid == 0) n = n * 2 + rows[k];
    }}"""
    _, is_known = loads(count, "__local int n;", body)
    assert not is_known


@pytest.mark.parametrize(("stored", "is_known"), [("rows[g + 1] - rows[g]", True), ("other[0]", False)])
def test_a_local_argument_holds_what_a_local_variable_would(count: Count, stored: str, is_known: bool) -> None:
    text = f"""__kernel void k(__global const int *rows, __global const float *x, __local int *n,
                                __local const int *other, __global float *out) {{
        const int lid = get_local_id(0), g = get_group_id(0);
        float s = 0.0f;
        if (lid == 0) n[0] = {stored};
        {BARRIER}
        for (int j = 0; j < n[0]; j++) s += x[j];
        out[get_global_id(0)] = s;
    }}"""
    counted = count(text, (6400,), (64,), buffers=LENGTHS, fills=ROWS)
    assert (not counted.counts.undecided_loops) is is_known
    if is_known:
        assert sum(a.count for a in counted.accesses("x")) == pytest.approx(6400 * 64)
