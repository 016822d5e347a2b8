"""How many places a sequence of accesses touches, told from a part of it, and among how many they come back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.sampling.totals import growth_of
from model.work.memory.growth import Growth

SAMPLED, WHOLE = 47_000, 1_500_000


def seen(places: np.ndarray) -> Growth:
    found = growth_of(places)
    assert found is not None
    return found


def searched(items: int, size: int) -> np.ndarray:
    """Return the places that binary searches of random keys look at, search after search."""
    random = np.random.default_rng(1)
    low, high, key = np.zeros(items, np.int64), np.full(items, size), random.integers(0, size, items)
    rounds = []
    while (low < high).any():
        middle = (low + high) // 2
        rounds.append(np.where(low < high, middle, -1))
        less = middle < key
        low, high = np.where(less & (low < high), middle + 1, low), np.where(less, high, np.minimum(high, middle))
    found = np.array(rounds).T.ravel()
    return found[found >= 0]


@pytest.mark.parametrize("pool", [1000, 20_000, 100_000, 500_000, 8_000_000])
def test_random_places_of_one_pool(pool: int) -> None:
    random = np.random.default_rng(0)
    truth = len(np.unique(random.integers(0, pool, WHOLE)))
    assert 0.5 * truth <= seen(random.integers(0, pool, SAMPLED)).at(WHOLE) <= 2 * truth


def test_searches_go_on_to_places_that_none_before_had_been_to() -> None:
    truth = len(np.unique(searched(65_536, 1 << 23)))
    assert seen(searched(2048, 1 << 23)).at(65_536 * 23, 1 << 23) == pytest.approx(truth, rel=0.3)


def test_what_a_search_comes_back_to_is_small_and_large_alike() -> None:
    sets = seen(searched(2048, 1 << 23)).working_sets(65_536 * 23, 1 << 23)
    near = sum(share for share, places in sets if places < 1 << 13)
    far = sum(share for share, places in sets if places > 1 << 17)
    assert near == pytest.approx(13 / 23, abs=0.2)
    assert far == pytest.approx(6 / 23, abs=0.15)


def test_the_same_few_places_again_and_again() -> None:
    grown = seen(np.tile(np.arange(100), 50))
    assert grown.at(1e9) == pytest.approx(100, rel=0.01)
    assert all(places <= 100 for _, places in grown.working_sets(1e9))


def test_places_that_nobody_returns_to_are_as_many_as_accesses() -> None:
    assert seen(np.arange(5000)).at(1e6) == pytest.approx(1e6)
    assert seen(np.arange(5000)).at(1e6, 20_000) == 20_000


def test_a_few_accesses_tell_nothing() -> None:
    assert growth_of(np.arange(10)) is None


@given(st.lists(st.integers(0, 300), min_size=64, max_size=600), st.floats(1, 1e7), st.floats(1, 1e6))
def test_shares_add_up_and_more_accesses_touch_no_fewer_places(places: list[int], draws: float, most: float) -> None:
    grown = seen(np.array(places))
    sets = grown.working_sets(draws, most)
    assert sum(share for share, _ in sets) == pytest.approx(1)
    assert grown.at(draws) <= grown.at(2 * draws) * (1 + 1e-9)
    assert grown.at(draws, most) <= min(draws, most) * (1 + 1e-9)
    assert grown.at(len(places)) == pytest.approx(len(set(places)))
