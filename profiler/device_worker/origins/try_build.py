"""Tries whether programs build, inside the device process, and names the kernels of those that do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyopencl as cl

from model.opencl.options import BuildOptions
from profiler.corpus.origins.jobs import Builds, BuildTry
from profiler.device_worker.building import ON_COMPILER_CRASH, build
from profiler.device_worker.probing import open_device
from profiler.measurement import BuildFailed, MeasureError
from profiler.process.messages import AtStake, Outcome, Phase

if TYPE_CHECKING:
    from profiler.device_worker.main import Reporter

_UNOPTIMISED = BuildOptions(flags=("-cl-opt-disable", "-w"))  # has the same kernels, and takes a tenth of the time


def run(device_id: str, tries: tuple[tuple[int, BuildTry], ...], limit_s: float, reporter: Reporter) -> None:
    """Send `Builds` for each that builds, a MeasureError for each other, as soon as it is known."""
    context = cl.Context([open_device(device_id)])
    for number, one in tries:
        reporter.send(AtStake((number,)))
        reporter.begin(0.0, "building", Phase("building a program", limit_s, on_crash=ON_COMPILER_CRASH))
        try:
            program = build(context, one.text, None, one.options.merged(_UNOPTIMISED))
            names = tuple(kernel.function_name for kernel in program.all_kernels())
            outcome: Builds | MeasureError = Builds(names)
        except cl.Error as error:
            outcome = BuildFailed(f"the program holds no kernels: {error}")
        except MeasureError as error:
            outcome = error
        reporter.send(Outcome(number, outcome))
