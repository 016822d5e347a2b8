"""Garbage is found in the end, however people type and pause."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from server import gc_policy
from server.gc_policy import Collections


class Knot:
    """Holds itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def postpone_full_collections() -> Iterator[None]:
    before = gc.get_threshold()
    gc_policy.postpone_full_collections()
    yield
    gc.set_threshold(*before)


def old_knot() -> tuple[list[Knot], weakref.ref[Knot]]:
    """One that searches among young objects have seen, and do not look at any more."""
    knot = Knot()
    gc.collect(1)
    return [knot], weakref.ref(knot)


def test_who_types_for_hours_without_a_pause_is_searched_after_all() -> None:
    searches = Collections()
    kept, knot = old_knot()
    kept.clear()
    for _ in range(1000):
        searches.worked()
    assert knot() is None


def test_what_became_garbage_after_it_was_left_out_is_found_once_nobody_has_come_for_long() -> None:
    searches = Collections()
    assert searches.due_s is None
    kept, knot = old_knot()
    searches.worked()
    assert searches.due_s == gc_policy.IDLE_S
    searches.make()
    kept.clear()
    assert searches.due_s == gc_policy.LONG_IDLE_S
    searches.make()
    assert knot() is None
    assert searches.due_s is None


def test_garbage_from_before_a_long_file_was_opened_is_not_kept_with_it() -> None:
    searches = Collections()
    knot = weakref.ref(Knot())
    searches.worked(opened=1_000_000)
    assert knot() is None
