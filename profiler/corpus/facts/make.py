"""Makes the facts of a dataset anew: sources from seeds and from packages, every launch counted, the laws applied."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from model.device import Device
from model.launch.launch import Launch
from model.opencl.options import BuildOptions
from profiler.corpus.dataset.reading import launches_of, options_from, read_dataset
from profiler.corpus.facts.counting import Counted, Source, counted
from profiler.corpus.facts.devices import read_devices
from profiler.corpus.facts.pool import shared_out
from profiler.corpus.facts.sources import SOURCE_COLUMNS, Seed, place_of, text_at
from profiler.corpus.facts.table import write_facts
from profiler.corpus.kernel import GENERATOR
from profiler.corpus.origins.origin import read_origins
from profiler.corpus.origins.restore import Wanted, restore, restored_sources


@dataclass(frozen=True, slots=True)
class Made:
    """`lost` are kernels whose source is not to be had as it was, `failed` those that the analysis gave up."""

    launches: int
    kernels: int
    lost: int
    failed: int


def make_facts(data: Path, folder: Path, *, mirrors: Path | None, processes: int, say: Callable[[str], None]) -> Made:
    """Writes the facts of the dataset in `data` beside it; sources are kept in `folder`. Raises DatasetError."""
    dataset, devices = read_dataset(data), read_devices(data)
    kernels = dataset.kernels.select(SOURCE_COLUMNS).to_pylist()
    wanted: dict[str, list[Wanted]] = defaultdict(list)
    for each in kernels:
        if each["origin"] != GENERATOR:
            options = options_from(each["options"])
            wanted[each["origin"]].append(
                Wanted(each["id"], each["reference"], each["name"], options, each["source_sha256"])
            )
    restore(folder, read_origins(), wanted, mirrors=mirrors, processes=processes, on_progress=say)
    known = restored_sources(folder)
    launches: dict[str, list[tuple[str, Launch]]] = defaultdict(list)
    for kernel, key, launch in launches_of(dataset):
        launches[kernel].append((key, launch))
    jobs = [
        _Job(each["id"], each["name"], options_from(each["options"]), tuple(launches[each["id"]]), place)
        for each in kernels
        if (place := place_of(each, known)) is not None
    ]
    found = list(shared_out(partial(_count, devices=devices), jobs, processes, say, "counted"))
    good = [each for each in found if each is not None and each.launches]
    failed = sum(each is not None and bool(each.failure) for each in found)
    return Made(write_facts(data, good), len(good), len(kernels) - sum(each is not None for each in found), failed)


@dataclass(frozen=True, slots=True)
class _Job:
    id: str
    name: str
    options: BuildOptions
    launches: tuple[tuple[str, Launch], ...]
    source: str | Seed


def _count(job: _Job, devices: dict[str, Device]) -> Counted | None:
    """None where the generator of this version writes another source."""
    text = text_at(job.source)
    return None if text is None else counted(Source(job.id, job.name, text, job.options, job.launches), devices)
