"""Measurements to and from files that other programs read: CSV by Python itself, Parquet with the extra `parquet`.

CSV is a line of column names, decimal points, ISO 8601 dates, and nothing for what is unknown.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from profiler.store.columns import Cell, Column, ExchangeError, Kind, Row, check_columns, columns, from_row, to_row
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


_FLAGS = {"true": True, "false": False}


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    names = [column.name for column in columns()]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([_shown(row[name]) for name in names] for row in rows)


def read_csv(path: Path) -> Iterator[Row]:
    """Yield one row after the other. Raises `ExchangeError` where the file is not what `write_csv` wrote."""
    by_name = {column.name: column for column in columns()}
    done = 0
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:  # spreadsheets put a mark at the beginning
            reader = csv.reader(file, strict=True)
            names = next(reader, [])
            check_columns(names)
            for texts in reader:
                if len(texts) != len(names):
                    raise ExchangeError(f"row {done + 1}: {len(texts)} cells, where there are {len(names)} columns")
                given = zip(names, texts, strict=True)
                yield {name: _cell(by_name[name], text) for name, text in given if name in by_name}
                done += 1
    except (UnicodeDecodeError, csv.Error) as error:
        raise ExchangeError(f"it is damaged after row {done}, or not CSV ({error})") from None


def _shown(cell: Cell) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "true" if cell else "false"
        case datetime():
            return cell.isoformat()
    return str(cell)  # of a float, the shortest text that reads back as the same


def _cell(column: Column, text: str) -> Cell:
    """Text that does not go with its column stays text, which is then refused with its row."""
    if not text and column.kind is not Kind.TEXT:
        return None
    try:
        match column.kind:
            case Kind.WHOLE:
                return int(text) if re.fullmatch(r"[+-]?\d{1,19}", text, re.ASCII) else text
            case Kind.NUMBER:
                return float(text)
            case Kind.FLAG:
                return _FLAGS.get(text.lower(), text)  # spreadsheets write TRUE
            case Kind.MOMENT:
                return datetime.fromisoformat(text)
    except ValueError:
        pass
    return text
