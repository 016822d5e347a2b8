"""What was collected is in the dataset, all of it and exactly, and no source text."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from profiler.corpus.collection.devices import corpus_device
from profiler.corpus.collection.store import CorpusStore, RowKey, Stint
from profiler.corpus.dataset.arrow import read_table
from profiler.corpus.dataset.columns import TABLES, DatasetError
from profiler.corpus.dataset.export import export
from profiler.corpus.dataset.frame import frame_of
from profiler.corpus.dataset.reading import launches_of, read_dataset
from profiler.corpus.draw import Draw
from profiler.corpus.kernel import CorpusKernel
from tests.profiler.corpus.dataset.conftest import DEVICES, facts, made_launches, timing


def test_launches_come_back_as_they_were(dataset: Path, kernels: list[CorpusKernel]) -> None:
    before = {(k.id, each.launch.key): each.launch for k in kernels[:-1] for each in k.launches}
    after = {(kernel_id, key): launch for kernel_id, key, launch in launches_of(read_dataset(dataset))}
    assert after == before
    assert all(launch.key == key for (_, key), launch in after.items())


def test_every_row_is_there_once(dataset: Path, work: Path) -> None:
    store = CorpusStore(work)
    rows = {row.key: row for row in store.rows()}
    store.close()
    table = read_dataset(dataset).rows.to_pylist()
    assert len(table) == len(rows) > 900
    found = {(cells["device"], cells["kernel_id"], cells["launch_key"], cells["repeat"]): cells for cells in table}
    assert len(found) == len(table)
    for key, row in rows.items():
        cells = found[key.device, key.kernel_id, key.launch_key, key.repeat]
        assert cells["median_us"] == np.float32(row.timing.median_us)
        assert cells["is_disturbed"] == row.timing.is_disturbed
        assert cells["stolen_percent"] is None
        assert cells["measured_at"].isoformat() == "2026-11-22T16:30:00+00:00"
        assert cells["driver"] == ("2024.18" if key.device == "intel-cpu" else "PoCL 3.1")


def test_kernels_without_rows_are_left_away(dataset: Path, kernels: list[CorpusKernel]) -> None:
    assert set(read_dataset(dataset).kernels["id"].to_pylist()) == {kernel.id for kernel in kernels[:-1]}


def test_launches_that_run_the_same_code_share_what_was_compiled(dataset: Path, kernels: list[CorpusKernel]) -> None:
    compiled = read_dataset(dataset).compiled.to_pylist()
    assert len(compiled) == 2 * (len(kernels) - 1)
    assert compiled[0]["places"] == [0, 1, 2]
    assert compiled[0]["mix_kinds"] == ["load/f32/global/8", "float_add/f32//8"]
    assert compiled[0]["loops"] == [1, 25, 8]


def test_no_source_text_is_stored(dataset: Path) -> None:
    for table in TABLES:
        content = (dataset / table.file_name).read_bytes()
        assert b"get_global_id" not in content
    assert "source" not in read_dataset(dataset).kernels.schema.names


def test_each_file_says_what_it_is(dataset: Path) -> None:
    read = read_dataset(dataset)
    assert read.metadata["schema_version"] == 1
    assert read.metadata["generator"].startswith("kernelcast corpus")
    assert {profile["id"] for profile in read.metadata["profiles"].values()} == {"pocl", "intel-cpu"}
    assert set(read.rows["profile"].to_pylist()) == read.metadata["profiles"].keys()
    for table in TABLES:
        schema = pq.read_schema(dataset / table.file_name)
        assert {f.name: f.metadata[b"meaning"].decode() for f in schema} == {c.name: c.meaning for c in table.columns}


def test_a_second_export_writes_the_same(work: Path, dataset: Path, tmp_path: Path) -> None:
    export([work], tmp_path)
    for table in TABLES:
        assert read_table(tmp_path, table).equals(read_table(dataset, table))  # metadata name today's commit


def test_what_is_no_dataset_is_said(tmp_path: Path, dataset: Path) -> None:
    with pytest.raises(DatasetError, match="holds no collection"):
        export([tmp_path], tmp_path / "out")
    with pytest.raises(DatasetError, match=r"kernels.parquet is missing"):
        read_dataset(tmp_path)
    for table in TABLES:
        (tmp_path / table.file_name).write_bytes((dataset / table.file_name).read_bytes()[:-100])
    with pytest.raises(DatasetError, match="damaged, or no Parquet"):
        read_dataset(tmp_path)


def test_collections_of_several_hosts_make_one_dataset(work: Path, kernels: list[CorpusKernel], tmp_path: Path) -> None:
    """The second knows other launches of a kernel, another device, and a row that the first has as well."""
    kernel = kernels[0]
    other = replace(kernel, launches=(*made_launches(Draw("elsewhere")), kernel.launches[1]))
    store = CorpusStore(tmp_path / "second")
    store.add_kernels([other])
    stint = store.begin_stint(Stint(0, "2026-11-23T00:00:00+00:00", "0.1.0", "there", 8, "[]"))
    shared, new = kernel.launches[1].launch.key, other.launches[0].launch.key
    for key in (RowKey("gpu", kernel.id, new), RowKey("gpu", kernel.id, shared), RowKey("pocl", kernel.id, shared)):
        store.save_row(key, timing(12345.0), is_bad=False, stint=stint)
    store.save_build("gpu", kernel.id, {shared: facts(kernel, "gpu")}, {})
    store.save_build("pocl", kernel.id, {shared: replace(facts(kernel, "pocl"), code_bytes=1)}, {})
    store.close()
    export([work, tmp_path / "second"], tmp_path / "data")
    export([work], tmp_path / "one")
    both, one = read_dataset(tmp_path / "data"), read_dataset(tmp_path / "one")
    assert both.rows.num_rows == one.rows.num_rows + 2
    assert both.launches.num_rows == one.launches.num_rows + 3
    gpu = [row for row in both.rows.to_pylist() if row["device"] == "gpu"]
    assert [(row["driver"], row["profile"]) for row in gpu] == [("", "")] * 2  # of which no profile was kept
    assert 12345.0 not in [row["median_us"] for row in both.rows.to_pylist() if row["device"] == "pocl"]
    (compiled,) = (row for row in both.compiled.to_pylist() if row["device_id"] == "gpu")
    assert compiled["places"] == [1]
    assert both.compiled.num_rows == one.compiled.num_rows + 1
    assert frame_of(both).devices == ("gpu", *DEVICES[2:], *DEVICES[:2])


def test_what_another_machine_measured_is_added(work: Path, dataset: Path, tmp_path: Path) -> None:
    added = tmp_path / "added"
    shutil.copytree(dataset, added)
    before = read_dataset(dataset)
    summary = export([work], added, machine="other", adds=True)
    after = read_dataset(added)
    assert summary.rows == len(after.rows) == 2 * len(before.rows)
    assert after.kernels.equals(before.kernels)
    assert after.launches.equals(before.launches)
    rows = after.rows.to_pylist()
    assert [row for row in rows if "/" not in row["device"]] == before.rows.to_pylist()
    assert {row["device"] for row in rows} == {*DEVICES, *(f"other/{device}" for device in DEVICES)}
    assert {each["device_id"] for each in after.compiled.to_pylist()} == {
        "pocl", "intel-cpu", "other/pocl", "other/intel-cpu"
    }  # fmt: skip
    assert after.metadata["usual"].keys() > before.metadata["usual"].keys()


def test_adding_the_same_collection_again_changes_nothing(work: Path, dataset: Path, tmp_path: Path) -> None:
    added = tmp_path / "added"
    shutil.copytree(dataset, added)
    export([work], added, adds=True)
    for table in TABLES:
        assert read_table(added, table).equals(read_table(dataset, table))


def test_a_device_of_another_machine_is_known_by_its_parts() -> None:
    device = corpus_device("other/intel-1core", None)
    assert (device.id, device.device_id, device.processors) == ("other/intel-1core", "other/intel-cpu", 1)
