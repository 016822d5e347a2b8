"""The rows in numbers: what the analysis, the analytical model and the device profiles say of each."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np
import numpy.typing as npt

from model.analytic.launch_times import launch_times
from model.known_devices import find_builtin_by_name
from model.learned.device_facts import DEVICE_FACT_NAMES, device_facts
from model.learned.gpu_facts import GPU_FACT_NAMES, gpu_facts
from model.learned.launch_facts import LAUNCH_FACT_NAMES, launch_facts
from model.learned.question import ANALYTIC_FACT_NAMES, analytic_facts
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from model.training.public_rows import Measured
from model.work.analyse import analyse
from model.work.work import Work
from model.work.work_counts import WorkCounts
from profiler.corpus.public.convolution import passes_the_edge
from profiler.corpus.public.kept_facts import FOREIGN_FAMILIES, KeptFacts, is_complete, launch_key, read_kept_facts
from profiler.corpus.public.row import PublicRow, Settings
from profiler.corpus.public.table import program_of

FACT_NAMES = (
    *(f"launch.{name}" for name in LAUNCH_FACT_NAMES),
    *(f"analytic.{name}" for name in ANALYTIC_FACT_NAMES),
    *(f"gpu.{name}" for name in GPU_FACT_NAMES),
    *(f"device.{name}" for name in DEVICE_FACT_NAMES),
)

PAST_THE_EDGE = "convolution past the edge"
_AT_A_TIME = 400  # rows that one process takes: those of one program come one after the other


@dataclass(frozen=True, slots=True)
class Counted:
    """A launch as the analysis counts it, and its launch facts in the order of LAUNCH_FACT_NAMES."""

    counts: WorkCounts
    facts: tuple[float, ...]


def measured(rows: Sequence[PublicRow], *, processes: int = 2) -> Measured:
    """Facts of rows whose device has a profile; the others are left out. Takes minutes for thousands of programs.

    Facts of programs that are not ours are read from where they are kept (`kept_facts`), since their sources need
    not be at hand; rows without any are left out as well.
    """
    kept = read_kept_facts()
    own = [
        row
        for row in rows
        if find_builtin_by_name(row.device) is not None and (row.family not in FOREIGN_FAMILIES or _is_kept(row, kept))
    ]
    own.sort(key=lambda row: (row.family, row.settings, row.choices))
    counted = [row for row in own if row.family not in FOREIGN_FAMILIES]
    parts = [counted[first : first + _AT_A_TIME] for first in range(0, len(counted), _AT_A_TIME)]
    with ProcessPoolExecutor(processes) as pool:
        new = chain.from_iterable(pool.map(_facts_of, parts))
        found = [_kept_facts(row, kept) if row.family in FOREIGN_FAMILIES else next(new) for row in own]
    return Measured(
        facts=np.array([facts for facts, _ in found], np.float32),
        fact_names=FACT_NAMES,
        runtime_us=_column([row.runtime_us for row in own]),
        least_us=_column([least_us for _, least_us in found]),
        noise_percent=_column([np.nan if row.noise_percent is None else row.noise_percent for row in own]),
        device=np.array([row.device for row in own]),
        maker=np.array([_maker(row.device) for row in own]),
        family=np.array([_family(row) for row in own]),
        key=np.array([f"{row.family} {row.settings}" for row in own]),
        source=np.array([row.source for row in own]),
    )


def _maker(device: str) -> str:
    found = find_builtin_by_name(device)
    return "" if found is None else found.platform


def _family(row: PublicRow) -> str:
    """Convolutions past the image's edge by themselves: AMD's GPUs took ten times as long over reads outside it."""
    is_past = row.family == "convolution" and passes_the_edge(row.settings)
    return PAST_THE_EDGE if is_past else row.family


def _facts_of(rows: Sequence[PublicRow]) -> list[tuple[tuple[float, ...], float]]:
    return [_facts(row) for row in rows]


def _facts(row: PublicRow) -> tuple[tuple[float, ...], float]:
    """In the order of FACT_NAMES, and the bound [us]."""
    device = find_builtin_by_name(row.device)
    assert device is not None
    counted = counted_launch(row)
    times = launch_times(counted.counts, device)
    found = (*counted.facts, *analytic_facts(times), *gpu_facts(counted.counts, device), *device_facts(device))
    return found, times.floor_us


def _is_kept(row: PublicRow, kept: KeptFacts) -> bool:
    facts = kept.get(launch_key(row))
    return facts is not None and is_complete(facts)


def _kept_facts(row: PublicRow, kept: KeptFacts) -> tuple[tuple[float, ...], float]:
    """Return the same from what was kept; the device's facts are those of its profile as it is now."""
    device = find_builtin_by_name(row.device)
    assert device is not None
    *facts, least_us = kept[launch_key(row)]
    return (*facts, *device_facts(device)), least_us


def counted_launch(row: PublicRow) -> Counted:
    """Return the row's program, analysed. Raises Unreachable where it is not ours and cannot be had here, now."""
    return _counted(row.family, row.settings, row.choices)


@lru_cache(maxsize=32)  # rows of one launch on several devices come one after the other
def _counted(family: str, settings: Settings, choices: Settings) -> Counted:
    program = program_of(PublicRow(family, "", settings, choices, 0.0, None, ""))
    work = _work(program.source, program.kernel, program.options)
    counts = work.count(program.launch)
    return Counted(counts, launch_facts(work, counts, program.launch))


@lru_cache(maxsize=64)
def _work(source: str, kernel: str, options: BuildOptions) -> Work:
    program = read_program(source, options=options)
    return analyse(program, program.kernel(kernel))


def _column(values: Sequence[float]) -> npt.NDArray[np.float64]:
    return np.array(values, np.float64)
