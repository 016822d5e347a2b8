"""How much longer a dataset's rows took than the same launches take now, where the devices' profiles were calibrated.

Rows are measured on what machines there are, for days, beside whatever else those do; profiles are calibrated in two
minutes. The analytical model speaks of the profile's machine, so a model of the rows needs to know what lies between
the two.
"""

from __future__ import annotations

import math
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from model.device import Device
from model.opencl.program import read_program
from profiler.corpus.collection.devices import corpus_device, processor_slots
from profiler.corpus.dataset.reading import launches_of, options_from, read_dataset
from profiler.corpus.facts.devices import Pace
from profiler.corpus.facts.sources import SOURCE_COLUMNS, Seed, text_at
from profiler.corpus.kernel import GENERATOR
from profiler.device_worker.processors import allowed_processors
from profiler.measure import measure
from profiler.measurement import MeasureError, MeasureRequest

_SHORTEST_US = 50.0  # of shorter launches, much is the runtime's own work, which other guests delay less
_BUDGET_S = 0.3  # for each launch
FEWEST = 10  # launches, below which their median says nothing


@dataclass(frozen=True, slots=True)
class _Row:
    """A launch of the dataset, to be measured again."""

    request: MeasureRequest
    runtime_us: float  # as the dataset has it


def measure_pace(
    folder: Path, name: str, profile: Device, budget_s: float, say: Callable[[str], None], seed: int = 0
) -> Pace | None:
    """Of the device `name` of the dataset in `folder`; blocks for `budget_s`. None where too few could be measured.

    Launches are drawn anew for each seed. Raises DatasetError.
    """
    log2_times: list[float] = []
    deadline = time.monotonic() + budget_s
    with _processors_of(name):
        for row in _rows(folder, name, profile, seed):
            if time.monotonic() > deadline:
                break
            try:
                taken_us = measure(row.request).median_us
            except MeasureError as error:
                say(f"{name}: a launch of `{row.request.kernel.name}` was left out: {error}")
                continue
            log2_times.append(math.log2(row.runtime_us / taken_us))
    if len(log2_times) < FEWEST:
        return None
    low, middle, high = (float(2**each) for each in np.quantile(log2_times, (0.25, 0.5, 0.75)))
    return Pace(len(log2_times), middle, (low, high))


def _rows(folder: Path, name: str, profile: Device, seed: int) -> Iterator[_Row]:
    """Yield undisturbed rows of generated kernels, which can be generated again, in an order by `seed`."""
    dataset = read_dataset(folder)
    kernels: dict[str, Mapping[str, Any]] = {
        row["id"]: row for row in dataset.kernels.select(list(SOURCE_COLUMNS)).to_pylist() if row["origin"] == GENERATOR
    }
    launches = {(kernel, key): launch for kernel, key, launch in launches_of(dataset) if kernel in kernels}
    columns = ["device", "kernel_id", "launch_key", "runtime_us", "is_disturbed", "repeat"]
    rows = [
        row
        for row in dataset.rows.select(columns).to_pylist()
        if row["device"] == name and row["kernel_id"] in kernels
        and not (row["is_disturbed"] or row["repeat"]) and row["runtime_us"] > _SHORTEST_US
    ]  # fmt: skip
    random.Random(seed).shuffle(rows)
    for row in rows:
        kernel = kernels[row["kernel_id"]]
        text = text_at(Seed(kernel["family"], int(kernel["reference"].rpartition("/")[2]), kernel["source_sha256"]))
        if text is None:
            continue
        program = read_program(text, None, options_from(kernel["options"]))
        launch = launches[row["kernel_id"], row["launch_key"]]
        request = MeasureRequest(text, None, program.kernel(kernel["name"]), launch, profile.id, _BUDGET_S)
        yield _Row(request, row["runtime_us"])


@contextmanager
def _processors_of(name: str) -> Iterator[None]:
    """Allow what is started in the block only as many processors as the device `name` has (`pocl-1core`: one)."""
    processors = corpus_device(name, None).processors
    before = allowed_processors()
    if processors is None or not before:
        yield
        return
    (slot,) = processor_slots(processors, 1)
    os.sched_setaffinity(0, slot)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
