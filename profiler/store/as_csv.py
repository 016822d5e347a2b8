"""Rows of measurements as CSV: a line of column names, decimal points, ISO 8601 dates, nothing for what is unknown."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from profiler.store.columns import Cell, Column, ExchangeError, Kind, Row, check_columns, columns

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
