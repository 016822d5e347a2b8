"""The facts of the committed dataset come out again from the kernels' sources, which are written anew from seeds."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from profiler.corpus.facts.make import make_facts
from profiler.corpus.facts.table import read_facts
from profiler.corpus.kernel import GENERATOR

EVERY = 900  # of the generator's kernels


@pytest.fixture
def some_kernels(repository: Path, tmp_path: Path) -> Path:
    """A dataset of a few kernels of the committed one."""
    whole, folder = repository / "profiler/corpus/data", tmp_path / "some"
    folder.mkdir()
    kernels = pq.read_table(whole / "kernels.parquet", columns=["id", "origin"]).to_pylist()
    chosen = pa.array([each["id"] for each in kernels if each["origin"] == GENERATOR][::EVERY])
    for name in ("kernels", "launches", "rows", "compiled", "splits"):
        table = pq.read_table(whole / f"{name}.parquet")
        own = table["id" if name == "kernels" else "kernel_id"].cast(pa.string())
        pq.write_table(table.filter(pc.is_in(own, chosen)), folder / f"{name}.parquet")
    shutil.copy(whole / "devices.json", folder)
    return folder


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
