"""Rows of measurements as Parquet, by Apache Arrow; the only file that imports it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from profiler.installing import install_command
from profiler.store.columns import SCHEMA_VERSION, ExchangeError, Kind, Row, check_columns, columns

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    raise ExchangeError(
        f"Parquet needs the package pyarrow: {install_command('parquet')}, or use a name that ends in .csv"
    ) from None

_TYPES = {
    Kind.TEXT: pa.string(),
    Kind.WHOLE: pa.int64(),
    Kind.NUMBER: pa.float64(),
    Kind.FLAG: pa.bool_(),
    Kind.MOMENT: pa.timestamp("us", tz="UTC"),
}


def write_parquet(path: Path, rows: Sequence[Row]) -> None:
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows], schema=_schema()), path, compression="zstd")


def read_parquet(path: Path) -> Iterator[Row]:
    """Yield one row after the other. Raises `ExchangeError` where the file is not what `write_parquet` wrote."""
    known = {column.name for column in columns()}
    try:
        with pq.ParquetFile(path) as file:
            check_columns(file.schema_arrow.names)
            here = [name for name in file.schema_arrow.names if name in known]
            for batch in file.iter_batches(columns=here):
                yield from batch.to_pylist()
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise ExchangeError(f"it is damaged, or not Parquet ({str(error).splitlines()[0]:.200})") from None


def _schema() -> pa.Schema:
    fields = [pa.field(column.name, _TYPES[column.kind], nullable=column.is_optional) for column in columns()]
    return pa.schema(fields, metadata={"kernelcast_schema_version": str(SCHEMA_VERSION)})
