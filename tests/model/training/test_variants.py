"""Variants of the trees are compared on rows in training alone, each on questions that it was not trained on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("lightgbm", reason="the extra `train` grows trees")
pytest.importorskip("torch", reason="the extra `train` learns prices")

from model.training import variants
from model.training.ensemble import plain_recipe
from model.training.rows import Rows
from model.training.variants import VARIANTS, Verdict, compare
from profiler.corpus.facts.variants import variants_table
from tests.made_world import HARDLY, made_rows


@pytest.fixture(scope="module")
def rows() -> Rows:
    """Half of the devices are another machine's; some launches are short, some long."""
    made = made_rows()
    other = np.char.add("xeon-2/", made.device_name)
    names = np.where(np.char.startswith(made.device_name, "intel"), other, made.device_name)
    analytic = made.analytic.copy()
    analytic[::3, 0] = np.log2(50e3)
    return replace(made, device_name=names, analytic=analytic)


@pytest.fixture(scope="module")
def packages(rows: Rows) -> np.ndarray:
    return np.isin(rows.family, np.unique(rows.family[rows.split == "train"])[::2])


def _compare(rows: Rows, packages: np.ndarray, some: tuple[variants.Variant, ...]) -> list[Verdict]:
    return compare(rows, packages, HARDLY.forests, plain_recipe(HARDLY), some, lambda _: None)


def test_every_variant_answers_every_question(rows: Rows, packages: np.ndarray) -> None:
    found = _compare(rows, packages, VARIANTS)
    questions = {
        "families left out", "packages left out", "long launches, trained on short ones",
        "four processors, trained without it", "xeon-2, trained without it",
    }  # fmt: skip
    assert {(each.variant, each.question) for each in found} == {(v.name, q) for v in VARIANTS for q in questions}
    assert all(each.rows and np.isfinite((each.median_ape, each.rms, each.bias, *each.gain)).all() for each in found)
    assert all(each.gain == (0, 0, 0) for each in found if each.variant == VARIANTS[0].name)
    assert all(each.gain[1] <= each.gain[0] <= each.gain[2] for each in found)


def test_held_out_rows_have_no_say(rows: Rows, packages: np.ndarray) -> None:
    held_out = rows.split != "train"
    changed = replace(rows, log2_us=np.where(held_out, np.float32(99), rows.log2_us))
    assert _compare(rows, packages, VARIANTS[:1]) == _compare(changed, packages, VARIANTS[:1])


def test_nobody_is_trained_on_what_is_asked(rows: Rows, packages: np.ndarray) -> None:
    origin = np.where(packages, rows.origin, rows.family)
    for question in variants._questions(rows, packages, origin):
        for given, asked in question.parts:
            assert not set(origin[given]) & set(origin[asked])


def test_families_weigh_alike_where_that_is_asked() -> None:
    origin = np.array(["a"] * 9 + ["b"])
    weight = variants._of_origin(origin, 1.0)
    assert weight[:9].sum() == pytest.approx(weight[9:].sum())
    assert variants._of_origin(origin, 0.0) == pytest.approx(1)


def test_the_table_has_a_line_for_each(rows: Rows) -> None:
    lines = variants_table(rows, lambda _: None, HARDLY, VARIANTS[:2]).splitlines()
    assert {line.count("|") for line in lines} == {9}
    assert any(VARIANTS[1].name in line and "packages left out" in line for line in lines)
