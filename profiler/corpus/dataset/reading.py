"""The dataset read back: tables of Apache Arrow, and launches as the rest of the program knows them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from model.launch.launch import Launch
from model.opencl.options import BuildOptions
from profiler.corpus.dataset.arrow import metadata_of, read_table
from profiler.corpus.dataset.cells import launch_from_cells
from profiler.corpus.dataset.columns import COMPILED, KERNELS, LAUNCHES, ROWS, SPLITS


@dataclass(frozen=True, slots=True)
class Dataset:
    """The four tables, see `columns.py`. `metadata`: versions, the commit, and the devices' profiles by their ids."""

    folder: Path
    kernels: pa.Table
    launches: pa.Table
    rows: pa.Table
    compiled: pa.Table
    metadata: dict[str, Any]


def read_dataset(folder: Path) -> Dataset:
    """Read a dataset. Raises DatasetError."""
    kernels, launches, rows, compiled = (read_table(folder, each) for each in (KERNELS, LAUNCHES, ROWS, COMPILED))
    return Dataset(folder, kernels, launches, rows, compiled, metadata_of(rows))


def read_splits(folder: Path) -> dict[str, str]:
    """Return the split of each kernel, by its id. Raises DatasetError."""
    table = read_table(folder, SPLITS)
    return dict(zip(table["kernel_id"].to_pylist(), table["split"].to_pylist(), strict=True))


def launches_of(dataset: Dataset) -> Iterator[tuple[str, str, Launch]]:
    """(kernel id, launch key, launch) of all, with their kernels' options."""
    named = zip(dataset.kernels["id"].to_pylist(), dataset.kernels["options"].to_pylist(), strict=True)
    options = {kernel_id: options_from(arguments) for kernel_id, arguments in named}
    for batch in dataset.launches.to_batches(4096):
        for cells in batch.to_pylist():
            yield cells["kernel_id"], cells["key"], launch_from_cells(cells, options[cells["kernel_id"]])


def options_from(arguments: list[str]) -> BuildOptions:
    """Return the inverse of `BuildOptions.arguments`, without include folders."""
    defines = [argument.removeprefix("-D").partition("=")[::2] for argument in arguments if argument.startswith("-D")]
    return BuildOptions(tuple(defines), (), tuple(a for a in arguments if not a.startswith("-D")))
