"""`kernelcast history`: what was measured over time, and how it moves between machines."""

from __future__ import annotations

import csv
import json
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model.launch.launch import Launch
from profiler.measurement import Measurement
from profiler.store import FILE_NAME, Store

Run = Callable[..., "subprocess.CompletedProcess[str]"]
SCALE = "kernel void scale(global float *x, int n) { int i = get_global_id(0); if (i < n) x[i] *= 2.0f; }\n"
MEASURED = Measurement(
    kernel="scale", kernel_fingerprint="f", launch_key="l", launch="64 / 8", device_id="pocl", device_name="A CPU",
    driver="3.1", median_us=10.0, p10_us=9.0, p90_us=12.0, ci95_us=(9.9, 10.1), repeats=20, batches=6,
    batch_spread_percent=1.5, local_size=(8,), load_average=0.1, measured_at="2026-01-01T00:00:00+00:00",
)  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """The one that `run` uses: a kernel that was edited once, and another one."""
    store = Store.open(tmp_path / "data" / FILE_NAME)
    for median_us, predicted_us, changed in (
        (10.0, 20.0, {}),
        (5.0, 4.0, {"kernel_fingerprint": "g", "measured_at": "2026-01-02T00:00:00+00:00"}),
        (7.0, None, {"kernel": "blur", "device_id": "gpu"}),
    ):
        measured = replace(MEASURED, median_us=median_us, ci95_us=(median_us * 0.99, median_us * 1.01), **changed)
        store.add_measurement(measured, predicted_us, path=tmp_path / "k.cl", launch=Launch((64,), (8,)))
    return store


def lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.usefixtures("store")
def test_the_table_shows_each_measurement_against_its_prediction_and_what_changed(run: Run) -> None:
    done = run("history", "k.cl", "--kernel", "scale")
    assert done.returncode == 0
    first, second = (line for line in done.stdout.splitlines() if line.startswith("2026"))
    assert ", driver 3.1)" in done.stdout.splitlines()[0]
    assert all(word in first for word in ("2026-01-01 00:00", "64 / 8", "10 µs", "1.0 %", "20 µs", "+100 %"))
    assert all(word in second for word in ("2026-01-02 00:00", "5.0 µs", "-20 %", "kernel edited, 50 % faster"))
    assert "64 / 8  █▁  10 µs to 5.0 µs (-50 %)" in done.stdout
    assert "blur" not in done.stdout


def test_drivers_are_told_apart_where_there_were_several(run: Run, store: Store, tmp_path: Path) -> None:
    later = replace(MEASURED, driver="3.2", measured_at="2026-02-01T00:00:00+00:00")
    store.add_measurement(later, path=tmp_path / "k.cl")
    said = run("history", "k.cl", "--kernel", MEASURED.kernel).stdout
    newest = next(line for line in said.splitlines() if line.startswith("2026-02"))
    assert "3.2" in newest
    assert "other driver" in newest


def test_a_measurement_that_cannot_be_read_is_named_beside_the_others(run: Run, store: Store) -> None:
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute("UPDATE measurements SET measurement = 'no JSON' WHERE id = 2")
    done = run("history", "k.cl", "--kernel", "scale")
    assert done.returncode == 0
    assert [line[:10] for line in done.stdout.splitlines() if line.startswith("2026")] == ["2026-01-01"]
    assert "Measurement 2 of" in done.stderr
    assert "k.cl::scale cannot be read by this version and is left out" in done.stderr


@pytest.mark.usefixtures("store")
def test_scripts_get_one_line_for_each(run: Run, tmp_path: Path) -> None:
    first, second, blur = lines(run("history", "k.cl", "--format", "json"))
    assert first["file"] == str((tmp_path / "k.cl").resolve())
    assert first["runtime_us"] == {"median": 10.0, "p10": 9.0, "p90": 12.0, "ci95": [9.9, 10.1]}
    assert (first["predicted_us"], first["error_percent"]) == (20.0, 100.0)
    assert first["arguments"]["global_size"] == [64]
    assert second["changes"] == ["kernel edited", "50 % faster"]
    assert (blur["kernel"], blur["predicted_us"], blur["error_percent"]) == ("blur", None, None)
    assert lines(run("history", "--kernel", "blur", "--format", "json")) == [blur]
    assert lines(run("history", "--device", "gpu", "--format", "json")) == [blur]
    assert lines(run("history", "k.cl", "--limit", "1", "--format", "json")) == [second, blur]


def test_a_kernel_that_was_never_measured_has_no_history(run: Run) -> None:
    done = run("history", "k.cl", "--kernel", "scale")
    assert (done.returncode, done.stdout) == (0, "")
    assert "nothing was measured of kernel `scale`, k.cl" in done.stderr


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_measurements_move_to_another_store_once(run: Run, store: Store, tmp_path: Path, suffix: str) -> None:
    assert "3 measurements written" in run("history", "--export", f"out{suffix}").stderr
    there = {"KERNELCAST_DATA_DIR": str(tmp_path / "there")}
    assert "holds 3 measurements, 3 of them new" in run("history", "--import", f"out{suffix}", **there).stderr
    assert "holds 3 measurements, none of them new" in run("history", "--import", f"out{suffix}", **there).stderr
    assert sorted(map(repr, Store.open(tmp_path / "there" / FILE_NAME).everything())) == sorted(
        map(repr, store.everything())
    )


@pytest.mark.usefixtures("store")
def test_an_export_of_one_kernel_holds_nothing_else(run: Run, tmp_path: Path) -> None:
    run("history", "k.cl", "--kernel", "blur", "--export", "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        assert [row["kernel"] for row in csv.DictReader(file)] == ["blur"]


@pytest.mark.usefixtures("store")
def test_an_import_with_one_bad_row_adds_none(run: Run, store: Store, tmp_path: Path) -> None:
    run("history", "--export", "out.csv")
    text = (tmp_path / "out.csv").read_text()
    (tmp_path / "out.csv").write_text(text.replace(",7.0,", ",seven,", 1).replace(",10.0,", ",10.5,", 1))
    done = run("history", "--import", "out.csv")
    assert done.returncode == 1
    assert "row 2: `median_us` is 'seven', instead of a number" in done.stderr
    assert len(store.everything()) == 3


def test_import_takes_no_choice_beside_it(run: Run) -> None:
    done = run("history", "k.cl", "--import", "out.csv")
    assert done.returncode == 2
    assert "--import takes all" in done.stderr


@pytest.mark.device
def test_a_measurement_appears_in_the_history(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(SCALE)
    assert (
        run("measure", "k.cl", "--global", "64", "--arg", "n=64", "--buffer", "x=64", "--repeat", "3").returncode == 0
    )
    (told,) = lines(run("history", "k.cl", "--format", "json"))
    assert (told["kernel"], told["repeats"]) == ("scale", 3)
    assert told["predicted_us"] > 0
