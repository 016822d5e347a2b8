"""Long straight code of which each operation needs the one before: a hash, an unrolled generator, table after table."""

from __future__ import annotations

import pytest

from model.work.features.vectorization_contexts import Context
from tests.model.conftest import Count

CLOCKS_OF_AN_ADDITION = 4


def clocks(count: Count, code: str, before: str = "") -> float:
    """Return how long what stands outside loops waits, for each of 64 work-items."""
    text = f"""{before} kernel void k(global const uint *v, global uint *o, global const float *f, int n) {{
        uint i = get_global_id(0), h = v[i], g = i; float x = f[i]; {code} o[i] = h + g + (uint)x; }}"""
    counts = count(text, (64,), (64,), n=100, buffers={"v": 1024, "o": 64, "f": 64}).counts
    straight = [part for part in counts.contexts if part.context is Context.STRAIGHT]
    return sum(part.chain_ops for part in straight) * CLOCKS_OF_AN_ADDITION / 64


@pytest.mark.parametrize(
    ("step", "each"),
    [
        ("h ^= h << 13; h ^= h >> 17;", 4),
        ("h = rotate(h, 7u) ^ 0x9e37u;", 2),
        ("h = (h ^ (h >> 3)) * 16777619u;", 5),
        ("x = x * x + 1.5f;", 4),
        ("x = exp(x);", 40),
        ("h = v[h & 1023];", 6),
    ],
)
def test_each_operation_waits_for_the_one_before(count: Count, step: str, each: int) -> None:
    many, few = (clocks(count, step * times) for times in (400, 200))
    assert many - few == pytest.approx(200 * each, rel=0.3)


def test_two_chains_beside_each_other_wait_as_one(count: Count) -> None:
    one = clocks(count, "h ^= h << 13; h ^= h >> 17;" * 200)
    assert clocks(count, "h ^= h << 13; h ^= h >> 17; g ^= g << 13; g ^= g >> 17;" * 200) == pytest.approx(
        one, rel=0.01
    )


def test_chains_go_on_through_functions(count: Count) -> None:
    mixed = "uint mixed(uint h) { h ^= h << 13; return h ^ (h >> 17); }"
    assert clocks(count, "h = mixed(h);" * 200, mixed) == clocks(count, "h ^= h << 13; h ^= h >> 17;" * 200)


def test_what_is_short_waits_for_nothing(count: Count) -> None:
    assert clocks(count, "h ^= h << 13; h ^= h >> 17;" * 3) == 0


def test_independent_operations_wait_little(count: Count) -> None:
    sums = " ".join(f"g += (v[i + {j}] ^ {j}u) & 255u;" for j in range(200))
    assert clocks(count, sums) < 50


def test_a_side_of_a_branch_waits_as_often_as_it_is_entered(count: Count) -> None:
    chain = "h ^= h << 13; h ^= h >> 17;" * 200
    entered, all_of_them = clocks(count, f"if (i < 16) {{ {chain} o[i + 0] = h; }}"), clocks(count, chain)
    assert entered == pytest.approx(all_of_them / 4, rel=0.1)
