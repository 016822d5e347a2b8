"""The database's file: where it lies, how it is opened, and what to do where it cannot be used."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_data_path

from model.errors import KernelcastError
from profiler.store.schema import migrate, write_ahead

DATA_DIR_VARIABLE = "KERNELCAST_DATA_DIR"
FILE_NAME = "kernelcast.sqlite3"
BUSY_TIMEOUT_S = 5.0  # everything that is ever done to the store takes milliseconds
State = tuple[tuple[int, int], ...]  # of the database and its log: last change [ns] and size [bytes]
_own_changes: deque[tuple[State, State]] = deque(maxlen=1000)  # before and after each transaction, in their order


class StoreError(KernelcastError):
    """The store cannot be read or written; the message says how to mend it."""

    code = "store"


def data_folder() -> Path:
    """Where user data lie: KERNELCAST_DATA_DIR if set, else the platform's place for them."""
    override = os.environ.get(DATA_DIR_VARIABLE)
    if override:
        return Path(override).expanduser()
    return user_data_path("kernelcast", appauthor=False)


def prepare(path: Path, busy_timeout_s: float) -> None:
    """Make the file, or bring an older one to the newest version. Raises StoreError."""
    with _failures_named(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_frozen(path):
            make_private(path)
    with connection(path, busy_timeout_s) as database:
        if not _is_frozen(path):
            write_ahead(database, busy_timeout_s)
        migrate(database)


def make_private(path: Path) -> None:
    """Make a database readable by its owner alone; SQLite's other files get the same permissions."""
    made = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.close(made)
    if sys.platform != "win32" and stat.S_IMODE(path.stat().st_mode) & 0o077:  # made by an earlier version
        with contextlib.suppress(OSError):  # somebody else's, who shares it on purpose
            path.chmod(0o600)


@contextmanager
def connection(path: Path, busy_timeout_s: float) -> Iterator[sqlite3.Connection]:
    """One transaction: committed at the end, rolled back on an error. Raises StoreError."""
    with _failures_named(path):
        before = _files_of(path)
        database = _opened(path, busy_timeout_s)
        try:
            with database:
                yield database
        finally:
            database.close()
            after = _files_of(path)
            if after != before:
                _own_changes.append((before, after))


def files_of_store() -> State:
    """Return the state of the database and its log.

    An empty log counts as none: readers create one and remove it again.
    """
    return _files_of(data_folder() / FILE_NAME)


def is_own_change(last: State, now: State) -> bool:
    """Return whether this process alone brought the files from one state to the other."""
    state = last
    for before, after in _own_changes.copy():
        if state == now:
            break
        if before == state:
            state = after
    return state == now


def _files_of(path: Path) -> State:
    found = []
    for file in (path, path.with_name(f"{path.name}-wal")):
        try:
            changed = file.stat()
        except OSError:  # not there, or not to be read: opening the store says which
            changed = None
        found.append((changed.st_mtime_ns, changed.st_size) if changed and changed.st_size else (0, 0))
    return tuple(found)


def _opened(path: Path, busy_timeout_s: float) -> sqlite3.Connection:
    if _is_frozen(path):
        return sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1", uri=True)
    return sqlite3.connect(path, timeout=busy_timeout_s)


def _is_frozen(path: Path) -> bool:
    """Return whether the database lies where it cannot be written, as in a read-only home.

    SQLite's readers want to create files beside it, unless they are told that it never changes.
    """
    path = path.resolve()
    log = path.with_name(f"{path.name}-wal")
    return path.exists() and not os.access(path.parent, os.W_OK) and not os.access(log, os.W_OK)


@contextmanager
def _failures_named(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(_advice(path, error)) from error
    except OSError as error:
        raise StoreError(
            f"{path.parent} cannot be used for measurements ({error.strerror}); "
            f"make it writable, or set {DATA_DIR_VARIABLE} to another folder"
        ) from error


def _advice(path: Path, error: sqlite3.Error) -> str:
    said = str(error)
    if "locked" in said or "busy" in said:
        return f"{path} is locked by another process ({said}); close other editors that measure, then try again"
    if "newer Kernelcast" in said:
        return f"{path} cannot be used: {said}; update this one"
    if "full" in said or "disk I/O" in said:
        return f"no room on the disk for {path}; free some space"
    if "readonly" in said or "unable to open" in said or "attempt to write" in said:
        return f"{path} cannot be written ({said}); make it writable, or set {DATA_DIR_VARIABLE} to another folder"
    return (
        f"{path} is damaged ({said}); move it away: calibrations and measurements in it are lost, "
        "and `kernelcast calibrate` makes new ones"
    )
