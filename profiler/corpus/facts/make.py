"""Make the facts of a dataset: sources from seeds and from packages, every launch counted and priced."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from model.device import Device
from model.launch.launch import Launch
from model.opencl.options import BuildOptions
from profiler.corpus.dataset.columns import DatasetError
from profiler.corpus.dataset.reading import Dataset, launches_of, options_from, read_dataset
from profiler.corpus.facts.counting import Counted, Source, counted
from profiler.corpus.facts.devices import FILE_NAME, read_devices
from profiler.corpus.facts.pool import parallel_map
from profiler.corpus.facts.sources import SOURCE_COLUMNS, Seed, find_sources, place_of, text_at
from profiler.corpus.facts.table import Facts, read_facts, write_facts


@dataclass(frozen=True, slots=True)
class Made:
    """`lost` are kernels whose source is not to be had as it was, `failed` those that the analysis gave up."""

    launches: int
    kernels: int
    lost: int
    failed: int


def make_facts(
    data: Path,
    folder: Path,
    *,
    mirrors: Path | None,
    processes: int,
    say: Callable[[str], None],
    missing: bool = False,
) -> Made:
    """Write the facts of the dataset in `data` beside it; sources are kept in `folder`. Raises DatasetError.

    Where `missing`, facts that are there stay, and launches are counted for devices that have rows of them alone.
    """
    dataset, devices = read_dataset(data), read_devices(data)
    lacking = _lacking(dataset, read_facts(data), devices) if missing else None
    kernels = [
        each for each in dataset.kernels.select(SOURCE_COLUMNS).to_pylist() if lacking is None or each["id"] in lacking
    ]
    known = find_sources(kernels, folder, mirrors=mirrors, processes=processes, say=say)
    launches: dict[str, list[tuple[str, Launch]]] = defaultdict(list)
    for kernel, key, launch in launches_of(dataset):
        if lacking is None or key in lacking.get(kernel, ()):
            launches[kernel].append((key, launch))
    jobs = [
        _Job(
            each["id"],
            each["name"],
            options_from(each["options"]),
            tuple(launches[each["id"]]),
            place,
            None if lacking is None else lacking[each["id"]],
        )
        for each in kernels
        if (place := place_of(each, known)) is not None
    ]
    found = list(parallel_map(partial(_count, devices=devices), jobs, processes, say, "counted"))
    good = [each for each in found if each is not None and each.launches]
    failed = sum(each is not None and bool(each.failure) for each in found)
    return Made(
        write_facts(data, good, adds=missing), len(good), len(kernels) - sum(each is not None for each in found), failed
    )


@dataclass(frozen=True, slots=True)
class _Job:
    id: str
    name: str
    options: BuildOptions
    launches: tuple[tuple[str, Launch], ...]
    source: str | Seed
    wanted: Mapping[str, frozenset[str]] | None  # devices by launch key; None: all devices for all launches


def _lacking(dataset: Dataset, facts: Facts, devices: Collection[str]) -> dict[str, dict[str, frozenset[str]]]:
    """Name the devices that have rows and no facts, by kernel and launch key. Raises DatasetError."""
    found: dict[str, dict[str, frozenset[str]]] = defaultdict(dict)
    for row in dataset.rows.select(["device", "kernel_id", "launch_key"]).to_pylist():
        device, kernel, key = row["device"], row["kernel_id"], row["launch_key"]
        if device not in devices:
            raise DatasetError(f"rows were measured on `{device}`, of which {FILE_NAME} has no profile")
        if (device, kernel, key) not in facts.analytic:
            found[kernel][key] = found[kernel].get(key, frozenset()) | {device}
    return found


def _count(job: _Job, devices: dict[str, Device]) -> Counted | None:
    """None where the generator of this version writes another source."""
    text = text_at(job.source)
    if text is None:
        return None
    return counted(Source(job.id, job.name, text, job.options, job.launches), devices, job.wanted)
