"""The dataset that is shipped, as training takes it: what is judged by was never trained on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from model.learned.compiled_facts import COMPILED_FACT_NAMES
from model.learned.device_facts import DEVICE_FACT_NAMES
from model.learned.launch_facts import LAUNCH_FACT_NAMES
from model.learned.question import ANALYTIC_FACT_NAMES
from model.training.rows import Rows
from profiler.corpus.dataset.columns import DatasetError
from profiler.corpus.facts.rows import read_rows


@pytest.fixture(scope="module")
def rows(repository: Path) -> Rows:
    return read_rows(repository / "profiler/corpus/data", with_code=False)


def test_splits_have_no_kernel_in_common_and_what_is_new_no_family(rows: Rows) -> None:
    splits = {str(split) for split in np.unique(rows.split)}
    assert {"train", "known", "validation", "test-origins"} <= splits
    assert splits <= {"train", "known", "validation", "test-origins", "left out"}
    kernels = {split: set(rows.kernel[rows.split == split]) for split in splits}
    assert sum(map(len, kernels.values())) == len(set(rows.kernel))
    families = {split: set(rows.family[rows.split == split]) for split in splits}
    assert families["known"] <= families["train"]
    assert not families["train"] & families["validation"]
    origins = {split: set(rows.origin[rows.split == split]) for split in splits}
    assert not origins["train"] & origins["test-origins"]


def test_all_that_is_trained_on_is_there(rows: Rows) -> None:
    assert len(rows.where("train")) > 10_000
    widths = (LAUNCH_FACT_NAMES, ANALYTIC_FACT_NAMES, DEVICE_FACT_NAMES, COMPILED_FACT_NAMES)
    for facts, names in zip((rows.launch, rows.analytic, rows.device, rows.compiled), widths, strict=True):
        assert facts.shape == (len(rows.log2_us), len(names))
    for numbers in (rows.launch, rows.analytic, rows.terms, rows.log2_us):
        assert np.isfinite(numbers).all()
    assert not np.isinf(rows.device).any()
    for name in np.unique(rows.device_name):
        assert len(np.unique(rows.runtime[rows.device_name == name])) == 1


def test_each_launch_was_measured_once_but_for_repetitions(rows: Rows) -> None:
    first = ~rows.is_repeat
    names = np.stack([rows.device_name[first], rows.kernel[first], rows.launch_key[first]], axis=1).tolist()
    assert len(set(map(tuple, names))) == first.sum()


def test_a_folder_without_a_dataset_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=str(tmp_path)):
        read_rows(tmp_path)
