"""The pieces that families share: what their launches promise whatever is wished for."""

from __future__ import annotations

from math import prod

from hypothesis import given
from hypothesis import strategies as st

from profiler.corpus.draw import Draw
from profiler.corpus.family import Sized, Wish
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.plane import plane, rectangle, shape
from profiler.corpus.writing.sizes import draft, sized
from profiler.corpus.writing.walk import walk

WISHES = st.builds(Wish, st.integers(1, 1 << 24), st.integers(1, 1 << 25), st.one_of(st.none(), st.integers(1, 1024)))
SEEDS = st.integers(0, 1 << 30)


@given(SEEDS, WISHES)
def test_no_more_elements_are_done_than_there_are(seed: int, wish: Wish) -> None:
    draw = Draw("walk", seed)
    size = walk(draw, hand(draw)).size(wish, 8)
    assert 1 <= size.done <= size.count
    assert size.local_size is None or size.global_size % size.local_size == 0


@given(SEEDS, WISHES, st.integers(1, 1 << 25))
def test_the_global_size_does_not_follow_from_the_data(seed: int, wish: Wish, data: int) -> None:
    draw = Draw("walk", seed)
    way = walk(draw, hand(draw))
    assert way.size(wish, 8).global_size == way.size(Wish(wish.items, data, wish.local), 8).global_size


@given(SEEDS, WISHES)
def test_a_plane_is_covered_by_whole_groups(seed: int, wish: Wish) -> None:
    draw = Draw("plane", seed)
    area = plane(draw, hand(draw)).size(draw, wish, 4)
    assert 1 <= area.done <= area.width * area.height
    if area.local_size is not None:
        assert all(whole % part == 0 for whole, part in zip(area.global_size, area.local_size, strict=True))
        assert prod(area.local_size) <= 1024


@given(SEEDS, st.integers(1, 1 << 28))
def test_a_shape_holds_no_more_than_wanted_and_may_be_an_image(seed: int, count: int) -> None:
    width, height = shape(Draw(seed), count)
    assert width * height <= count
    assert max(width, height) <= 16384


@given(WISHES)
def test_a_rectangle_depends_on_items_and_local_size_alone(wish: Wish) -> None:
    assert rectangle(wish) == rectangle(Wish(wish.items, 1, wish.local))


def test_a_draft_takes_what_its_body_names_and_nothing_else() -> None:
    habits = hand(Draw(1))

    def launch(_draw: Draw, wish: Wish) -> Sized:
        return sized(wish.items, None, 1.0, {"a": 4, "b": 4}, {"n": 4, "m": 5}, {"a": ("zeros",), "b": ("iota",)})

    parameters = [habits.takes("int", "a"), habits.gives("int", "b"), habits.number("n"), habits.number("m")]
    made = draft(habits, "f", parameters, "if (get_global_id(0) < n) b[get_global_id(0)] = 1;", launch)
    assert "* a" not in made.source.replace("*a", "* a")
    kept = made.launch(Draw(1), Wish(4, 4, None)).launch
    assert [name for name, _ in kept.buffers] == ["b"]
    assert [name for name, _ in kept.scalars] == ["n"]
    assert [name for name, _ in kept.fills] == ["b"]
