"""The facts of the committed dataset come out again from the kernels' sources, which are written anew from seeds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from profiler.corpus.facts.make import make_facts
from profiler.corpus.facts.table import read_facts
from profiler.corpus.kernel import GENERATOR

EVERY = 900  # of the generator's kernels


@pytest.fixture
def some_kernels(repository: Path, cut_out: Callable[..., Path], tmp_path: Path) -> Path:
    """A dataset of a few kernels of the committed one."""
    kernels = pq.read_table(repository / "profiler/corpus/data/kernels.parquet", columns=["id", "origin"]).to_pylist()
    return cut_out(tmp_path / "some", [each["id"] for each in kernels if each["origin"] == GENERATOR][::EVERY])


def test_facts_made_anew_are_those_that_are_committed(some_kernels: Path, repository: Path, tmp_path: Path) -> None:
    said: list[str] = []
    made = make_facts(some_kernels, tmp_path / "sources", mirrors=None, processes=1, say=said.append)
    assert (made.lost, made.failed) == (0, 0)
    anew, kept = read_facts(some_kernels), read_facts(repository / "profiler/corpus/data")
    assert made.kernels > 8
    assert len(anew.place) >= 3 * made.kernels
    for key, at in anew.place.items():
        assert anew.launch[at] == pytest.approx(kept.launch[kept.place[key]], rel=1e-3, abs=2e-3)
        assert anew.laws[key] == pytest.approx(np.asarray(kept.laws[key]), rel=1e-3, abs=2e-3)
