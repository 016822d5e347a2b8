"""The store's tables, and how an older file becomes a newer one."""

from __future__ import annotations

import sqlite3
import time

_PAUSE_S = 0.02

# One entry per version, in order; an entry that was ever released is never changed, only followed by another.
MIGRATIONS = (
    (
        """CREATE TABLE profiles (
            device_id TEXT NOT NULL,
            driver TEXT NOT NULL,
            name TEXT NOT NULL,
            measured_at TEXT,
            profile TEXT NOT NULL,          -- JSON of model.device.Device
            PRIMARY KEY (device_id, driver, name)
        )""",
        """CREATE TABLE measurements (
            id INTEGER PRIMARY KEY,
            kernel_id TEXT NOT NULL,        -- file and kernel name: the same after an edit
            fingerprint TEXT NOT NULL,
            launch_key TEXT NOT NULL,
            device_id TEXT NOT NULL,
            measured_at TEXT NOT NULL,
            predicted_us REAL,
            measurement TEXT NOT NULL       -- JSON of profiler.measurement.Measurement
        )""",
        "CREATE INDEX measurements_exact ON measurements (fingerprint, launch_key, device_id)",
        "CREATE INDEX measurements_of_kernel ON measurements (kernel_id, device_id)",
    ),
    (
        "ALTER TABLE measurements ADD COLUMN driver TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE measurements ADD COLUMN options TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE measurements ADD COLUMN device_name TEXT NOT NULL DEFAULT ''",
        # JSON of model.launch.launch.Launch, so that it can be predicted anew; '' where it was never written down.
        "ALTER TABLE measurements ADD COLUMN launch TEXT NOT NULL DEFAULT ''",
        # A row that was damaged by hand must not keep the others from being migrated.
        """UPDATE measurements SET
            driver = coalesce(json_extract(measurement, '$.driver'), ''),
            options = coalesce(json_extract(measurement, '$.options'), ''),
            device_name = coalesce(json_extract(measurement, '$.device_name'), '')
            WHERE json_valid(measurement)""",
        "CREATE INDEX measurements_of_fingerprint ON measurements (fingerprint, device_id, driver)",
        """CREATE TABLE compiled_facts (
            fingerprint TEXT NOT NULL,
            options TEXT NOT NULL,
            local_size TEXT NOT NULL,       -- '16x16', or '' where the driver chooses
            device_id TEXT NOT NULL,
            driver TEXT NOT NULL,
            made_at TEXT NOT NULL,          -- ISO 8601, UTC
            facts TEXT NOT NULL,            -- JSON
            PRIMARY KEY (fingerprint, options, local_size, device_id, driver)
        )""",
    ),
    (
        # What the learned model was asked of the launch, as model.learned.lessons packs it; NULL where it was not.
        "ALTER TABLE measurements ADD COLUMN question BLOB",
        "CREATE INDEX measurements_of_device ON measurements (device_id, driver, measured_at)",
    ),
    (
        """CREATE TABLE recordings (
            id INTEGER PRIMARY KEY,
            project TEXT NOT NULL,          -- its folder
            command TEXT NOT NULL,          -- JSON list of words
            cwd TEXT NOT NULL,
            recorded_at REAL NOT NULL,      -- unix seconds
            status INTEGER NOT NULL,        -- exit status of the program
            notes TEXT NOT NULL             -- JSON list of sentences: what could not be recorded
        )""",
        """CREATE TABLE recorded_launches (
            id INTEGER PRIMARY KEY,
            recording INTEGER NOT NULL REFERENCES recordings (id),
            kernel TEXT NOT NULL,
            source TEXT NOT NULL,           -- key of the program's text, '' where there is none
            launch TEXT NOT NULL            -- JSON of profiler.recording.recorded_entry.RecordedEntry
        )""",
        "CREATE INDEX recordings_of_project ON recordings (project)",
        "CREATE INDEX recorded_launches_of_recording ON recorded_launches (recording, kernel)",
    ),
    (
        """CREATE TABLE recorded_commands (
            recording INTEGER PRIMARY KEY REFERENCES recordings (id),
            commands BLOB NOT NULL          -- model.program.command.CommandSequence, as profiler.recording packs it
        )""",
    ),
)


def write_ahead(database: sqlite3.Connection, timeout_s: float) -> None:
    """Let readers and a writer not wait for each other; the file keeps that mode.

    SQLite waits for locks by itself, but not for this one: of several processes that find a new file, all but one are
    refused at once. Raises `sqlite3.OperationalError` after `timeout_s`.
    """
    deadline_s = time.monotonic() + timeout_s
    while True:
        try:
            # Asking for the mode that it has already would need a lock while others write.
            if database.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                database.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline_s:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


def migrate(database: sqlite3.Connection) -> None:
    """Bring the file to the newest version. Two processes may try at once: the second finds it done.

    Raises `sqlite3.DatabaseError` for a file that a newer Kernelcast wrote.
    """
    if _version(database) == len(MIGRATIONS):
        return
    database.execute("BEGIN IMMEDIATE")  # waits for another process that migrates
    found = _version(database)
    if found > len(MIGRATIONS):
        raise sqlite3.DatabaseError(f"written by a newer Kernelcast, version {found} of its tables")
    for statements in MIGRATIONS[found:]:
        for statement in statements:
            database.execute(statement)
    database.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def _version(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])
