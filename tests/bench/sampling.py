"""Measure how long sampled execution takes: own kernels with data-dependent loops, and three real packages."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from model.device import Device
from model.engine import Engine
from model.forecast import Forecast
from model.launch.launch import Launch
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from model.sampling.run import sample_launch
from model.work.analyse import analyse
from model.work.sampled import leaves_open, wanted_sites
from server import gc_policy
from tests.oracles.compiler.programs import Source, darktable, pyclesperanto, silx
from tests.oracles.data_loops.compare import kernel_files

REPEATS = 3  # of each launch, each time as for a new kernel: the median counts


@dataclass(frozen=True, slots=True)
class Sampled:
    """Processor time per sampled launch [ms].

    `launches` were predicted; those of which something would have been assumed were sampled. `running_ms` is the time
    of compiling the kernel for the interpreter and running work-items; `whole_ms` includes reading, analysing and
    counting, as for a kernel that is new.
    """

    what: str
    launches: int
    running_ms: tuple[float, ...]
    whole_ms: tuple[float, ...]


def sampling_ms(device: Device) -> list[Sampled]:
    """Sample every launch whose loops, branches or gathers the data decide. Raises Unreachable for a package."""
    gc_policy.postpone_full_collections()  # as in the server
    own = (Source("data_loops", f.stem, f.read_text(encoding="utf-8"), f, BuildOptions()) for f in kernel_files())
    found = [_sampled("data-dependent loops", own, device)]
    found += [_sampled(of.__name__, of(), device) for of in (pyclesperanto, silx, darktable)]
    return found


def _sampled(what: str, sources: Iterator[Source], device: Device) -> Sampled:
    launches, running_ms, whole_ms = 0, [], []
    for source in sources:
        for forecast in Engine().forecast(source.text, source.path, device, options=source.options).forecasts:
            if forecast.launch is None:
                continue
            launches += 1
            taken = [times for _ in range(REPEATS) if (times := _sampling_ms(source, forecast, forecast.launch))]
            if taken:
                running, whole = zip(*taken, strict=True)
                running_ms.append(median(running))
                whole_ms.append(median(whole))
    return Sampled(what, launches, tuple(running_ms), tuple(whole_ms))


def _sampling_ms(source: Source, forecast: Forecast, launch: Launch) -> tuple[float, float] | None:
    """Return the times of running work-items and of the whole; None where nothing has to be sampled."""
    began_s = time.process_time()
    program = read_program(source.text, source.path, launch.options)
    kernel = program.kernel(forecast.kernel.name)
    work = analyse(program, kernel)
    walk = work.walk(launch)
    if not leaves_open(work, walk):
        return None
    analysed_s = time.process_time()
    sample_launch(program, kernel, launch, wanted_sites(work, walk))
    ended_s = time.process_time()
    return 1e3 * (ended_s - analysed_s), 1e3 * (ended_s - began_s)


def at(times_ms: tuple[float, ...], share: float) -> float:
    """Return the value below which `share` of the times lie; 0 if there are none."""
    ordered = sorted(times_ms)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
