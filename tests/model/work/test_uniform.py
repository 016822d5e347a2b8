"""Places that nobody knows and that all lanes of a warp share all the same."""

from __future__ import annotations

import pytest

from tests.model.conftest import Count

HEAD = "kernel void k(global const float2 *p, global const int *d, global int *out, int n) { int i = get_global_id(0); "
TAIL = " out[i] = c; }"


def is_uniform(count: Count, body: str) -> bool:
    found = count(HEAD + body + TAIL, (4096,), (64,), n=600, buffers={"p": 600, "d": 4096, "out": 4096})
    *_, last = [facts for facts in found.counts.facts.accesses if facts.count.buffer == "p"]
    return last.is_uniform


def test_the_vertex_before_is_read_at_one_place_by_all_lanes(count: Count) -> None:
    assert is_uniform(count, "int c = 0; for (int v = 0, w = n - 1; v < n; w = v++) c += p[v].x > p[w].y;")


@pytest.mark.parametrize(
    "body",
    [
        "int c = 0, w = i; for (int v = 0; v < n; v++) { c += p[w].x > 1.0f; w = (w * 7 + 1) % n; }",
        "int c = 0, w = 0; for (int v = 0; v < n; v++) { c += p[w].x > 1.0f; w = d[i + v]; }",
        "int c = 0, w = 0; for (int v = 0; v < n; v++) { c += p[w].x > 1.0f; if (d[i] > v) w = v; }",
    ],
    ids=["by id", "by data", "where the data let it"],
)
def test_what_a_lane_decides_is_not_shared(count: Count, body: str) -> None:
    assert not is_uniform(count, body)
