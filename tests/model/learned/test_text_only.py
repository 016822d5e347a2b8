"""The baseline that reads launch and source as one text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.network import Shape
from model.training.arrays import Arrays, Split
from model.training.recipe import Recipe
from model.training.text_only import RowTexts, launch_sentence, text_estimates, train_text_only
from model.training.train_network import shape_for


@pytest.fixture
def launches(arrays: Arrays) -> list[dict[str, Any]]:
    count = range(len(arrays.launch_kernel))
    return [{"global": [64 + at], "local": None, "scalars": {"v3": at}, "buffers": {"v1": 4096}} for at in count]


def test_a_launch_is_told_in_digits_and_words() -> None:
    launch = {"global": [64, 8], "local": None, "scalars": {"n": "12"}, "buffers": {"x": 512}}
    said = "global 6 4 , 8 , local any , scalars 1 2 , buffers 5 1 2 , on pocl ;"
    assert " ".join(launch_sentence(launch, "pocl")) == said


def test_it_learns_and_answers_for_every_row(
    arrays: Arrays, launches: list[dict[str, Any]], recipe: Recipe, tiny: dict[str, int], tmp_path: Path
) -> None:
    shape: Shape = shape_for(arrays, RowTexts(arrays, launches, longest=32).tokenizer, **tiny)
    trained = train_text_only(arrays, launches, tmp_path, recipe, shape)
    rows = arrays.rows_in(Split.VALIDATION)
    assert np.isfinite(text_estimates(trained.network, trained.texts, rows)).all()


def test_rows_that_differ_in_launch_or_device_differ_in_text(arrays: Arrays, launches: list[dict[str, Any]]) -> None:
    texts = RowTexts(arrays, launches, longest=64)
    assert len({tuple(texts[row]) for row in arrays.rows_of[0]}) == len(arrays.rows_of[0])
