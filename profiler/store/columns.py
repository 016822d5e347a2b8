"""A kept measurement as a row of a table: which columns, of which types, in which units; and how it is read back."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from typing import Any, get_type_hints

from cattrs import BaseValidationError

from model.errors import KernelcastError
from profiler.measurement import Measurement
from profiler.store.as_json import CONVERTER, launch_from_json, launch_to_json
from profiler.store.entry import StoredMeasurement

SCHEMA_VERSION = 1  # of the columns; one that is added with a default needs no new version
Cell = str | int | float | bool | datetime | None
Row = Mapping[str, Cell]


class ExchangeError(KernelcastError):
    """A file of measurements cannot be written or read; the message says which, where, and what to do."""

    code = "exchange"


class Kind(StrEnum):
    """What a column's cells hold."""

    TEXT = "text"
    WHOLE = "a whole number"
    NUMBER = "a number"
    FLAG = "true or false"
    MOMENT = "a date and time"


@dataclass(frozen=True, slots=True)
class Column:
    """`write` and `read` stand between a value and its cell. `may_lack`: older files do without it."""

    name: str
    kind: Kind
    is_optional: bool = False
    may_lack: bool = False
    write: Callable[[Any], Cell] = lambda value: value
    read: Callable[[Any], object] = lambda cell: cell


@cache
def columns() -> tuple[Column, ...]:
    """Return all of them in their order: what the kernel was, then each field of `Measurement` under its own name."""
    hints = get_type_hints(Measurement)
    found = list(_OF_THE_ENTRY)
    for field in fields(Measurement):
        if field.name == "ci95_us":
            found += [Column("ci95_low_us", Kind.NUMBER), Column("ci95_high_us", Kind.NUMBER)]
            continue
        like = (
            _MOMENT if field.name == "measured_at" else _BY_TYPE.get(hints[field.name]) or _as_json(hints[field.name])
        )
        may_lack = field.default is not MISSING
        found.append(Column(field.name, like.kind, like.is_optional, may_lack, like.write, like.read))
    return tuple(found)


def to_row(entry: StoredMeasurement) -> dict[str, Cell]:
    """Its cells by column. Raises `ExchangeError` for one whose date is none."""
    m = entry.measurement
    values: dict[str, object] = {field.name: getattr(m, field.name) for field in fields(Measurement)}
    values |= {
        "schema_version": SCHEMA_VERSION,
        "file": entry.kernel_id.removesuffix(f"::{m.kernel}"),
        "predicted_us": entry.predicted_us,
        "launch_json": entry.launch,
        "ci95_low_us": m.ci95_us[0],
        "ci95_high_us": m.ci95_us[1],
    }
    try:
        return {column.name: column.write(values[column.name]) for column in columns()}
    except ValueError as error:
        raise ExchangeError(f"the measurement of `{m.kernel}` with the date {m.measured_at!r}: {error}") from None


def check_columns(names: Sequence[str]) -> None:
    """Raise `ExchangeError` if a file with these columns is not of ours."""
    lacking = [column.name for column in columns() if column.name not in names and not column.may_lack]
    twice = [name for name in names if list(names).count(name) > 1]
    if twice:
        raise ExchangeError(f"it has the column `{twice[0]}` twice")
    if lacking:
        some = ", ".join(lacking[:3]) + (", ..." if len(lacking) > 3 else "")
        raise ExchangeError(f"it is not an export of Kernelcast's measurements: it lacks the columns {some}")


def from_row(row: Row) -> StoredMeasurement:
    """Return the inverse of `to_row`; every cell is checked. Raises `ExchangeError` that names the column."""
    version = row.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise ExchangeError(f"a newer Kernelcast wrote it (version {version} of its columns); update this one")
    found: dict[str, Any] = {}
    for column in columns():
        if column.name in row or not column.may_lack:
            found[column.name] = _value(column, row.get(column.name))
    found["ci95_us"] = (found.pop("ci95_low_us"), found.pop("ci95_high_us"))
    del found["schema_version"]
    file, predicted_us, launch = (found.pop(column.name) for column in _OF_THE_ENTRY[1:])
    measurement = Measurement(**found)
    return StoredMeasurement(measurement, predicted_us, f"{file}::{measurement.kernel}", launch)


def _value(column: Column, cell: Cell) -> object:
    if cell is None and column.is_optional:
        return None
    if column.kind is Kind.NUMBER and isinstance(cell, int) and not isinstance(cell, bool):
        cell = float(cell)
    is_fit = isinstance(cell, _PYTHON_TYPES[column.kind]) and isinstance(cell, bool) == (column.kind is Kind.FLAG)
    if not is_fit or (isinstance(cell, float) and not math.isfinite(cell)):
        shown = "empty" if cell is None else repr(cell)
        raise ExchangeError(f"`{column.name}` is {shown}, instead of {column.kind}")
    try:
        return column.read(cell)
    except (ValueError, TypeError, BaseValidationError):
        raise ExchangeError(f"`{column.name}` cannot be understood: {cell!r:.80}") from None


def _moment(iso: str) -> datetime:
    moment = datetime.fromisoformat(iso)
    if moment.tzinfo is None:
        raise ValueError("its time zone is missing")
    return moment.astimezone(UTC)


def _iso(moment: datetime) -> str:
    if moment.tzinfo is None:
        raise ValueError("its time zone is missing")
    return moment.astimezone(UTC).isoformat()


def _sizes(text: str) -> tuple[int, ...] | None:
    return tuple(map(int, text.split("x"))) if text else None


def _as_json(kind: type) -> Column:
    """For lists: a JSON array as text."""

    def read(text: str) -> object:
        array = json.loads(text)
        if not isinstance(array, list):
            raise TypeError("not a JSON array")
        return CONVERTER.structure(array, kind)

    return Column("", Kind.TEXT, write=lambda value: json.dumps(CONVERTER.unstructure(value)), read=read)


_PYTHON_TYPES = {Kind.TEXT: str, Kind.WHOLE: int, Kind.NUMBER: float, Kind.FLAG: bool, Kind.MOMENT: datetime}
_OF_THE_ENTRY = (
    Column("schema_version", Kind.WHOLE),
    Column("file", Kind.TEXT),  # empty for text that was never saved
    Column("predicted_us", Kind.NUMBER, is_optional=True),
    Column(
        "launch_json",  # of model.launch.launch.Launch; empty where it was not kept
        Kind.TEXT,
        write=lambda launch: launch_to_json(launch) if launch else "",
        read=lambda text: launch_from_json(text) if text else None,
    ),
)
_MOMENT = Column("", Kind.MOMENT, write=_moment, read=_iso)
_BY_TYPE: dict[object, Column] = {
    str: Column("", Kind.TEXT),
    int: Column("", Kind.WHOLE),
    bool: Column("", Kind.FLAG),
    float: Column("", Kind.NUMBER),
    float | None: Column("", Kind.NUMBER, is_optional=True),
    tuple[int, ...] | None: Column("", Kind.TEXT, write=lambda sizes: "x".join(map(str, sizes or ())), read=_sizes),
}
