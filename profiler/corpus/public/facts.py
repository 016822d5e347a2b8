"""The rows in numbers: what the analysis, the laws and the device profiles say of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from model.device import Device
from model.known_devices import find_builtin_by_name
from model.laws import launch_times
from model.learned.device_facts import DEVICE_FACT_NAMES, device_facts
from model.learned.gpu_facts import GPU_FACT_NAMES, gpu_facts
from model.learned.launch_facts import LAUNCH_FACT_NAMES, launch_facts
from model.learned.law_facts import LAW_FACT_NAMES, law_facts
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from model.training.public_rows import Measured
from model.work.analyse import analyse
from model.work.counts import WorkCounts
from model.work.work import Work
from profiler.corpus.public.row import PublicRow
from profiler.corpus.public.table import program_of

FACT_NAMES = (
    *(f"launch.{name}" for name in LAUNCH_FACT_NAMES),
    *(f"law.{name}" for name in LAW_FACT_NAMES),
    *(f"gpu.{name}" for name in GPU_FACT_NAMES),
    *(f"device.{name}" for name in DEVICE_FACT_NAMES),
)


@dataclass(frozen=True, slots=True)
class _Counted:
    counts: WorkCounts
    facts: tuple[float, ...]


def measured(rows: Sequence[PublicRow], on_progress: Callable[[int], None] = lambda done: None) -> Measured:
    """Facts of rows whose device has a profile; the others are left out. Takes minutes for thousands of programs."""
    own = [(row, device) for row in rows if (device := find_builtin_by_name(row.device)) is not None]
    own.sort(key=lambda pair: (pair[0].family, pair[0].settings, pair[0].choices))
    facts: list[tuple[float, ...]] = []
    least: list[float] = []
    for done, (row, device) in enumerate(own):
        found, least_us = _facts(row, device)
        facts.append(found)
        least.append(least_us)
        on_progress(done + 1)
    return Measured(
        facts=np.array(facts, np.float32),
        fact_names=FACT_NAMES,
        runtime_us=_column([row.runtime_us for row, _ in own]),
        least_us=_column(least),
        noise_percent=_column([np.nan if row.noise_percent is None else row.noise_percent for row, _ in own]),
        device=np.array([row.device for row, _ in own]),
        family=np.array([row.family for row, _ in own]),
        key=np.array([f"{row.family} {row.settings}" for row, _ in own]),
    )


def _facts(row: PublicRow, device: Device) -> tuple[tuple[float, ...], float]:
    counted = _counted(row.family, row.settings, row.choices)
    times = launch_times(counted.counts, device)
    found = (*counted.facts, *law_facts(times), *gpu_facts(counted.counts, device), *device_facts(device))
    return found, times.least_us


@lru_cache(maxsize=32)  # rows of one launch on several devices come one after the other
def _counted(family: str, settings: tuple[tuple[str, str], ...], choices: tuple[tuple[str, str], ...]) -> _Counted:
    program = program_of(PublicRow(family, "", settings, choices, 0.0, None, ""))
    work = _work(program.source, program.kernel, program.options)
    counts = work.count(program.launch)
    return _Counted(counts, launch_facts(work, counts, program.launch))


@lru_cache(maxsize=64)
def _work(source: str, kernel: str, options: BuildOptions) -> Work:
    program = read_program(source, options=options)
    return analyse(program, program.kernel(kernel))


def _column(values: Sequence[float]) -> npt.NDArray[np.float64]:
    return np.array(values, np.float64)
