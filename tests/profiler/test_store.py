"""What was measured is found again, in any process, until the kernel or its launch changes."""

from __future__ import annotations

import multiprocessing
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model.device import Device, ProfileSource
from model.device_catalog import builtin_devices
from model.launch.launch import Assumption, Fill, Launch, Origin
from model.opencl.options import BuildOptions
from profiler.measurement import Measurement
from profiler.store import Store, StoredMeasurement, StoreError, corpus_kernel_id, data_folder, kernel_id


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
    (found,) = store.measurements_of("f", "pocl", newest_only=True)
    assert found.measurement == measurement(median_us=8.0)
    assert found.error_percent == pytest.approx(50.0)


def test_after_an_edit_the_old_measurement_is_still_known_by_file_and_name(store: Store) -> None:
    store.add_measurement(measurement(fingerprint="before"), path="k.cl")
    assert store.measurements_of("after", "pocl") == ()
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


@pytest.mark.parametrize("damage", ["", "no JSON", "null", "[]", "{}"])
def test_a_calibration_that_cannot_be_read_is_named_and_takes_no_other_with_it(
    store: Store, calibrated: Device, damage: str
) -> None:
    other = replace(calibrated, id="other")
    store.save_profile(calibrated)
    store.save_profile(other)
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute("UPDATE profiles SET profile = ? WHERE device_id = ?", (damage, calibrated.id))
    assert store.profiles() == (other,)
    assert f"`kernelcast calibrate --device {calibrated.id}` makes a new one" in store.left_out
    store.save_profile(calibrated)
    assert set(store.profiles()) == {calibrated, other}


@pytest.mark.parametrize("damage", ["", "no JSON", "null", "[]", "7", "{}"])
def test_a_measurement_that_cannot_be_read_is_named_and_takes_no_other_with_it(store: Store, damage: str) -> None:
    for median_us in (1.0, 2.0, 3.0):
        store.add_measurement(measurement(median_us=median_us), path="/one/k.cl")
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute("UPDATE measurements SET measurement = ? WHERE id = 3", (damage,))
    assert [each.measurement.median_us for each in store.history("/one/k.cl", "scale")] == [2.0, 1.0]
    assert [each.measurement.median_us for each in store.everything()] == [1.0, 2.0]
    assert "Measurement 3 of /one/k.cl::scale" in store.left_out
    (last,) = store.measurements_of("f", "pocl", newest_only=True)
    assert last.measurement.median_us == 2.0
    assert store.add_unknown(store.everything()) == 0


def test_many_that_cannot_be_read_are_told_in_one_sentence(store: Store) -> None:
    store.add_measurement(measurement(), path="/one/k.cl")
    assert store.everything()
    assert store.left_out == ""
    store.add_measurement(measurement(), path="/one/k.cl", launch=Launch((64,), None))
    with closing(sqlite3.connect(store.path)) as database, database:
        database.execute("UPDATE measurements SET measurement = '{}' WHERE id = 1")
        database.execute("UPDATE measurements SET launch = 'torn' WHERE id = 2")
    assert store.everything() == ()
    assert "1 of /one/k.cl::scale and 1 more cannot be read" in store.left_out


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
    kept = {each.measurement.kernel_fingerprint for each in store.everything()}
    assert kept == {f"{who}-{n}" for who in "abc" for n in range(40)}


def test_the_history_of_a_kernel_is_of_its_file_the_newest_first(store: Store) -> None:
    for median_us in (1.0, 2.0, 3.0):
        store.add_measurement(measurement(median_us=median_us), 5.0, path="/one/k.cl")
    store.add_measurement(measurement(median_us=9.0), path="/other/k.cl")
    found = store.history("/one/k.cl", "scale")
    assert [each.measurement.median_us for each in found] == [3.0, 2.0, 1.0]
    assert found[0].predicted_us == 5.0
    assert [each.measurement.median_us for each in store.history("/one/k.cl", "scale", most=1)] == [3.0]
    assert store.history("/one/k.cl", "other") == ()


def test_all_launches_of_a_kernel_on_a_device_are_found_for_one_driver_and_one_set_of_options(store: Store) -> None:
    for launch_key, driver, options in (("a", "3.0", ""), ("b", "3.0", "-DN=4"), ("a", "4.0", "")):
        store.add_measurement(replace(measurement(launch_key=launch_key), driver=driver, options=options), path="k.cl")
    store.add_measurement(replace(measurement(), device_id="other"), path="k.cl")
    store.add_measurement(measurement(fingerprint="other"), path="k.cl")

    def found(*which: str, **more: Any) -> list[tuple[str, str]]:
        entries = store.measurements_of("f", "pocl", *which, **more)
        return [(each.measurement.launch_key, each.measurement.driver) for each in entries]

    assert found() == [("a", "4.0"), ("b", "3.0"), ("a", "3.0")]
    assert found("3.0") == [("b", "3.0"), ("a", "3.0")]
    assert found("3.0", options="-DN=4") == [("b", "3.0")]
    assert found(newest_only=True) == [("a", "4.0"), ("b", "3.0")]
    assert found("3.0", newest_only=True) == [("b", "3.0"), ("a", "3.0")]


def test_a_launch_is_kept_with_all_its_arguments(store: Store) -> None:
    launch = Launch(
        global_size=(64, 2),
        local_size=(8, 1),
        scalars=(("n", 64), ("a", 0.5)),
        buffers=(("x", 64),),
        images=(("img", (16, 16, 1)),),
        local_bytes=(("tmp", 32),),
        fills=(("x", Fill("randint", (0, 64))),),
        options=BuildOptions((("N", "4"),), ("/inc",), ("-cl-mad-enable",)),
        name="small",
        origin=Origin.ANNOTATION,
    )
    store.add_measurement(measurement(), launch=replace(launch, assumptions=(Assumption("n", "n is 64"),)))
    (kept,) = store.history(None, "scale")
    assert kept.launch == launch
    assert kept.launch.key == launch.key


def test_what_a_driver_compiled_is_found_for_exactly_that_kernel_and_driver(store: Store) -> None:
    store.keep_compiled("f", "-DN=4", (16, 16), "pocl", "3.0", '{"registers": 4}')
    store.keep_compiled("f", "-DN=4", None, "pocl", "3.0", '{"registers": 5}')
    store.keep_compiled("f", "-DN=4", None, "pocl", "3.0", '{"registers": 6}')
    assert store.compiled("f", "-DN=4", (16, 16), "pocl", "3.0") == '{"registers": 4}'
    assert store.compiled("f", "-DN=4", None, "pocl", "3.0") == '{"registers": 6}'
    assert store.compiled("f", "-DN=4", None, "pocl", "4.0") is None
    assert store.compiled("f", "", None, "pocl", "3.0") is None


def test_files_whose_names_hold_wildcards_have_their_own_history(store: Store) -> None:
    store.add_measurement(measurement(median_us=1.0), path="/one/a_b%.cl")
    store.add_measurement(measurement(median_us=2.0), path="/one/aXbY.cl")
    assert [each.measurement.median_us for each in store.history_of_file("/one/a_b%.cl")] == [1.0]


def test_an_older_measurement_that_is_imported_later_is_not_the_newest(store: Store) -> None:
    store.add_measurement(measurement(median_us=8.0), path="k.cl")
    (kept,) = store.everything()
    older = replace(kept, measurement=replace(measurement(median_us=9.0), measured_at="2025-12-31T23:59:59+00:00"))
    store.add_unknown([older])
    assert store.measurements_of("f", "pocl", newest_only=True) == (kept,)
    assert store.everything() == (older, kept)


def test_what_was_measured_while_the_clock_was_ahead_hides_nothing_that_is_measured_now(
    store: Store, calibrated: Device
) -> None:
    ahead = "2099-01-01T00:00:00+00:00"
    store.add_measurement(replace(measurement(median_us=9.0), measured_at=ahead), path="k.cl")
    store.add_measurement(measurement(median_us=5.0), path="k.cl")
    store.save_profile(calibrated)
    store.save_profile(replace(calibrated, driver="of the future", measured_at=ahead))
    last = store.latest_for_kernel("k.cl", "scale", "pocl")
    assert last is not None
    assert last.measurement.median_us == 5.0
    (found,) = store.measurements_of("f", "pocl", newest_only=True)
    assert found.measurement.median_us == 5.0
    assert [entry.measurement.median_us for entry in store.history("k.cl", "scale")] == [5.0, 9.0]
    assert store.profiles()[-1] == calibrated


def test_what_is_measured_of_the_corpus_and_of_the_users_kernels_do_not_crowd_each_other_out(store: Store) -> None:
    """Whichever was measured last."""
    device, own, corpus = measurement(), kernel_id("a.cl", "k"), corpus_kernel_id("scan", "k")

    def families(measured: dict[str, int], most: int) -> list[str]:
        store.add(
            *(
                StoredMeasurement(measurement(f"{kernel} {n}"), None, kernel, question=f"{kernel} {n}".encode())
                for kernel, count in measured.items()
                for n in range(count)
            )
        )
        return [each.family for each in store.lessons(device.device_id, device.driver, most)]

    assert families({own: 3}, 4) == [""] * 3
    assert families({corpus: 9}, 4) == ["", "", "scan", "scan"]
    assert families({own: 9}, 4) == ["", "", "scan", "scan"]
    assert families({}, 100) == [""] * 9 + ["scan"] * 9


def test_what_is_asked_of_a_launch_anew_takes_the_place_of_what_was_asked(store: Store) -> None:
    """The device was calibrated since: nothing that the model is told of it holds any more."""
    kept = StoredMeasurement(measurement(), None, corpus_kernel_id("scan", "k"), question=b"before")
    other = StoredMeasurement(measurement("other"), None, corpus_kernel_id("scan", "other"), question=b"of another")
    store.add(kept, other)
    store.ask_anew(kept, b"after")
    lessons = store.lessons(kept.measurement.device_id, kept.measurement.driver)
    assert {each.question for each in lessons} == {b"after", b"of another"}
    assert len(store.everything()) == 2
