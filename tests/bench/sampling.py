"""Measure how long sampled execution takes: own kernels with data-dependent loops, and three real packages."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from model.device import Device
from model.engine import Engine
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from model.sampling.run import sample_launch
from model.work.analyse import analyse
from model.work.sampled import leaves_open, wanted_sites
from tests.oracles.compiler.programs import Source, darktable, pyclesperanto, silx
from tests.oracles.data_loops.compare import kernel_files


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
            began_s = time.process_time()
            program = read_program(source.text, source.path, forecast.launch.options)
            kernel = program.kernel(forecast.kernel.name)
            work = analyse(program, kernel)
            walk = work.walk(forecast.launch)
            if not leaves_open(work, walk):
                continue
            analysed_s = time.process_time()
            sample_launch(program, kernel, forecast.launch, wanted_sites(work, walk))
            running_ms.append(1e3 * (time.process_time() - analysed_s))
            whole_ms.append(1e3 * (time.process_time() - began_s))
    return Sampled(what, launches, tuple(running_ms), tuple(whole_ms))


def at(times_ms: tuple[float, ...], share: float) -> float:
    """Return the value below which `share` of the times lie; 0 if there are none."""
    ordered = sorted(times_ms)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
