"""How much longer rows took than the same launches do here: measured again on the embedded device."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from profiler.corpus.dataset.columns import DatasetError
from profiler.corpus.facts import slowdown
from profiler.corpus.facts.devices import PACES, Pace, log2_paces, read_devices, read_paces, write_paces
from profiler.corpus.facts.slowdown import measure_pace
from profiler.device_worker.processors import allowed_processors

DEVICE = "pocl-1core"


@pytest.fixture(scope="module")
def few(repository: Path, cut_out: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The generated kernels with most launches that take neither too long nor too short."""
    rows = pq.read_table(
        repository / "profiler/corpus/data/rows.parquet", columns=["device", "kernel_id", "runtime_us"]
    )
    own = rows.filter(
        (pc.field("device") == DEVICE) & (pc.field("runtime_us") > 100) & (pc.field("runtime_us") < 10_000)
    )
    generated = pq.read_table(repository / "profiler/corpus/data/kernels.parquet", columns=["id", "origin"])
    mine = set(generated.filter(pc.field("origin") == "generator")["id"].to_pylist())
    counted = sorted(own["kernel_id"].value_counts().to_pylist(), key=lambda each: (-each["counts"], each["values"]))
    chosen = [each["values"] for each in counted if each["values"] in mine][:6]
    return cut_out(tmp_path_factory.mktemp("paces") / "data", chosen)


def test_launches_are_measured_again_on_as_many_processors(few: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slowdown, "FEWEST", 4)
    monkeypatch.setattr(slowdown, "_BUDGET_S", 0.05)
    before = allowed_processors()
    said: list[str] = []
    profile = read_devices(few)[DEVICE]
    # A busy machine measures fewer than are wanted in the time that a quiet one needs.
    pace = next(filter(None, (measure_pace(few, DEVICE, profile, s, said.append) for s in (8.0, 30.0, 300.0))), None)
    assert pace is not None, said
    assert pace.launches >= slowdown.FEWEST
    low, high = pace.quartiles
    assert 0.05 < low <= pace.times <= high < 20
    assert allowed_processors() == before


def test_without_time_there_is_no_pace(few: Path) -> None:
    assert measure_pace(few, DEVICE, read_devices(few)[DEVICE], 0.0, print) is None


def test_paces_are_read_as_they_were_written(few: Path) -> None:
    write_paces(few, {DEVICE: Pace(20, 2.0, (1.5, 3.0))})
    assert read_paces(few) == {DEVICE: Pace(20, 2.0, (1.5, 3.0))}
    found = log2_paces(few)
    assert found[DEVICE] == 1
    assert {each for name, each in found.items() if name != DEVICE} == {0}


def test_where_nobody_measured_a_pace_rows_are_as_profiles(few: Path) -> None:
    (few / PACES).unlink()
    assert set(log2_paces(few).values()) == {0}


def test_a_damaged_file_is_named(few: Path) -> None:
    (few / PACES).write_text('{"pocl": 3}', encoding="utf-8")
    with pytest.raises(DatasetError, match=PACES):
        read_paces(few)
