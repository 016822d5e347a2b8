"""What measurements of a user's own bring, on a made-up world whose kernels are off family by family."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from model.learned.novelty import Novelty
from model.training.few_shot_eval import SHOTS, few_shot_table
from model.training.figures import Line
from model.training.rows import Rows
from tests.made_world import made_rows

HALVES = "apples", "pears"  # families that fall into different halves


@pytest.fixture(scope="module")
def lines() -> dict[str, Line]:
    """All is said right, but for the kernels of one of the families in `validation`, which take three times as long."""
    made = made_rows()
    first, second = sorted(set(made.family[made.split == "validation"]))
    named = np.where(made.family == first, HALVES[0], np.where(made.family == second, HALVES[1], made.family))
    rows = replace(made, family=named)
    said = rows.log2_us - np.where(rows.family == HALVES[0], np.log2(3), 0).astype(np.float32)
    return {line.who: line for line in few_shot_table(rows, said, novelty(rows))}


def novelty(rows: Rows) -> Novelty:
    """Two launches are apart by how their facts are; those of one family are well within 1 of each other."""
    facts = rows.launch.shape[1]
    one = np.ones(facts, np.float32)
    return Novelty(0 * one, one, np.eye(facts, dtype=np.float32), np.zeros((1, facts), np.float32), 6.0, 12.0)


def test_kernels_like_those_that_were_measured_get_better(lines: dict[str, Line]) -> None:
    before, after = (
        lines[f"the same families: {n}"].figures for n in ("nothing measured", f"{SHOTS[-1]} kernels measured")
    )
    assert after.mape < 0.75 * before.mape


def test_strangers_to_what_was_measured_are_hardly_touched(lines: dict[str, Line]) -> None:
    before = lines["other families: nothing measured"].figures
    for shots in SHOTS:
        assert lines[f"other families: {shots} kernels measured"].figures.mape < before.mape + 8
