"""Seeded choices are the same everywhere and for ever, or no corpus could be made again."""

import math

from hypothesis import given
from hypothesis import strategies as st

from profiler.corpus.draw import Draw
from profiler.corpus.logarithm import exp2, log2


def test_a_seed_gives_the_same_choices_on_every_machine() -> None:
    draw = Draw("a seed", 7)
    drawn = [draw.integer(0, 999), draw.choose("abcdefgh"), draw.log_integer(1, 1 << 24), draw.chance(0.5)]
    assert drawn == [767, "d", 13226, False]
    assert draw.shuffled(range(6)) == [2, 4, 0, 3, 1, 5]
    assert draw.weighted({"often": 9.0, "seldom": 1.0}) == "often"
    assert draw.child("launch").integer(0, 10**9) == Draw("a seed", 7).child("launch").integer(0, 10**9)


def test_named_choices_are_kept() -> None:
    draw = Draw(1)
    chosen = draw.choose(("float", "int"), "type")
    assert draw.choices == {"type": chosen}


@given(st.integers(), st.integers(1, 1 << 30), st.integers(0, 1 << 30))
def test_drawn_numbers_lie_between_their_ends(seed: int, low: int, more: int) -> None:
    draw = Draw(seed)
    assert low <= draw.integer(low, low + more) <= low + more
    assert low <= draw.log_integer(low, low + more) <= low + more
    assert low <= draw.log_real(low, low + more) <= low + more


@given(st.integers(), st.lists(st.integers(), max_size=20), st.integers(0, 20))
def test_a_sample_holds_each_at_most_once(seed: int, options: list[int], count: int) -> None:
    sample = Draw(seed).sample(list(enumerate(options)), count)
    assert len(set(sample)) == len(sample) == min(count, len(options))


@given(st.floats(1e-200, 1e200))
def test_our_own_logarithm_is_that_of_two(value: float) -> None:
    assert abs(log2(value) - math.log2(value)) < 1e-9
    assert abs(exp2(log2(value)) / value - 1) < 1e-9
