"""A store that an older Kernelcast wrote becomes today's, with all that is in it."""

from __future__ import annotations

import multiprocessing
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from profiler.store import Store, StoreError

# As the first version made it, and wrote into it.
VERSION_1 = """
PRAGMA journal_mode = WAL;
CREATE TABLE profiles (
    device_id TEXT NOT NULL,
    driver TEXT NOT NULL,
    name TEXT NOT NULL,
    measured_at TEXT,
    profile TEXT NOT NULL,
    PRIMARY KEY (device_id, driver, name)
);
CREATE TABLE measurements (
    id INTEGER PRIMARY KEY,
    kernel_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    launch_key TEXT NOT NULL,
    device_id TEXT NOT NULL,
    measured_at TEXT NOT NULL,
    predicted_us REAL,
    measurement TEXT NOT NULL
);
CREATE INDEX measurements_exact ON measurements (fingerprint, launch_key, device_id);
CREATE INDEX measurements_of_kernel ON measurements (kernel_id, device_id);
INSERT INTO measurements VALUES (1, '/home/me/k.cl::scale', 'f', 'l', 'pocl', '2025-11-02T10:00:00+00:00', 20.0,
    '{"kernel": "scale", "kernel_fingerprint": "f", "launch_key": "l", "launch": "64 / 8", "device_id": "pocl", "device_name": "A CPU", "driver": "3.1", "median_us": 10.0, "p10_us": 9.0, "p90_us": 12.0, "ci95_us": [9.5, 10.5], "repeats": 20, "batches": 6, "batch_spread_percent": 1.5, "local_size": [8], "load_average": 0.1, "measured_at": "2025-11-02T10:00:00+00:00"}');
INSERT INTO measurements VALUES (2, '/home/me/k.cl::scale', 'f', 'm', 'pocl', '2025-11-02T10:00:01+00:00', NULL,
    '{"kernel": "scale", "kernel_fingerprint": "f", "launch_key": "m", "launch": "128 / auto", "device_id": "pocl", "device_name": "A CPU", "driver": "3.1", "median_us": 19.0, "p10_us": 18.0, "p90_us": 22.0, "ci95_us": [18.5, 19.5], "repeats": 20, "batches": 6, "batch_spread_percent": 1.5, "local_size": null, "load_average": 0.1, "measured_at": "2025-11-02T10:00:01+00:00"}');
PRAGMA user_version = 1;
"""  # noqa: E501 - as it stood in the file


@pytest.fixture
def old_store(tmp_path: Path) -> Path:
    path = tmp_path / "of version one.sqlite3"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(VERSION_1)
    return path


def test_what_the_first_version_kept_is_all_there(old_store: Path) -> None:
    newer, older = Store.open(old_store).history("/home/me/k.cl", "scale")
    assert (older.measurement.median_us, older.predicted_us, older.launch) == (10.0, 20.0, None)
    assert (newer.measurement.launch, newer.predicted_us) == ("128 / auto", None)
    assert newer.measurement.options == ""
    assert newer.measurement.settled


def test_old_measurements_are_found_by_their_driver(old_store: Path) -> None:
    store = Store.open(old_store)
    assert [each.measurement.launch_key for each in store.measurements_of("f", "pocl", "3.1")] == ["m", "l"]
    assert store.measurements_of("f", "pocl", "3.2") == ()


def test_a_row_that_was_damaged_by_hand_does_not_keep_the_rest_from_being_migrated(old_store: Path) -> None:
    with closing(sqlite3.connect(old_store)) as database, database:
        database.execute("UPDATE measurements SET measurement = 'no JSON' WHERE id = 2")
    store = Store.open(old_store)
    assert [each.measurement.launch_key for each in store.history("/home/me/k.cl", "scale")] == ["l"]


def test_a_migration_that_fails_leaves_the_old_file_as_it_was(old_store: Path) -> None:
    with closing(sqlite3.connect(old_store)) as database, database:
        database.execute("CREATE TABLE compiled_facts (mine TEXT)")
    with pytest.raises(StoreError, match="compiled_facts already exists"):
        Store.open(old_store)
    with closing(sqlite3.connect(old_store)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (1,)
        assert "driver" not in {row[1] for row in database.execute("PRAGMA table_info(measurements)")}
        assert database.execute("SELECT count(*) FROM measurements").fetchone() == (2,)


def _open(path: Path, start: object) -> None:
    start.wait()  # type: ignore[attr-defined]
    assert len(Store.open(path).everything()) == 2


def test_several_processes_may_find_the_old_file_at_once(old_store: Path) -> None:
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(3)
    openers = [context.Process(target=_open, args=(old_store, start)) for _ in range(3)]
    for opener in openers:
        opener.start()
    for opener in openers:
        opener.join()
    assert [opener.exitcode for opener in openers] == [0, 0, 0]
