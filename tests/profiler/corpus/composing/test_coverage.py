"""How work-items cover elements, whatever is wished."""

from __future__ import annotations

from math import prod

from hypothesis import given
from hypothesis import strategies as st

from profiler.corpus.composing.coverage import FLAT, GROUPWISE, Groups, draw_coverage
from profiler.corpus.composing.hand import Hand
from profiler.corpus.draw import Draw

ITEMS, DATA = st.integers(1, 1 << 24), st.integers(1, 1 << 25)
LOCAL = st.none() | st.integers(1, 1024)
GROUPS = st.sampled_from([Groups(), Groups(fixed=64), Groups(is_power=True, most=256)])
FORMS = st.sampled_from([(*FLAT, "plane"), GROUPWISE])


@given(st.integers(0, 10_000), ITEMS, DATA, LOCAL, GROUPS, FORMS)
def test_a_launch_is_valid_and_no_index_lies_beyond_the_bound(
    seed: int, items: int, data: int, local: int | None, groups: Groups, forms: tuple[str, ...]
) -> None:
    draw = Draw(seed)
    cover = draw_coverage(draw, Hand(draw), forms=forms, groups=groups)
    extent = cover.extent(items, data, local)
    assert 1 <= extent.covered <= extent.bound
    if extent.local_size is not None:
        assert all(g % part == 0 for g, part in zip(extent.global_size, extent.local_size, strict=True))
        assert prod(extent.local_size) <= 1024
    if not cover.has_count:
        assert extent.bound == extent.items


@given(st.integers(0, 10_000), ITEMS, DATA, DATA, LOCAL)
def test_the_global_size_does_not_depend_on_the_data(
    seed: int, items: int, data: int, other: int, local: int | None
) -> None:
    draw = Draw(seed)
    cover = draw_coverage(draw, Hand(draw))
    assert cover.extent(items, data, local).global_size == cover.extent(items, other, local).global_size
