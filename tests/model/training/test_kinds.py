"""Figures by program and by kind of launch: each program counts alike, and compiler tests do not count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from model.training.kinds import FEWEST, kind_table, novelty_table, program_table
from model.training.rows import COMPILER_TESTS, Rows
from tests.made_world import made_rows


@pytest.fixture(scope="module")
def rows() -> Rows:
    """All rows of a large program and of a small one that nobody trained on."""
    made = made_rows()
    origin = np.where(np.arange(len(made.log2_us)) < 2 * FEWEST, "small", "large")
    split = np.full(len(origin), "test-origins")
    quiet = np.zeros(len(origin), bool)
    return replace(made, origin=origin, split=split, is_disturbed=quiet, is_repeat=quiet)


def test_each_program_counts_alike(rows: Rows) -> None:
    said = np.where(rows.origin == "small", rows.log2_us + 2, rows.log2_us).astype(np.float32)
    (line,) = program_table(rows, {"who": said})
    assert line.figures.rows == len(rows.log2_us)
    assert line.figures.within_2x == pytest.approx(50)
    assert line.figures.median_ape == pytest.approx(150)


def test_a_program_of_few_rows_says_nothing(rows: Rows) -> None:
    few = replace(rows, origin=np.where(np.arange(len(rows.origin)) < FEWEST - 1, "tiny", "large"))
    (line,) = program_table(few, {"who": few.log2_us})
    assert line.device == "1 programs"


def test_compiler_tests_are_not_judged(rows: Rows) -> None:
    group = np.where(rows.origin == "small", COMPILER_TESTS, "others")
    own = replace(rows, group=group)
    assert set(own.origin[own.judged("test-origins")]) == {"large"}
    assert len(own.where("test-origins")) == len(own.origin)


def test_kinds_of_launches_are_told_apart_with_their_bias(rows: Rows) -> None:
    long = np.arange(len(rows.log2_us)) % 3 == 0
    timed = replace(rows, log2_us=np.where(long, 12.0, 4.0).astype(np.float32))
    said = np.where(long, timed.log2_us - 1, timed.log2_us).astype(np.float32)
    lines = {line.kind: line for line in kind_table(timed, said, ("test-origins",))}
    assert lines["over 1 ms"].bias == pytest.approx(0.5)
    assert lines["over 1 ms"].figures.rows == long.sum()
    assert lines["below 50 us"].bias == pytest.approx(1)


def test_the_least_familiar_quarter_is_compared_with_the_most_familiar(rows: Rows) -> None:
    novelty = np.arange(len(rows.log2_us), dtype=np.float32)
    off = np.where(novelty >= np.quantile(novelty, 0.75), 1.0, 0.0)
    (line,) = novelty_table(rows, (rows.log2_us + off).astype(np.float32), novelty, ("test-origins",))
    assert (line.nearest, line.farthest) == (pytest.approx(0), pytest.approx(100))
