"""The dataset as arrays of numbers, one place a launch or a row, for all that is counted and drawn."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from profiler.corpus.dataset.columns import DatasetError
from profiler.corpus.dataset.reading import Dataset
from profiler.corpus.dataset.signatures import Signatures, as_matrix

Numbers = npt.NDArray[Any]
_LAUNCH_COLUMNS = ["kernel_id", "key", "data", "global_size", "scalar_values", "buffer_lengths", "image_sizes"]


@dataclass(frozen=True, slots=True)
class Names:
    """Words and, for each kernel, which of them is its own."""

    words: tuple[str, ...]
    of_kernel: Numbers

    def counts(self, kernels: Numbers | None = None) -> dict[str, int]:
        """Return how many of these kernels (a number for each), or of all, have each word."""
        own = self.of_kernel if kernels is None else self.of_kernel[kernels]
        return dict(zip(self.words, np.bincount(own, minlength=len(self.words)).tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Launches:
    """`data` is what the generator noted, or else how many elements all buffers and images have."""

    kernel: Numbers  # its place among the kernels
    items: Numbers  # work-items
    data: Numbers  # elements worked on
    longest_buffer: Numbers  # elements; NaN: no buffer
    largest_scalar: Numbers  # of the whole numbers; NaN: none


@dataclass(frozen=True, slots=True)
class Rows:
    kernel: Numbers
    launch: Numbers  # its place among the launches
    device: Numbers  # its place in `Frame.devices`
    repeat: Numbers
    runtime_us: Numbers  # at the device's usual pace
    median_us: Numbers  # as it was
    is_disturbed: Numbers


@dataclass(frozen=True, slots=True)
class Frame:
    ids: tuple[str, ...]
    origins: Names
    families: Names
    groups: Names
    signatures: Signatures
    launches: Launches
    devices: tuple[str, ...]
    drivers: tuple[str, ...]  # of the devices
    rows: Rows


def frame_of(dataset: Dataset) -> Frame:
    """Return the dataset's rows as arrays.

    Raises DatasetError where tables refer to what is not there, or where a key occurs twice.
    """
    ids = tuple(dataset.kernels["id"].to_pylist())
    places = {kernel_id: place for place, kernel_id in enumerate(ids)}
    if len(places) < len(ids):
        raise DatasetError("a kernel stands twice in kernels.parquet; export the dataset again")
    launches, keys = _launches(dataset, places)
    words = dataset.rows["device"].to_pylist()
    devices = tuple(sorted(set(words)))
    drivers = dict(zip(words, dataset.rows["driver"].to_pylist(), strict=True))
    return Frame(
        ids,
        _names(dataset, "origin"),
        _names(dataset, "family"),
        _names(dataset, "group"),
        as_matrix(dataset.kernels["signature"].to_pylist()),
        launches,
        devices,
        tuple(drivers[device] for device in devices),
        _rows(dataset, keys, launches, {device: number for number, device in enumerate(devices)}),
    )


def _names(dataset: Dataset, column: str) -> Names:
    own = dataset.kernels[column].to_pylist()
    words = tuple(sorted(set(own)))
    places = {word: place for place, word in enumerate(words)}
    return Names(words, np.array([places[word] for word in own], np.int64))


def _launches(dataset: Dataset, places: dict[str, int]) -> tuple[Launches, dict[tuple[str, str], int]]:
    keys: dict[tuple[str, str], int] = {}
    found = []
    for cells in dataset.launches.select(_LAUNCH_COLUMNS).to_pylist():
        kernel_id = cells["kernel_id"]
        if kernel_id not in places:
            raise DatasetError(f"launches.parquet speaks of the kernel {kernel_id}, which is not there; export again")
        keys[kernel_id, cells["key"]] = len(keys)
        whole = [abs(int(text)) for text in cells["scalar_values"] if text.lstrip("-").isdigit()]
        elements = sum(cells["buffer_lengths"]) + sum(map(prod, zip(*[iter(cells["image_sizes"])] * 3, strict=True)))
        longest, largest = max(cells["buffer_lengths"], default=np.nan), max(whole, default=np.nan)
        found.append((places[kernel_id], prod(cells["global_size"]), cells["data"] or elements, longest, largest))
    if len(keys) < len(found):
        raise DatasetError("a launch stands twice in launches.parquet; export the dataset again")
    columns = [np.array(column, float) for column in zip(*found, strict=True)] or [np.zeros(0)] * 5
    return Launches(columns[0].astype(int), *columns[1:]), keys


def _rows(dataset: Dataset, keys: dict[tuple[str, str], int], launches: Launches, devices: dict[str, int]) -> Rows:
    table = dataset.rows
    names = zip(table["kernel_id"].to_pylist(), table["launch_key"].to_pylist(), strict=True)
    try:
        launch = np.array([keys[name] for name in names], np.int64)
    except KeyError as error:
        raise DatasetError(f"rows.parquet speaks of the launch {error}, which is not there; export again") from None
    device = np.array([devices[word] for word in table["device"].to_pylist()], np.int64)
    repeat = table["repeat"].to_numpy().astype(np.int64)
    if len(np.unique(np.stack([device, launch, repeat]), axis=1).T) < len(launch):
        raise DatasetError("a row stands twice in rows.parquet; export the dataset again")
    runtime_us, median_us = (table[name].to_numpy().astype(float) for name in ("runtime_us", "median_us"))
    is_disturbed = np.array(table["is_disturbed"].to_pylist(), bool)
    return Rows(launches.kernel[launch], launch, device, repeat, runtime_us, median_us, is_disturbed)
