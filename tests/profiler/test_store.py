"""What was measured is found again, in any process, until the kernel or its launch changes."""

from __future__ import annotations

import multiprocessing
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from model.device import Device, ProfileSource
from model.device_catalog import builtin_devices
from profiler.measurement import Measurement
from profiler.store import Store, StoreError, data_folder


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "data" / "store.sqlite3")


@pytest.fixture
def calibrated() -> Device:
    return replace(builtin_devices()[0], source=ProfileSource.CALIBRATED, measured_at="2026-01-01T00:00:00+00:00")


def measurement(fingerprint: str = "f", launch_key: str = "l", median_us: float = 10.0) -> Measurement:
    return Measurement(
        kernel="scale",
        kernel_fingerprint=fingerprint,
        launch_key=launch_key,
        launch="64 / 8",
        device_id="pocl",
        device_name="CPU",
        driver="3.0",
        median_us=median_us,
        p10_us=9.0,
        p90_us=12.0,
        ci95_us=(9.5, 10.5),
        repeats=20,
        batches=6,
        batch_spread_percent=1.5,
        local_size=(8,),
        load_average=0.1,
        measured_at="2026-01-01T00:00:00+00:00",
    )


def test_a_profile_comes_back_as_it_was_saved(store: Store, calibrated: Device) -> None:
    store.save_profile(calibrated)
    assert Store.open(store.path).profiles() == (calibrated,)


def test_calibrating_again_replaces_the_profile_of_the_same_driver_only(store: Store, calibrated: Device) -> None:
    store.save_profile(calibrated)
    again = replace(calibrated, noise_percent=2.0)
    other_driver = replace(calibrated, driver="4.0", measured_at="2026-02-01T00:00:00+00:00")
    store.save_profile(again)
    store.save_profile(other_driver)
    assert store.profiles() == (again, other_driver)


def test_the_newest_measurement_of_a_launch_is_found_with_its_error(store: Store) -> None:
    store.add_measurement(measurement(), 20.0, path="k.cl")
    store.add_measurement(measurement(median_us=8.0), 12.0, path="k.cl")
    found = store.latest_measurement("f", "l", "pocl")
    assert found is not None
    assert found.measurement == measurement(median_us=8.0)
    assert found.error_percent == pytest.approx(50.0)


def test_after_an_edit_the_old_measurement_is_still_known_by_file_and_name(store: Store) -> None:
    store.add_measurement(measurement(fingerprint="before"), path="k.cl")
    assert store.latest_measurement("after", "l", "pocl") is None
    found = store.latest_for_kernel(Path("k.cl").resolve(), "scale", "pocl")
    assert found is not None
    assert found.measurement.kernel_fingerprint == "before"
    assert store.latest_for_kernel("other.cl", "scale", "pocl") is None


def test_the_data_folder_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KERNELCAST_DATA_DIR", str(tmp_path / "mine"))
    assert data_folder() == tmp_path / "mine"
    assert Store.open().path.parent == tmp_path / "mine"


def test_a_damaged_store_says_how_to_mend_it(tmp_path: Path) -> None:
    (tmp_path / "store.sqlite3").write_bytes(b"this is no database" * 100)
    with pytest.raises(StoreError, match=r"is damaged .* move it away"):
        Store.open(tmp_path / "store.sqlite3")


def test_a_store_that_cannot_be_opened_names_the_other_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="KERNELCAST_DATA_DIR"):
        Store.open(tmp_path / "file" / "store.sqlite3")
    with pytest.raises(StoreError, match="KERNELCAST_DATA_DIR"):
        Store.open(tmp_path)


def test_a_store_of_a_newer_kernelcast_is_left_alone(store: Store) -> None:
    with sqlite3.connect(store.path) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer Kernelcast"):
        Store.open(store.path)


def test_an_entry_that_cannot_be_read_is_a_named_failure(store: Store, calibrated: Device) -> None:
    store.save_profile(calibrated)
    with sqlite3.connect(store.path) as database:
        database.execute("UPDATE profiles SET profile = '{}'")
    with pytest.raises(StoreError, match="cannot read"):
        store.profiles()


def _write_many(path: Path, start: object, who: str) -> None:
    start.wait()  # type: ignore[attr-defined]
    store = Store.open(path)
    for number in range(40):
        store.add_measurement(measurement(fingerprint=f"{who}-{number}"), path="k.cl")


def test_several_processes_may_create_and_fill_the_store_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(3)
    path = tmp_path / "store.sqlite3"
    writers = [context.Process(target=_write_many, args=(path, start, who)) for who in "abc"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    store = Store.open(path)
    assert all(store.latest_measurement(f"{who}-{n}", "l", "pocl") for who in "abc" for n in range(40))


def test_the_history_of_a_kernel_is_of_its_file_the_newest_first(store: Store) -> None:
    for median_us in (1.0, 2.0, 3.0):
        store.add_measurement(measurement(median_us=median_us), 5.0, path="/one/k.cl")
    store.add_measurement(measurement(median_us=9.0), path="/other/k.cl")
    found = store.history("/one/k.cl", "scale")
    assert [each.measurement.median_us for each in found] == [3.0, 2.0, 1.0]
    assert found[0].predicted_us == 5.0
    assert [each.measurement.median_us for each in store.history("/one/k.cl", "scale", most=1)] == [3.0]
    assert store.history("/one/k.cl", "other") == ()
