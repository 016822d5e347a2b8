"""The store's tables, and how an older file becomes a newer one."""

from __future__ import annotations

import sqlite3

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
)


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
