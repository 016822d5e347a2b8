"""What the dataset promises, held against what it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from profiler.corpus.dataset.columns import SPLITS, DatasetError
from profiler.corpus.dataset.reading import read_splits
from profiler.corpus.dataset.splits import Placed, Split, near_between, read_split_kernels
from profiler.corpus.dataset.statistics import DECADES, Statistics, median_amount
from profiler.corpus.kernel import GENERATOR

KERNELS, ROWS, DEVICES = 12_000, 120_000, 4
REAL_KERNELS, REAL_ROWS, REAL_ORIGINS = 2_500, 25_000, 15
FAMILIES = 80
REPEATED_PERCENT = 1.5  # of each device's rows; 2 are wanted, and some fail
VARIED_PERCENT = 20.0
DEPENDENCE = 0.5  # rank correlation within the median family
DECADE_PERCENT = 8.0  # of the rows, for each decade between 10 us and 100 ms
MEGABYTES = 40.0
TEST_ORIGINS = 6


@dataclass(frozen=True, slots=True)
class Promise:
    name: str
    wanted: str
    found: str
    is_kept: bool


def promises(statistics: Statistics, folder: Path) -> tuple[Promise, ...]:
    """All, kept or not. Raises DatasetError for files that cannot be read."""
    return (*_sizes(statistics), *_spread(statistics), *_files(folder), *_splits(folder))


def _sizes(s: Statistics) -> Iterator[Promise]:
    yield _least("distinct kernels", KERNELS, s.kernels)
    yield _least("rows", ROWS, s.rows)
    yield _least("devices", DEVICES, len(s.devices))
    yield _least("families of the generator", FAMILIES, len(s.families))
    yield _least("distinct real kernels", REAL_KERNELS, s.real_kernels)
    yield _least("rows of real kernels", REAL_ROWS, s.real_rows)
    yield _least("origins of real kernels", REAL_ORIGINS, sum(each.name != GENERATOR for each in s.origins))


def _spread(s: Statistics) -> Iterator[Promise]:
    yield _least_percent("kernels with several data sizes at one global size", VARIED_PERCENT, s.varied_data_percent)
    yield _least_percent("kernels with several global sizes at one data size", VARIED_PERCENT, s.varied_global_percent)
    for each in s.independence:
        if each.name != "runtime" and (amount := median_amount(each.by_family)) is not None:
            name = f"rank correlation of global size and {each.name}, median family"
            yield Promise(name, f"at most {DEPENDENCE:g}", f"{amount:.2f}", amount <= DEPENDENCE)
    total = sum(sum(device.decades) for device in s.devices)
    for place, exponent in enumerate(DECADES):
        if 1 <= exponent <= 4:
            share = 100 * sum(device.decades[place] for device in s.devices) / max(1, total)
            yield _least_percent(f"rows from {_time(exponent)} to {_time(exponent + 1)}", DECADE_PERCENT, share)
    for device in s.devices:
        share = 100 * device.repeated / max(1, device.rows)
        yield _least_percent(f"rows on {device.id} measured twice, for the noise", REPEATED_PERCENT, share)


def _files(folder: Path) -> Iterator[Promise]:
    megabytes = sum(file.stat().st_size for file in folder.glob("*.parquet")) / 1e6
    yield Promise("size of the files", f"below {MEGABYTES:g} MB", f"{megabytes:.1f} MB", megabytes < MEGABYTES)


def _splits(folder: Path) -> Iterator[Promise]:
    kernels = read_split_kernels(folder)
    if not (folder / SPLITS.file_name).is_file():
        yield Promise("splits", "there", "none: see `kernelcast dataset split`", is_kept=False)
        return
    splits = read_splits(folder)
    lacking = sum(kernel.id not in splits for kernel in kernels)
    if lacking:
        yield Promise("kernels in no split", "0", str(lacking), is_kept=False)
        return
    try:
        placed = {kernel.id: Placed(Split(splits[kernel.id])) for kernel in kernels}
    except ValueError as error:
        raise DatasetError(f"{folder / SPLITS.file_name}: {error}; split the dataset again") from None
    sides: dict[str, set[Split]] = {}
    for kernel in kernels:
        if placed[kernel.id].split is not Split.LEFT_OUT:
            sides.setdefault(kernel.family, set()).add(placed[kernel.id].split)
    yield _none("families in two splits", sum(len(found) > 1 for found in sides.values()))
    yield _none("kernels almost like one in another split", len(near_between(kernels, placed)))
    tested = {kernel.origin for kernel in kernels if placed[kernel.id].split is Split.TEST_ORIGINS}
    yield _least("origins that are tested only", TEST_ORIGINS, len(tested))


def _least(name: str, wanted: int, found: int) -> Promise:
    return Promise(name, f"at least {wanted:,}", f"{found:,}", found >= wanted)


def _least_percent(name: str, wanted: float, found: float) -> Promise:
    return Promise(name, f"at least {wanted:g} %", f"{found:.1f} %", found >= wanted)


def _none(name: str, found: int) -> Promise:
    return Promise(name, "none", str(found) if found else "none", not found)


def _time(exponent: int) -> str:
    """10 to the power of `exponent` microseconds."""
    value, unit = (exponent, "us") if exponent < 3 else (exponent - 3, "ms") if exponent < 6 else (exponent - 6, "s")
    return f"{10**value:g} {unit}"
