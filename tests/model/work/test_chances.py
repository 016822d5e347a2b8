"""What `fill` says of a buffer decides how often a condition on its elements holds."""

from __future__ import annotations

import pytest

from model.launch.fill import parse_fill
from model.launch.launch import Fill
from model.work.counts import OpKind
from tests.model.conftest import Count

COUNTED = """__kernel void k(__global const float *x, __global const int *kind, __global float *y, float limit)
{{
    const int i = get_global_id(0);
    {body}
}}"""
FILLS = {"x": Fill("uniform", (0.0, 1.0)), "kind": Fill("randint", (0, 8))}


def stores(count: Count, body: str, fills: dict[str, Fill] | None = None, limit: float = 0.25) -> float:
    """How many of 1000 work-items write to `y`."""
    known = FILLS if fills is None else fills
    lengths = {"x": 2000, "kind": 2000, "y": 2000}
    counted = count(COUNTED.format(body=body), (1000,), (10,), buffers=lengths, fills=known, limit=limit)
    return sum(a.count for a in counted.accesses("y", store=True))


@pytest.mark.parametrize(
    ("condition", "share"),
    [
        ("x[i] > limit", 0.75),
        ("x[i] > limit && x[i] < 0.5f", 0.25),
        ("x[i] > limit && x[i + 1] > limit", 0.5625),
        ("x[i] * x[i] < limit", 0.5),
        ("kind[i] == 3", 0.125),
        ("(kind[i] & 1) == 0", 0.5),
        ("sqrt(x[i]) > 0.5f || kind[i] > 5", 0.8125),
        ("!(x[i] > 2.0f)", 1.0),
        ("x[kind[i]] >= 1.5f", 0.0),
    ],
)
def test_a_condition_holds_as_often_as_the_fill_says(count: Count, condition: str, share: float) -> None:
    assert stores(count, f"if ({condition}) y[i] = 1.0f;") == pytest.approx(1000 * share, rel=0.05, abs=0.1)


@pytest.mark.parametrize(
    ("fill", "condition", "share"),
    [
        ("skewed:0:1000", "kind[i] < 31", 0.5),
        ("skewed:0:1000", "kind[i] < 0", 0.0),
        ("clustered:0:8:1", "kind[i] == 3", 0.125),
        ("sorted:0:2000", "kind[i] < 500", 0.5),  # of the first 1000 of 2000
    ],
)
def test_order_and_frequency_decide_too(count: Count, fill: str, condition: str, share: float) -> None:
    known = {"kind": parse_fill(fill).evaluate({})}
    assert stores(count, f"if ({condition}) y[i] = 1.0f;", known) == pytest.approx(1000 * share, rel=0.06, abs=0.1)


def test_what_an_enclosing_branch_has_decided_is_not_decided_again(count: Count) -> None:
    body = "if (kind[i] == 0) return; if (kind[i] == 1) return; if (kind[i] < 4) y[i] = 1.0f;"
    assert stores(count, body) == pytest.approx(250, rel=0.05)


def test_the_branches_of_a_chain_add_up_to_all(count: Count) -> None:
    body = "if (x[i] < 0.1f) y[i] = 1.0f; else if (x[i] < 0.6f) y[i + 1] = 1.0f; else y[i + 2] = 1.0f;"
    assert stores(count, body) == pytest.approx(1000)


def test_an_id_is_drawn_together_with_what_stands_at_it(count: Count) -> None:
    fills = {"kind": Fill("iota")}
    assert stores(count, "if (kind[i] < 600) y[i] = 1.0f;", fills) == pytest.approx(600, rel=0.05)


def test_equal_launches_are_counted_equally(count: Count) -> None:
    body = "if (x[i] + x[i + 1] * x[i + 2] > limit) y[i] = 1.0f;"
    assert stores(count, body) == stores(count, body)


def test_without_a_fill_the_share_stays_an_assumption(count: Count) -> None:
    body = COUNTED.format(body="if (x[i] > limit) y[i] = 1.0f;")
    counted = count(body, (1000,), (10,), buffers={"x": 1000, "y": 1000}, limit=2.0)
    assert 0 < counted.access("y", store=True).count < 1000
    assert "the data decide" in counted.said


LOOPS = {
    "a break that never comes": ("for (int k = 0; k < 20; ++k) { if (x[i + k] > 2.0f) break; y[i] += x[k]; }", 20.0),
    "a break in one of four": ("for (int k = 0; k < 20; ++k) { if (x[i + k] < limit) break; y[i] += x[k]; }", 2.99),
    "a return": ("for (int k = 0; k < 20; ++k) { if (x[i + k] < limit) return; y[i] += x[k]; }", 2.99),
    "a condition of while": ("int k = 0; while (x[i + k] > limit) { y[i] += 1.0f; ++k; }", 3.0),
    "a condition with a bound": ("for (int k = 0; k < 3 && x[i + k] > 0.5f; ++k) y[i] += 1.0f;", 0.875),
    "a condition of do": ("int k = 0; do { y[i] += 1.0f; ++k; } while (x[i + k] > limit);", 4.0),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_left_as_soon_as_the_fill_says(count: Count, name: str) -> None:
    body, times = LOOPS[name]
    lengths = {"x": 2000, "kind": 2000, "y": 2000}
    counted = count(COUNTED.format(body=body), (1000,), (10,), buffers=lengths, fills=FILLS, limit=0.25)
    assert counted.ops(OpKind.ADD) == pytest.approx(1000 * times, rel=0.05)


def test_a_condition_that_ends_a_loop_is_loaded_for_once_more_than_its_body_runs(count: Count) -> None:
    fills = {"kind": Fill("iota")}
    body = "int node = i; while (kind[node] != node) node = kind[node]; y[i] = node;"
    counted = count(
        COUNTED.format(body=body), (1000,), (10,), buffers={"kind": 1000, "y": 1000}, fills=fills, limit=1.0
    )
    assert sum(a.count for a in counted.accesses("kind")) == 1000


def test_a_loop_that_runs_until_its_own_values_end_it_is_run_for_what_the_fill_may_hold(count: Count) -> None:
    def steps(a: int, b: int) -> int:
        return 0 if b == 0 else 1 + steps(b, a % b)

    mean = sum(steps(a, b) for a in range(8) for b in range(8)) / 64
    body = "int a = kind[i], b = kind[i + 1]; while (b != 0) { int r = a % b; a = b; b = r; y[b] = 1.0f; }"
    assert stores(count, body) == pytest.approx(1000 * mean, rel=0.35)  # a few draws only: each runs the loop
