"""The facts of the committed dataset come out again from the kernels' sources, which are written anew from seeds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from profiler.corpus.facts.devices import read_devices, write_devices
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
    chosen = {kernel for _, kernel, _ in anew.place}
    committed = {key: at for key, at in kept.place.items() if key[1] in chosen}
    assert len(committed) >= 3 * made.kernels
    for key, at in committed.items():
        assert anew.launch[anew.place[key]] == pytest.approx(kept.launch[at], rel=1e-3, abs=2e-3)
        assert anew.analytic[key] == pytest.approx(np.asarray(kept.analytic[key]), rel=1e-3, abs=2e-3)


def test_what_has_no_facts_is_counted_and_the_rest_stays(
    repository: Path, cut_out: Callable[..., Path], tmp_path: Path
) -> None:
    kernels = pq.read_table(repository / "profiler/corpus/data/kernels.parquet", columns=["id", "origin"]).to_pylist()
    chosen = [each["id"] for each in kernels if each["origin"] == GENERATOR][:: 3 * EVERY]
    data = cut_out(tmp_path / "some", chosen, ("launch_facts", "analytic_facts"))
    before = read_facts(data)
    _rename_device(data, chosen[0], "pocl", "other/pocl")
    made = make_facts(data, tmp_path / "sources", mirrors=None, processes=1, say=lambda _: None, missing=True)
    after = read_facts(data)
    assert (made.kernels, made.failed) == (1, 0)
    new = after.analytic.keys() - before.analytic.keys()
    assert before.analytic.keys() < after.analytic.keys()
    assert {(device, kernel) for device, kernel, _ in new} == {("other/pocl", chosen[0])}
    for device, kernel, key in new:
        same = (device.removeprefix("other/"), kernel, key)
        assert after.launch[after.place[device, kernel, key]] == pytest.approx(
            before.launch[before.place[same]], rel=1e-3, abs=2e-3
        )
        assert after.analytic[device, kernel, key] == pytest.approx(before.analytic[same], rel=1e-3, abs=2e-3)
    for key, at in before.place.items():
        assert (after.launch[after.place[key]] == before.launch[at]).all()


def _rename_device(data: Path, kernel: str, device: str, name: str) -> None:
    """Let the rows of `kernel` on `device` be of one of another name, whose profile is the same."""
    rows = pq.read_table(data / "rows.parquet")
    cells = rows.to_pylist()
    for row in cells:
        if (row["kernel_id"], row["device"]) == (kernel, device):
            row["device"] = name
    pq.write_table(pa.Table.from_pylist(cells, rows.schema), data / "rows.parquet")
    devices = read_devices(data)
    write_devices(data, {**devices, name: devices[device]})
