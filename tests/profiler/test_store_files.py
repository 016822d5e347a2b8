"""Measurements go out to CSV and Parquet and come back the same, once; other files are refused by row and column."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.launch.launch import Fill, Launch
from profiler.measurement import Measurement
from profiler.store import Store, StoredMeasurement
from profiler.store.columns import ExchangeError
from profiler.store.files import read_file, write_file

SUFFIXES = pytest.mark.parametrize("suffix", [".csv", ".parquet"])

finite = st.floats(allow_nan=False, allow_infinity=False)
text = st.text(st.characters(exclude_categories=["Cs"]))
by_type: dict[object, st.SearchStrategy[Any]] = {
    str: text,
    int: st.integers(-(2**63), 2**63 - 1),
    bool: st.booleans(),
    float: finite,
    float | None: st.none() | finite,
    tuple[float, float]: st.tuples(finite, finite),
    tuple[int, ...] | None: st.none() | st.lists(st.integers(1, 4096), min_size=1, max_size=3).map(tuple),
    tuple[str, ...]: st.lists(text, max_size=3).map(tuple),
    tuple[tuple[str, int], ...]: st.lists(st.tuples(text, st.integers()), max_size=3).map(tuple),
}
of_field = {
    name: by_type[kind] if kind in by_type else st.from_type(kind) for name, kind in get_type_hints(Measurement).items()
}
of_field["measured_at"] = st.datetimes(timezones=st.just(UTC)).map(datetime.isoformat)
launches = st.builds(
    Launch,
    global_size=st.lists(st.integers(1, 2**40), min_size=1, max_size=3).map(tuple),
    scalars=st.lists(st.tuples(text, st.integers() | finite), max_size=2).map(tuple),
    buffers=st.lists(st.tuples(text, st.integers(1, 2**40)), max_size=2).map(tuple),
    fills=st.lists(st.tuples(text, st.builds(Fill, text, st.tuples(finite, st.integers()))), max_size=2).map(tuple),
)


@st.composite
def entries(draw: st.DrawFn) -> StoredMeasurement:
    measurement = draw(st.builds(Measurement, **of_field))
    kernel_id = f"{draw(text)}::{measurement.kernel}"
    return StoredMeasurement(measurement, draw(st.none() | finite), kernel_id, draw(st.none() | launches))


def one(**changed: Any) -> StoredMeasurement:
    m = Measurement(
        kernel="scale", kernel_fingerprint="f", launch_key="l", launch="64 / 8", device_id="pocl", device_name="A CPU",
        driver="3.1", median_us=10.0, p10_us=9.0, p90_us=12.0, ci95_us=(9.5, 10.5), repeats=20, batches=6,
        batch_spread_percent=1.5, local_size=(8,), load_average=0.1, measured_at="2026-01-01T00:00:00+00:00",
    )  # fmt: skip
    return StoredMeasurement(replace(m, **changed), 20.0, "/home/me/k.cl::scale", Launch((64,), (8,)))


@SUFFIXES
@settings(max_examples=25)
@given(kept=st.lists(entries(), max_size=3))
def test_whatever_was_kept_comes_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, kept: list[StoredMeasurement]
) -> None:
    path = tmp_path_factory.mktemp("out") / f"all of it{suffix}"
    write_file(path, kept)
    assert read_file(path) == tuple(kept)


@SUFFIXES
def test_the_same_measurement_imported_twice_is_one_row(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    other = one(median_us=11.0)
    write_file(path, [one(), other, one()])
    store = Store.open(tmp_path / "store.sqlite3")
    store.add(one())
    assert store.add_unknown(read_file(path)) == 1
    assert store.add_unknown(read_file(path)) == 0
    assert store.everything() == (one(), other)


@SUFFIXES
def test_dates_of_any_zone_are_written_as_utc(tmp_path: Path, suffix: str) -> None:
    there = datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))).isoformat()
    write_file(tmp_path / f"out{suffix}", [one(measured_at=there)])
    assert read_file(tmp_path / f"out{suffix}") == (one(),)


@SUFFIXES
def test_a_file_of_before_a_column_was_added_is_read_with_its_default(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    write_file(path, [one(checked="guard pages", wall_us=12.0)])
    without_columns(path, {"checked", "wall_us"})
    assert read_file(path) == (one(),)


@SUFFIXES
def test_columns_of_somebody_else_are_left_alone(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    write_file(path, [one()])
    with_cells(path, {"my_comment": "the good one"})
    assert read_file(path) == (one(),)


@pytest.mark.parametrize(
    ("column", "cell", "said"),
    [
        ("median_us", "fast", "row 1: `median_us` is 'fast', instead of a number"),
        ("median_us", "nan", "row 1: `median_us` is nan, instead of a number"),
        ("median_us", "", "row 1: `median_us` is empty, instead of a number"),
        ("repeats", "3.5", "row 1: `repeats` is '3.5', instead of a whole number"),
        ("settled", "perhaps", "row 1: `settled` is 'perhaps', instead of true or false"),
        ("measured_at", "yesterday", "row 1: `measured_at` is 'yesterday', instead of a date and time"),
        ("measured_at", "2026-01-01T00:00:00", "row 1: `measured_at` cannot be understood"),
        ("settled", "1", "row 1: `settled` is '1', instead of true or false"),
        ("local_size", "8xmany", "row 1: `local_size` cannot be understood: '8xmany'"),
        ("notes", "{}", "row 1: `notes` cannot be understood"),
        ("launch_json", '{"global_size": "all"}', "row 1: `launch_json` cannot be understood"),
        ("schema_version", "9", "row 1: a newer Kernelcast wrote it"),
    ],
)
def test_a_cell_that_was_spoilt_is_named_with_its_row(tmp_path: Path, column: str, cell: str, said: str) -> None:
    path = tmp_path / "out.csv"
    write_file(path, [one()])
    with_cells(path, {column: cell})
    with pytest.raises(ExchangeError) as refused:
        read_file(path)
    assert refused.value.message.startswith(f"{path}: {said}")
    assert refused.value.line == 1


@SUFFIXES
@pytest.mark.parametrize("content", [b"", b"PAR1", b"\x00\xff\xfe" * 400, b"a,b,c\n1,2,3\n", b'"'])
def test_files_that_are_no_exports_are_refused(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"foreign{suffix}"
    path.write_bytes(content)
    with pytest.raises(ExchangeError, match=r"it lacks the columns schema_version, file|damaged|cannot be read"):
        read_file(path)


@SUFFIXES
def test_a_file_that_was_cut_off_is_never_taken_for_whole(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    write_file(path, [one(), one(median_us=11.0)])
    whole = path.read_bytes()
    for length in range(0, len(whole) - 2, 97):  # a line's end is all that CSV may lack
        path.write_bytes(whole[:length])
        try:
            found = read_file(path)
        except ExchangeError:
            continue
        assert suffix == ".csv"
        assert found in ((), (one(),))  # it was cut between two rows, which a CSV does not show


def test_a_table_with_other_types_is_refused_by_its_column(tmp_path: Path) -> None:
    write_file(tmp_path / "out.parquet", [one()])
    with_cells(tmp_path / "out.parquet", {"repeats": "many"})
    with pytest.raises(ExchangeError, match="row 1: `repeats` is 'many', instead of a whole number"):
        read_file(tmp_path / "out.parquet")


def test_a_name_says_how_a_file_is_written(tmp_path: Path) -> None:
    for call in (lambda: write_file(tmp_path / "out.xlsx", []), lambda: read_file(tmp_path / "out.xlsx")):
        with pytest.raises(ExchangeError, match=r"must end in \.csv or \.parquet"):
            call()


def test_an_export_that_fails_leaves_the_older_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    write_file(path, [one()])
    with pytest.raises(ExchangeError, match="the date 'long ago'"):
        write_file(path, [one(median_us=1.0), one(measured_at="long ago")])
    assert read_file(path) == (one(),)
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(ExchangeError, match="cannot be written"):
        write_file(tmp_path / "no such folder" / "out.csv", [])


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "profiler.store.as_parquet", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExchangeError, match=r"kernelcast\[parquet\]"):
        write_file(tmp_path / "out.parquet", [])


def test_every_column_of_parquet_has_a_type_and_a_unit_where_it_needs_one(tmp_path: Path) -> None:
    write_file(tmp_path / "out.parquet", [one()])
    schema = pq.read_schema(tmp_path / "out.parquet")
    assert pa.null() not in schema.types
    assert schema.field("measured_at").type == pa.timestamp("us", tz="UTC")
    assert {field.name for field in fields(Measurement)} - {"ci95_us"} <= set(schema.names)
    assert {"ci95_low_us", "ci95_high_us", "predicted_us", "schema_version"} <= set(schema.names)


def without_columns(path: Path, dropped: set[str]) -> None:
    _rewrite(path, lambda row: {name: cell for name, cell in row.items() if name not in dropped})


def with_cells(path: Path, cells: dict[str, str]) -> None:
    _rewrite(path, lambda row: {**row, **cells})


def _rewrite(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """As another program would."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist([change(row) for row in pq.read_table(path).to_pylist()]), path)
        return
    with path.open(newline="", encoding="utf-8") as file:
        rows = [change(row) for row in csv.DictReader(file)]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
