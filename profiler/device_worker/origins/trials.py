"""Trials of other people's programs in the device process: whether they build, and stay inside their buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyopencl as cl

from model.opencl.options import BuildOptions
from profiler.arguments import check_memory, plan_arguments
from profiler.corpus.origins.jobs import BUILD_S, Builds, BuildTry, ProofTry, Proved
from profiler.device_worker.building import ON_COMPILER_CRASH, build
from profiler.device_worker.failures import named_failures
from profiler.device_worker.guards.proof import prove_in_bounds
from profiler.device_worker.memory.allocation import allocate, memory_limits
from profiler.device_worker.probing import open_device
from profiler.device_worker.programs import Programs, Trial, kernel_of
from profiler.measurement import BuildFailed, MeasureError, MeasureRequest
from profiler.process.messages import AtStake, Outcome, Phase

if TYPE_CHECKING:
    from profiler.device_worker.main import Reporter

_UNOPTIMISED = BuildOptions(flags=("-cl-opt-disable", "-w"))  # has the same kernels, and takes a tenth of the time


def try_builds(device_id: str, tries: tuple[tuple[int, BuildTry], ...], limit_s: float, reporter: Reporter) -> None:
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


_NOTHING_TO_CHECK = "neither buffers nor images"


def prove_launches(device_id: str, tries: tuple[tuple[int, ProofTry], ...], limit_s: float, reporter: Reporter) -> None:
    """Send `Proved` for each launch that may be timed, a MeasureError for each other."""
    programs = Programs(open_device(device_id), BUILD_S, reporter)
    for number, one in tries:
        reporter.send(AtStake((number,)))
        try:
            outcome: Proved | MeasureError = _proved(one, device_id, programs, limit_s, reporter)
        except MeasureError as error:
            outcome = error
            if isinstance(error.__cause__, cl.Error):
                programs.forget()
        reporter.send(Outcome(number, outcome))
        if isinstance(outcome, MeasureError) and outcome.ends_process:
            return
        del outcome


def _proved(one: ProofTry, device_id: str, programs: Programs, limit_s: float, reporter: Reporter) -> Proved:
    request = MeasureRequest(one.text, None, one.kernel, one.launch, device_id)
    subject = f"kernel `{one.kernel.name}`"
    plan = plan_arguments(one.kernel, one.launch, one.text)
    check_memory(plan, memory_limits(programs.device))
    program = programs.program(request)
    kernel = kernel_of(program, request)
    running = Phase(subject, limit_s)
    reporter.begin(0.1, "running", running)
    with named_failures(subject):
        trial = Trial(programs.context, programs.queue, program, kernel, plan, request)
        checked = prove_in_bounds(trial, reporter, running)
        # Kernels hold no references to their arguments: without this name the buffers would be freed before they run.
        arguments = allocate(plan, programs.context, programs.queue)
        trial.set_arguments(arguments.values)
        reporter.begin(0.5, "timing", running)
        best_us = min(_run_us(trial) for _ in range(2))
    return Proved(checked or ("" if one.kernel.parameters else _NOTHING_TO_CHECK), best_us)


def _run_us(trial: Trial) -> float:
    event = trial.enqueue()
    event.wait()
    return (event.profile.end - event.profile.start) / 1e3
