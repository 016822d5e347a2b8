"""What one iteration of a loop has loaded, the next need not load again, where compilers see it."""

from __future__ import annotations

import pytest

from tests.model.conftest import Count

KERNEL = """__kernel void k(__global {a} *{restrict} a, __global float *{restrict} y, int n)
{{
    const int i = get_global_id(0);
    __global {a} *row = a + i * n;
    float s = 0.0f;
    for (int x = 1; x < {n} - 1; ++x) {{ {body} }}
    y[i] = s;
}}"""

LOADS = {  # in each of 30 iterations, and before them
    "neighbours": ("s += row[x] * row[x + 1];", 1, 1),
    "three in a row": ("s += row[x - 1] * row[x] * row[x + 1];", 2, 1),
    "from the buffer's start": ("s += a[x] * a[(x + 1)];", 1, 1),
    "an index of more than the counter": ("s += a[i * n + x] * a[i * n + x + 1];", 2, 0),
    "two steps ahead": ("s += row[x] * row[x + 2];", 2, 0),
    "a column": ("s += a[x * n + i] * a[(x + 1) * n + i];", 2, 0),
    "around a barrier": ("s += row[x]; barrier(CLK_GLOBAL_MEM_FENCE); s += row[x + 1];", 2, 0),
}


def loads(count: Count, body: str, **how: str) -> float:
    text = KERNEL.format(body=body, **{"a": "const float", "restrict": "restrict", "n": "n", **how})
    counted = count(text, (16,), (16,), buffers={"a": 4096, "y": 4096}, n=32)
    return sum(a.count for a in counted.accesses("a", store=False)) / 16


@pytest.mark.parametrize("name", LOADS)
def test_a_value_stays_in_a_register_from_one_iteration_to_the_next(count: Count, name: str) -> None:
    body, each, before = LOADS[name]
    assert loads(count, body) == 30 * each + before


def test_what_is_stored_is_not_loaded_in_the_next_iteration(count: Count) -> None:
    assert loads(count, "row[x] = row[x - 1] * row[x];", a="float") == 30 + 1


def test_a_store_through_another_pointer_forces_the_load(count: Count) -> None:
    body = "y[x] = row[x] * row[x + 1];"
    assert loads(count, body, restrict="") == 60
    assert loads(count, body) == 31


def test_an_unrolled_loop_loads_each_element_once(count: Count) -> None:
    assert loads(count, "s += a[i * n + x - 1] * a[i * n + x] * a[i * n + x + 1];", n="6") == 6
