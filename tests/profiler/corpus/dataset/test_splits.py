"""Splits have no family, no origin that is tested, and nothing almost alike in common."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiler.corpus.dataset import splits as rules
from profiler.corpus.dataset.arrow import read_table
from profiler.corpus.dataset.columns import SPLITS
from profiler.corpus.dataset.reading import read_dataset, read_splits
from profiler.corpus.dataset.signatures import (
    NEAR_SHARE,
    as_matrix,
    first_of_their_kind,
    near_pairs,
    signature,
)
from profiler.corpus.dataset.splits import Split, SplitKernel, near_between, place, read_split_kernels
from profiler.corpus.draw import Draw
from profiler.corpus.kernel import GENERATOR

DATA = Path(__file__).parents[4] / "profiler" / "corpus" / "data"
TOKENS = [f"t{number}" for number in range(400)]


@pytest.fixture(params=["synthetic", "committed"])
def folder(request: pytest.FixtureRequest, dataset: Path) -> Path:
    """Of a small dataset that was just made, and of the one in this repository."""
    return DATA if request.param == "committed" and (DATA / SPLITS.file_name).is_file() else dataset


def test_no_kernel_is_almost_like_one_of_another_split(folder: Path) -> None:
    kernels = read_split_kernels(folder)
    assert near_between(kernels, place(kernels)) == []


def test_the_files_hold_what_the_rules_say(folder: Path) -> None:
    placed = place(read_split_kernels(folder))
    assert read_splits(folder) == {kernel_id: at.split.value for kernel_id, at in placed.items()}


def test_no_family_is_in_two_splits(folder: Path) -> None:
    splits, families = read_splits(folder), defaultdict(set)
    for kernel in read_split_kernels(folder):
        families[kernel.family].add(splits[kernel.id])
    assert all(len(found - {Split.LEFT_OUT}) <= 1 for found in families.values())


def test_every_kernel_has_a_split(folder: Path) -> None:
    splits = read_splits(folder)
    assert splits.keys() == set(read_dataset(folder).kernels["id"].to_pylist())
    assert set(splits.values()) >= {"train", "validation", "test-origins"}


def test_the_test_origins_are_named_and_others(folder: Path) -> None:
    splits = read_splits(folder)
    tested = {k.origin for k in read_split_kernels(folder) if splits[k.id] == Split.TEST_ORIGINS}
    assert {"silx", "pyclesperanto-prototype"} < tested
    assert len(tested) >= 6
    assert GENERATOR not in tested


def test_each_group_with_several_families_has_one_held_out(dataset: Path) -> None:
    splits, kernels = read_splits(dataset), read_split_kernels(dataset)
    held_out = {kernel.group for kernel in kernels if splits[kernel.id] == Split.VALIDATION}
    assert held_out >= {"reductions", "stencils", "sorting"}
    assert Counter(splits.values())["train"] > len(kernels) / 2


def described(name: str, family: str, origin: str, tokens: list[str]) -> SplitKernel:
    return SplitKernel(name, origin, family, "group", signature(tokens))


def test_near_duplicates_are_left_out_of_what_is_trained_on() -> None:
    draw = Draw("near")
    kernels = [
        described(f"{family}-{n}", f"family{family}", GENERATOR, [draw.choose(TOKENS) for _ in range(120)])
        for family in range(30)
        for n in range(3)
    ]
    before = place(kernels)
    held = next(kernel for kernel in kernels if before[kernel.id].split is Split.VALIDATION)
    trained = next(kernel for kernel in kernels if before[kernel.id].split is Split.TRAIN)
    copy = replace(trained, id="copy", signature=held.signature)
    after = place([*kernels, copy])
    assert (after["copy"].split, after["copy"].near) == (Split.LEFT_OUT, held.id)
    assert near_between([*kernels, copy], after) == []
    assert near_between([*kernels, copy], {**after, "copy": replace(after["copy"], split=Split.TRAIN)})


def test_a_family_that_is_added_moves_no_other() -> None:
    draw = Draw("added")

    def family(name: str) -> list[SplitKernel]:
        return [described(f"{name}-{n}", name, GENERATOR, draw.sample(TOKENS, 60)) for n in range(3)]

    kernels = [kernel for number in range(40) for kernel in family(f"family{number}")]
    before, after = place(kernels), place([*kernels, *family("another")])
    moved = [name for name, at in before.items() if after[name].split is not at.split]
    assert len(moved) <= 3  # another held-out family may take the place of one


def test_an_origin_that_is_added_moves_no_other_into_or_out_of_the_test() -> None:
    origins = [described(f"k{number}", f"own{number}", f"own/er{number}", ["a"]) for number in range(60)]
    before = rules.tested_origins(origins)
    assert 10 <= len(before) <= 30
    for number in range(60, 120):
        origins.append(described(f"k{number}", f"own{number}", f"own/er{number}", ["a"]))
        assert {name for name in rules.tested_origins(origins) if int(name.removeprefix("own/er")) < 60} == before


@settings(max_examples=30)
@given(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=300), st.integers(0, 60), st.integers(0, 1000))
def test_signatures_tell_how_much_is_in_common(tokens: list[str], changed: int, seed: int) -> None:
    draw, other = Draw(seed), list(tokens)
    for _ in range(changed):
        other[draw.integer(0, len(other) - 1)] = "changed"
    left, right = ({tuple(each[i : i + 5]) for i in range(max(1, len(each) - 4))} for each in (tokens, other))
    common = len(left & right) / len(left | right)
    same = as_matrix([signature(tokens)]) == as_matrix([signature(other)])
    assert float(same.mean()) == pytest.approx(common, abs=0.22)


def test_all_near_pairs_are_found_and_no_others() -> None:
    draw = Draw("pairs")
    left = [signature([draw.choose(TOKENS) for _ in range(80)]) for _ in range(400)]
    matrix = as_matrix(left).copy()
    for row in range(150):
        share = draw.real(0.5, 1.0)
        matrix[row] = np.where([draw.chance(share) for _ in range(128)], matrix[row + 150], matrix[row])
    right = as_matrix(left)
    agreeing = (matrix[:, None, :] == right[None, :, :]).mean(axis=2)
    assert sorted(near_pairs(matrix, right)) == [tuple(pair) for pair in np.argwhere(agreeing >= NEAR_SHARE).tolist()]


def test_of_near_duplicates_one_is_a_pattern() -> None:
    draw = Draw("patterns")
    signatures = [signature([draw.choose(TOKENS) for _ in range(80)]) for _ in range(20)]
    matrix = as_matrix([*signatures, *signatures[:5], signatures[0]])
    assert first_of_their_kind(matrix).tolist() == [True] * 20 + [False] * 6
    assert not len(first_of_their_kind(matrix[:0]))


def test_signatures_are_the_same_on_every_machine() -> None:
    assert signature(["kernel", "void", "v0", "(", "global", "float"]).hex()[:32] == "70789b1ff21a5f41018fcc253d4e070c"
    assert len(signature([])) == len(signature(["a"])) == 256


def test_the_file_says_why_a_kernel_was_left_out(folder: Path) -> None:
    table = read_table(folder, SPLITS).to_pylist()
    assert all(bool(row["near"]) == (row["split"] == Split.LEFT_OUT) for row in table)
