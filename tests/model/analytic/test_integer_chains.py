"""Integers that each iteration of a loop makes of the ones before: hashes, generators of random numbers, checksums."""

from __future__ import annotations

import pytest

from model.work.features.vectorization_contexts import Context
from tests.model.conftest import Count, Counted

CLOCKS_OF_AN_ADDITION = 4


def loop(count: Count, body: str, start: str = "uint h = get_global_id(0);") -> Counted:
    text = f"""kernel void k(global const uint *v, global uint *o, int n) {{
        {start} for (int j = 0; j < n; j++) {{ {body} }} o[get_global_id(0)] = h; }}"""
    return count(text, (64,), (64,), n=100, buffers={"v": 1024, "o": 64})


def clocks(counted: Counted) -> float:
    """Return those of one iteration."""
    return counted.counts.chain_ops * CLOCKS_OF_AN_ADDITION / (64 * 100)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("h = h * 33 + v[j];", 4),
        ("h ^= v[j]; h *= 16777619u;", 4),
        ("h ^= h << 13; h ^= h >> 17; h ^= h << 5;", 6),
        ("h = rotate(h, 5u) ^ v[j];", 2),
        ("h = (h + v[j]) % 65521u;", 9),
        ("h = v[j] / (h | 1);", 21),
    ],
)
def test_each_iteration_waits_for_the_one_before(count: Count, body: str, expected: int) -> None:
    assert clocks(loop(count, body)) == expected


@pytest.mark.parametrize(
    "body", ["h += v[j];", "h ^= v[j];", "h = max(h, v[j]);", "if (v[j] > h) h = v[j];", "h += v[j] * 33;"]
)
def test_what_may_be_put_together_in_any_order_waits_for_nothing(count: Count, body: str) -> None:
    assert clocks(loop(count, body)) == 0


def test_iterations_that_wait_are_not_vectorised_themselves(count: Count) -> None:
    """A sum over a row is; a hash of it goes through the row element by element."""
    text = """kernel void k(global const uint *v, global uint *o, int n) {
        uint h = 0; int r = get_global_id(0); for (int j = 0; j < n; j++) h = STEP; o[r] = h; }"""

    def is_reduced(step: str) -> bool:
        counted = count(text.replace("STEP", step), (64,), (64,), n=100, buffers={"v": 6400, "o": 64})
        return any(part.context is Context.REDUCED for part in counted.counts.contexts)

    assert is_reduced("h + v[r * n + j]")
    assert not is_reduced("h * 33 + v[r * n + j]")


def test_the_longest_of_several_chains_counts(count: Count) -> None:
    both = loop(count, "h = h * 33 + v[j]; g ^= g << 13; g ^= g >> 17; g ^= g << 5;", "uint h = 0, g = 1;")
    assert clocks(both) == 6
