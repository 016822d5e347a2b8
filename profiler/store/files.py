"""Measurements to and from files that other programs read: CSV by Python itself, Parquet with the extra `parquet`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from profiler.store.as_csv import read_csv, write_csv
from profiler.store.columns import ExchangeError, Row, from_row, to_row
from profiler.store.entry import StoredMeasurement

SUFFIXES = (".csv", ".parquet")


def write_file(path: Path, entries: Sequence[StoredMeasurement]) -> None:
    """As CSV or Parquet, after the name's ending; it is there whole or not at all. Raises `ExchangeError`."""
    suffix = _suffix(path)
    with _failures_named(path, "written"), _whole(path) as unfinished:
        rows = [to_row(entry) for entry in entries]
        if suffix == ".parquet":
            from profiler.store.as_parquet import write_parquet  # noqa: PLC0415 - an extra, and heavy

            write_parquet(unfinished, rows)
        else:
            write_csv(unfinished, rows)


def read_file(path: Path) -> tuple[StoredMeasurement, ...]:
    """Return what `write_file` wrote, each row checked. Raises `ExchangeError` that names the row and the column."""
    suffix = _suffix(path)
    with _failures_named(path, "read"):
        if suffix == ".parquet":
            from profiler.store.as_parquet import read_parquet  # noqa: PLC0415 - an extra, and heavy

            rows = read_parquet(path)
        else:
            rows = read_csv(path)
        return tuple(_entry(number, row) for number, row in enumerate(rows, start=1))


def _entry(number: int, row: Row) -> StoredMeasurement:
    try:
        return from_row(row)
    except ExchangeError as error:
        raise ExchangeError(f"row {number}: {error.message}", line=number) from None


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ExchangeError(f"{path} must end in {' or '.join(SUFFIXES)}, which says how it is written")
    return suffix


@contextmanager
def _failures_named(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except ExchangeError as error:
        raise ExchangeError(f"{path}: {error.message}", line=error.line) from error
    except OSError as error:
        raise ExchangeError(f"{path} cannot be {what}: {error.strerror or error}") from error


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside `path`, which becomes `path` when all is written and is removed on failure."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
