"""Builds many kernels for one device, reads what its compiler made of them, and proves their launches in bounds.

Many of these jobs run side by side: nothing is timed here, and each keeps to one thread.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyopencl as cl

from model.compiled import CompiledFacts, is_small_grid
from profiler.arguments import check_memory, plan_arguments
from profiler.compiling import CompileRequest
from profiler.corpus.collection_jobs import BuildOrder, BuildTask, BuiltKernel, BuiltVariant, RefusedLaunch
from profiler.device_worker.building import ON_COMPILER_CRASH, kernel_named
from profiler.device_worker.compilers import pocl
from profiler.device_worker.compilers.reader import Built
from profiler.device_worker.compiling import asked, reader_of
from profiler.device_worker.corpus.pocl_cache import KNOWN_VERSIONS, OwnCache, object_file, spare_any_size
from profiler.device_worker.corpus.program_cache import Shelf
from profiler.device_worker.corpus.request_builder import Asking
from profiler.device_worker.failures import named_failures
from profiler.device_worker.guards.proof import ON_CRASH, prove_in_bounds
from profiler.device_worker.memory.allocation import allocate, memory_limits
from profiler.device_worker.pinning import AFFINITY, MOST_THREADS
from profiler.device_worker.probing import open_on
from profiler.device_worker.programs import Trial
from profiler.measurement import BuildFailed, MeasureError, MeasureRequest
from profiler.process.messages import AtStake, Outcome, Phase

if TYPE_CHECKING:
    from profiler.device_worker.main import Reporter

NICENESS = 10
# Pinned, the threads of all these processes would share the first processor.
ENVIRONMENT = {MOST_THREADS: "1", AFFINITY: "0", "POCL_LEAVE_KERNEL_COMPILER_TEMP_FILES": "1"}
ON_TIMEOUT = "a loop that never ends, or a compiler that does not"


def run(order: BuildOrder, reporter: Reporter) -> None:
    """Build each task's kernel, and send its outcome as soon as it is known. Raises DeviceGone."""
    job = _Job(order, reporter)
    for task in order.tasks:
        reporter.send(AtStake((task.number,)))
        try:
            outcome: BuiltKernel | MeasureError = job.kernel(task)
        except MeasureError as error:
            outcome = error
            if isinstance(error.__cause__, cl.Error):
                job.open_anew()
        reporter.send(Outcome(task.number, outcome))
        if isinstance(outcome, MeasureError) and outcome.ends_process:
            return  # a kernel of it never ends
        del outcome


@dataclass(slots=True)
class _Code:
    """Compiled for one local size by PoCL. `asked_for` is None where the driver chose it."""

    asked_for: tuple[int, ...] | None
    is_small_grid: bool
    facts: CompiledFacts
    folder: Path | None  # in PoCL's cache
    launches: list[int] = field(default_factory=list)


class _Job:
    """Owns the device's context, and PoCL's cache of this process."""

    def __init__(self, order: BuildOrder, reporter: Reporter) -> None:
        self._order, self._reporter = order, reporter
        os.nice(NICENESS)
        os.environ.update(ENVIRONMENT)
        self._cache = OwnCache()
        self._device = open_on(order.device_id, ())
        self._compiles_at_launch = "portable computing language" in self._device.platform.name.lower()
        self._asking = Asking(order.device_id, Path(order.cache_folder))
        self.open_anew()

    def open_anew(self) -> None:
        """After a driver's error nothing that lives in its context can be trusted."""
        with named_failures(f"opening device `{self._order.device_id}`"):
            self._context = cl.Context([self._device])
            self._queue = cl.CommandQueue(self._context)
            flags = reader_of(self._device).line_flags
            folder = Path(self._order.cache_folder)
            self._shelf = Shelf(self._context, self._device, folder, loads=False, flags=flags)

    def kernel(self, task: BuildTask) -> BuiltKernel:
        """Build a kernel for its launches. Raises MeasureError for what concerns all of them."""
        began = time.perf_counter()
        kernel = task.kernel
        requests = [self._asking.request(kernel, launch) for launch in kernel.launches]
        checked = [launch.checked for launch in kernel.launches]
        refused: list[RefusedLaunch] = []
        codes: list[_Code] = []
        program = self._program(requests[0])
        for place in sorted(range(len(requests)), key=lambda place: requests[place].launch.work_items):
            try:
                checked[place] = self._run(requests[place], program, codes, task) or checked[place]
                self._note_code(place, requests[place], program, codes)
            except MeasureError as error:
                if error.ends_process or isinstance(error, BuildFailed):
                    raise
                refused.append(RefusedLaunch(place, error.code, error.message))
        if codes:
            self._store(requests[0], codes)
        variants = tuple(BuiltVariant(tuple(sorted(code.launches)), code.facts) for code in codes)
        return BuiltKernel(variants, tuple(checked), tuple(refused), time.perf_counter() - began)

    def _program(self, request: MeasureRequest) -> cl.Program:
        phase = Phase(
            f"building kernel `{request.kernel.name}`", self._order.limits.build_s, on_crash=ON_COMPILER_CRASH
        )
        self._reporter.begin(0.0, "building", phase)
        with named_failures(f"kernel `{request.kernel.name}`"):
            return self._shelf.program(request.source, request.path, request.launch.options)

    def _run(self, request: MeasureRequest, program: cl.Program, codes: list[_Code], task: BuildTask) -> str:
        """Run the launch if it is to be proved, or PoCL to compile for it. The word for how it was proved."""
        is_known = request.launch.local_size is not None and _code_for(request, codes) is not None
        is_compiled = is_known or not self._compiles_at_launch
        if is_compiled and (request.proved or not task.proves):
            return ""
        plan = plan_arguments(request.kernel, request.launch, request.source)
        check_memory(plan, memory_limits(self._device))
        limits = self._order.limits
        limit_s = limits.first_run_s if is_compiled else limits.first_run_s + limits.build_s
        trial = Trial(self._context, self._queue, program, kernel_named(program, request.kernel.name), plan, request)
        phase = Phase(trial.subject, limit_s, on_timeout=ON_TIMEOUT, on_crash=ON_CRASH)
        self._reporter.begin(0.5, "running", phase)
        with named_failures(trial.subject):
            word = prove_in_bounds(trial, self._reporter, phase)
            if request.proved or not word:  # then it has not run
                arguments = allocate(plan, self._context, self._queue)
                trial.set_arguments(arguments.values)
                trial.enqueue().wait()
                arguments.release()
        return word

    def _store(self, request: MeasureRequest, codes: list[_Code]) -> None:
        """Keep the program's binary, with the code of all local sizes that have run."""
        with named_failures(f"kernel `{request.kernel.name}`"):
            if self._compiles_at_launch and self._device.driver_version.startswith(KNOWN_VERSIONS):
                for folder in (code.folder for code in codes if code.folder is not None):
                    spare_any_size(folder)
            self._shelf.store(request.source, request.path, request.launch.options)

    def _note_code(self, place: int, request: MeasureRequest, program: cl.Program, codes: list[_Code]) -> None:
        if not self._compiles_at_launch:
            if not codes:
                facts = facts_of_program(program, self._device, request)
                codes.append(_Code(request.launch.local_size, False, facts, None))
            codes[0].launches.append(place)
            return
        new = self._cache.new_variants()
        of_kernel = [variant for variant in new if variant.parent.name == request.kernel.name]
        path = object_file(of_kernel[0]) if of_kernel else None
        if path is not None:
            facts = facts_of_object(path, program, self._device, request)
            codes.append(_Code(request.launch.local_size, is_small_grid(request.launch), facts, of_kernel[0]))
        code = _code_for(request, codes)
        if code is not None:
            code.launches.append(place)


def _code_for(request: MeasureRequest, codes: list[_Code]) -> _Code | None:
    """Return the code that serves the launch, as far as can be known.

    Which size a driver chooses by itself shows when it compiles.
    """
    launch = request.launch
    wanted = (launch.local_size, is_small_grid(launch))
    return next((code for code in reversed(codes) if (code.asked_for, code.is_small_grid) == wanted), None)


def facts_of_program(program: cl.Program, device: cl.Device, request: MeasureRequest) -> CompiledFacts:
    """Return the facts of a program that holds all of its code. Runs nothing."""
    built, wanted = _built(program, device), _wanted(request)
    return reader_of(device).read(wanted, built, asked(wanted, built))


def facts_of_object(path: Path, program: cl.Program, device: cl.Device, request: MeasureRequest) -> CompiledFacts:
    """Return the facts of PoCL's object file for one local size."""
    built, wanted = _built(program, device), _wanted(request)
    return pocl.with_object_code(asked(wanted, built), path, wanted)


def _built(program: cl.Program, device: cl.Device) -> Built:
    log = str(program.get_build_info(device, cl.program_build_info.LOG))  # type: ignore[no-untyped-call]
    return Built(program, device, log, Path())


def _wanted(request: MeasureRequest) -> CompileRequest:
    return CompileRequest(request.source, request.path, request.kernel, request.launch, request.device_id)
