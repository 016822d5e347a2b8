"""A dataset holds the profile of each device that its rows were measured on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from profiler.corpus.facts.devices import add_calibrated, read_devices, write_devices


@pytest.fixture
def dataset(tmp_path: Path, repository: Path, cut_out: Callable[..., Path]) -> Path:
    rows = pq.read_table(repository / "profiler/corpus/data/rows.parquet", columns=["device", "kernel_id"])
    of_xeon = next(cells["kernel_id"] for cells in rows.to_pylist() if cells["device"] == "xeon-2/pocl")
    return cut_out(tmp_path / "data", [of_xeon])


def test_a_device_without_a_profile_gets_that_of_its_collection(dataset: Path) -> None:
    before = read_devices(dataset)
    write_devices(dataset, {name: device for name, device in before.items() if name != "xeon-2/pocl"})
    assert add_calibrated(dataset) == ["xeon-2/pocl"]
    after = read_devices(dataset)
    assert after.keys() == before.keys()
    assert after["xeon-2/pocl"].calibrated
    assert after["xeon-2/pocl"].name == before["xeon-2/pocl"].name


def test_profiles_that_are_there_and_parts_of_a_device_stay_as_they_are(dataset: Path) -> None:
    assert add_calibrated(dataset) == []
    alone = {name: device for name, device in read_devices(dataset).items() if "1core" not in name}
    write_devices(dataset, alone)
    assert add_calibrated(dataset) == []
