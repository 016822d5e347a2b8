"""A collection that is stopped at any time has of every family and origin alike."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from profiler.corpus.collection.order import KernelEntry, balanced
from profiler.corpus.kernel import GENERATOR

ENTRIES = st.lists(
    st.builds(KernelEntry, st.uuids().map(str), st.sampled_from([GENERATOR, "silx", "halide"]), st.sampled_from("abc")),
    max_size=60,
    unique_by=lambda entry: entry.id,
)


@given(ENTRIES)
def test_every_kernel_has_its_place_once(entries: list[KernelEntry]) -> None:
    assert sorted(balanced(entries)) == sorted(entry.id for entry in entries)


@given(ENTRIES, st.integers(0, 60))
def test_families_are_alike_wherever_it_stops(entries: list[KernelEntry], stop: int) -> None:
    of = {entry.id: entry for entry in entries}
    begun = [of[kernel_id] for kernel_id in balanced(entries)[:stop]]
    there = Counter(entry.family for entry in entries if entry.origin == GENERATOR)
    taken = Counter(entry.family for entry in begun if entry.origin == GENERATOR)
    for family in there:  # one is behind another by a single kernel, unless it has no more
        assert taken[family] == there[family] or taken[family] >= max(taken.values(), default=0) - 1


def test_other_peoples_kernels_come_among_our_own() -> None:
    own = [KernelEntry(f"own{at}", GENERATOR, "a") for at in range(6)]
    real = [KernelEntry(f"real{at}", "silx", "silx") for at in range(3)]
    assert balanced([*own, *real]) == ["own0", "own1", "real0", "own2", "own3", "real1", "own4", "own5", "real2"]
