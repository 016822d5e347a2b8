"""The store's tables, and how its file is opened."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from profiler.store.database import StoreError

FILE_NAME = "corpus.sqlite3"
SCHEMA_VERSION = 1
BUSY_TIMEOUT_S = 60.0  # an export may read while a collection writes

_TABLES = (
    """CREATE TABLE kernels (
        number INTEGER PRIMARY KEY,         -- in the order in which they came
        id TEXT NOT NULL UNIQUE,            -- of the normalised source
        origin TEXT NOT NULL,
        family TEXT NOT NULL,
        kernel TEXT NOT NULL                -- JSON of CorpusKernel, without its launches
    )""",
    """CREATE TABLE launches (
        kernel_id TEXT NOT NULL REFERENCES kernels (id),
        launch_key TEXT NOT NULL,
        place INTEGER NOT NULL,             -- 0: the kernel's first
        vary TEXT NOT NULL,
        data INTEGER NOT NULL,
        checked TEXT NOT NULL,
        launch TEXT NOT NULL,               -- JSON of Launch, complete
        PRIMARY KEY (kernel_id, launch_key)
    ) WITHOUT ROWID""",
    """CREATE TABLE builds (
        device_id TEXT NOT NULL,
        kernel_id TEXT NOT NULL,
        launch_key TEXT NOT NULL,
        facts TEXT NOT NULL,                -- JSON of CompiledFacts
        PRIMARY KEY (device_id, kernel_id, launch_key)
    ) WITHOUT ROWID""",
    """CREATE TABLE stints (                -- of collecting, one for each start
        number INTEGER PRIMARY KEY,
        began_at TEXT NOT NULL,             -- ISO 8601, UTC
        kernelcast_version TEXT NOT NULL,
        host TEXT NOT NULL,
        processors INTEGER NOT NULL,
        devices TEXT NOT NULL               -- JSON: of each OpenCL device its id, name, driver and profile
    )""",
    """CREATE TABLE rows (
        device TEXT NOT NULL,               -- CorpusDevice.id
        kernel_id TEXT NOT NULL,
        launch_key TEXT NOT NULL,
        repeat INTEGER NOT NULL,            -- 1: measured again in another process, for the noise floor
        timing TEXT NOT NULL,               -- JSON of RowTiming
        is_floor INTEGER NOT NULL,          -- chosen for a repeat
        is_bad INTEGER NOT NULL,            -- others disturbed it
        attempts INTEGER NOT NULL,          -- how often it was measured; the least disturbed is kept
        note TEXT NOT NULL,
        stint INTEGER NOT NULL REFERENCES stints (number),
        PRIMARY KEY (device, kernel_id, launch_key, repeat)
    ) WITHOUT ROWID""",
    "CREATE INDEX bad_rows ON rows (attempts) WHERE is_bad",
    "CREATE INDEX floor_rows ON rows (repeat) WHERE is_floor",
    """CREATE TABLE failures (
        device TEXT NOT NULL,               -- CorpusDevice.id, or build:DEVICE_ID
        kernel_id TEXT NOT NULL,
        launch_key TEXT NOT NULL,           -- '': all of the kernel's
        code TEXT NOT NULL,
        message TEXT NOT NULL,
        tries INTEGER NOT NULL,
        is_quarantined INTEGER NOT NULL,
        PRIMARY KEY (device, kernel_id, launch_key)
    ) WITHOUT ROWID""",
)


def open_database(path: Path) -> sqlite3.Connection:
    """Return the store's file, made if it is not there; may be used by several threads in turn. Raises StoreError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, check_same_thread=False, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"{path} cannot be used ({error}); name another folder with --workdir") from error
    with failures_named(path):
        database.execute("PRAGMA journal_mode = WAL")
        # What is committed survives any kill of ours; only a power cut may take the last seconds.
        database.execute("PRAGMA synchronous = NORMAL")
        with transaction(database):
            _make_tables(database)
    return database


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Run the block in a transaction: committed at the end, rolled back on an error."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


@contextmanager
def failures_named(path: Path) -> Iterator[None]:
    """Whatever SQLite refuses becomes a StoreError that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(
            f"{path} cannot be used ({error}); if it is locked, end the other process, if the disk is full, free some "
            "space, and if it is damaged, begin with another folder (--workdir)"
        ) from error


def _make_tables(database: sqlite3.Connection) -> None:
    version = int(database.execute("PRAGMA user_version").fetchone()[0])
    if version > SCHEMA_VERSION:
        raise sqlite3.DatabaseError(f"a newer Kernelcast wrote it, version {version} of its tables; update this one")
    if version == 0:
        for statement in _TABLES:
            database.execute(statement)
        database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
