"""Makes the facts of a dataset anew: sources from seeds and from packages, every launch counted, the laws applied."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from model.device import Device
from model.launch.launch import Launch
from model.opencl.options import BuildOptions
from profiler.corpus.dataset.reading import launches_of, options_from, read_dataset
from profiler.corpus.facts.counting import Counted, Source, counted
from profiler.corpus.facts.devices import read_devices
from profiler.corpus.facts.table import write_facts
from profiler.corpus.family import FAMILIES
from profiler.corpus.generate import corpus_kernel
from profiler.corpus.kernel import GENERATOR
from profiler.corpus.origins.origin import read_origins
from profiler.corpus.origins.restore import Wanted, restore, restored_sources

_AT_A_TIME = 8
_EVERY = 500  # kernels between words of progress
_OF_THE_DATASET = ("id", "origin", "family", "reference", "name", "options", "source_sha256")


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
    kernels = dataset.kernels.select(_OF_THE_DATASET).to_pylist()
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
        _Job(each["id"], each["name"], options_from(each["options"]), tuple(launches[each["id"]]), _place(each, known))
        for each in kernels
        if each["origin"] == GENERATOR or each["id"] in known
    ]
    found = list(_counted(jobs, devices, processes, say))
    good = [each for each in found if each is not None and each.launches]
    failed = sum(each is not None and bool(each.failure) for each in found)
    return Made(write_facts(data, good), len(good), len(kernels) - sum(each is not None for each in found), failed)


@dataclass(frozen=True, slots=True)
class _Seed:
    family: str
    number: int
    sha256: str


@dataclass(frozen=True, slots=True)
class _Job:
    id: str
    name: str
    options: BuildOptions
    launches: tuple[tuple[str, Launch], ...]
    source: str | _Seed


def _place(kernel: dict[str, Any], known: dict[str, str]) -> str | _Seed:
    if kernel["origin"] != GENERATOR:
        return known[kernel["id"]]
    return _Seed(kernel["family"], int(kernel["reference"].rpartition("/")[2]), kernel["source_sha256"])


def _counted(
    jobs: list[_Job], devices: dict[str, Device], processes: int, say: Callable[[str], None]
) -> Iterator[Counted | None]:
    # Forked processes could hold locks of threads that they do not have. Each is replaced now and then: what analyses
    # of thousands of kernels keep adds up.
    with get_context("spawn").Pool(processes, maxtasksperchild=50) as pool:
        work = partial(_count, devices=devices)
        for number, each in enumerate(pool.imap_unordered(work, jobs, chunksize=_AT_A_TIME), 1):
            yield each
            if number % _EVERY == 0:
                say(f"{number} of {len(jobs)} kernels are counted")


def _count(job: _Job, devices: dict[str, Device]) -> Counted | None:
    """None where the generator of this version writes another source."""
    text = job.source
    if isinstance(text, _Seed):
        made = corpus_kernel(FAMILIES[text.family], text.number).source
        if hashlib.sha256(made.encode()).hexdigest() != text.sha256:
            return None
        text = made
    return counted(Source(job.id, job.name, text, job.options, job.launches), devices)
