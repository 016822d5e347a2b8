"""The tables as Apache Arrow's: how each kind of cell is stored, and Parquet files written and read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from profiler.corpus.dataset.columns import SCHEMA_VERSION, DatasetError, Kind, TableColumns
from profiler.installing import install_command

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
except ImportError:
    raise DatasetError(f"a dataset is Parquet, which needs the package pyarrow: {install_command('parquet')}") from None

METADATA_KEY = b"kernelcast"
_WORD = pa.dictionary(pa.int32(), pa.string())
_TYPES = {
    Kind.TEXT: pa.string(),
    Kind.WORD: _WORD,
    Kind.TEXTS: pa.list_(pa.string()),
    Kind.WORDS: pa.list_(_WORD),
    Kind.FLAG: pa.bool_(),
    Kind.SMALL: pa.uint8(),
    Kind.COUNT: pa.int64(),
    Kind.COUNTS: pa.list_(pa.int64()),
    Kind.NUMBER: pa.float32(),
    Kind.NUMBERS: pa.list_(pa.float32()),
    Kind.MOMENT: pa.timestamp("s", tz="UTC"),
    Kind.BYTES: pa.binary(),
}
_LEVEL = 19  # of zstd: written once, read often
_GROUP = 1 << 20  # rows that share one dictionary


def schema_of(table: TableColumns) -> pa.Schema:
    return pa.schema(
        [
            pa.field(each.name, _TYPES[each.kind], nullable=each.is_optional, metadata={"meaning": each.meaning})
            for each in table.columns
        ]
    )


def write_table(
    folder: Path, table: TableColumns, cells: Iterable[Mapping[str, object]], metadata: Mapping[str, object]
) -> None:
    """Sorted by the table's key, whole or not at all. Raises DatasetError."""
    path = folder / table.file_name
    content = pa.Table.from_pylist(sorted(cells, key=lambda row: [row[name] for name in table.key]), schema_of(table))
    noted = {METADATA_KEY: json.dumps({"schema_version": SCHEMA_VERSION, **metadata}, sort_keys=True)}
    content = content.replace_schema_metadata(noted)
    # Numbers that mostly differ are smaller by their bytes, others by a dictionary.
    of_numbers = [each.name for each in table.columns if each.kind is Kind.NUMBER]
    numbers = [name for name in of_numbers if 2 * pc.count_distinct(content[name]).as_py() > len(content)]
    unfinished = path.with_suffix(".unfinished")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(
            content,
            unfinished,
            compression="zstd",
            compression_level=_LEVEL,
            row_group_size=_GROUP,
            # A name reaches no column of lists; all are reached only where no column is left out.
            use_dictionary=[name for name in content.schema.names if name not in numbers] if numbers else True,
            use_byte_stream_split=numbers,
            write_statistics=False,
            store_schema=True,
        )
        unfinished.replace(path)
    except OSError as error:
        raise DatasetError(f"{path} cannot be written: {error.strerror or error}") from error


def read_table(folder: Path, table: TableColumns) -> pa.Table:
    """Read a table. Raises DatasetError where there is none, or something else."""
    path = folder / table.file_name
    try:
        content = pq.read_table(path)
    except FileNotFoundError:
        raise DatasetError(f"{path} is missing: {folder} holds no dataset, or only a part of one") from None
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{path} is damaged, or no Parquet ({str(error).splitlines()[0]:.200})") from None
    version = metadata_of(content).get("schema_version")
    if version != SCHEMA_VERSION:
        raise DatasetError(f"{path} has version {version} of the columns; this Kernelcast reads {SCHEMA_VERSION}")
    for each in table.columns:
        if each.name not in content.schema.names:
            if not each.is_optional:
                raise DatasetError(f"{path} lacks the column `{each.name}`; export the dataset again")
            content = content.append_column(each.name, pa.nulls(len(content), _TYPES[each.kind]))
    return content


def metadata_of(content: pa.Table) -> dict[str, Any]:
    """Return what was noted of the whole; empty for a file that is not ours."""
    try:
        noted = json.loads((content.schema.metadata or {}).get(METADATA_KEY, b"{}"))
    except ValueError:
        return {}
    return noted if isinstance(noted, dict) else {}
