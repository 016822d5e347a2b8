"""`kernelcast compile`: what a device's compiler makes of kernels, without running them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from rich.text import Text

from model.compile_targets import UnknownTarget, target_named
from model.compiled import CompiledFacts, moved_to
from model.device import Device
from model.embedded.placing import in_host
from model.errors import KernelcastError
from model.forecast import Forecast, Problem
from model.gpu_targets import reference_device
from model.launch.driver_choice import on_device
from profiler.compile_cache import keep_facts, known_facts
from profiler.compiling import CompileRequest, compile_program
from profiler.measurement import MeasureError
from profiler.offline.compiling import compile_offline, offline_driver
from profiler.offline.diagnostics import DoesNotCompile, with_lines
from profiler.store import StoreError
from server.cli import compiled_answers, tables
from server.cli.answers import Answer, error_answer, forecast_error_answer, prediction_answer
from server.cli.device_choice import Devices, check_devices
from server.cli.forecasts import Forecaster, Found, UnansweredError
from server.cli.output import ANSWERED, SOME_FAILED, WrongCallError, warn, write_json
from server.cli.requests import Request, requests_of
from server.cli.terminal import err, progress_bar


@dataclass(frozen=True, slots=True)
class Compiled:
    """One launch: what its code looks like, or why that cannot be told."""

    forecast: Forecast
    outcome: CompiledFacts | KernelcastError


@dataclass(frozen=True, slots=True)
class _Backend:
    """What compiles: a driver of this machine, or the offline compilers for a target."""

    device_id: str
    driver: str
    compile: Callable[[Sequence[CompileRequest], str], Sequence[CompiledFacts | KernelcastError]]


def run(arguments: argparse.Namespace) -> int:
    """Compile the kernels of the files for a device of this machine, or for a GPU that need not be there."""
    if not arguments.files:
        raise WrongCallError("no FILE: say what to compile")
    devices = Devices()
    offline = _offline(arguments.target) if arguments.target else None
    device_for = devices.to_run_on
    if offline is not None:
        arguments.device = arguments.device or reference_device(offline.device_id)
        device_for = devices.to_predict_for
    check_devices(device_for, arguments.device)
    forecaster = Forecaster(device_for)
    is_json = arguments.format == "json"
    compiler = _Compiler(devices, arguments.force, offline)
    return max(_answer(request, forecaster, compiler, is_json=is_json) for request in requests_of(arguments))


def _offline(target: str) -> _Backend:
    try:
        architecture = target_named(target)
    except UnknownTarget as error:
        raise WrongCallError(error.message) from None
    return _Backend(architecture.target, offline_driver(architecture), lambda requests, _: compile_offline(requests))


def _installed(device: Device) -> _Backend:
    return _Backend(device.id, device.driver, _with_progress)


def _with_progress(requests: Sequence[CompileRequest], task: str) -> Sequence[CompiledFacts | MeasureError]:
    with progress_bar(task) as on_progress:
        return compile_program(requests, on_progress=on_progress)


def _answer(request: Request, forecaster: Forecaster, compiler: _Compiler, *, is_json: bool) -> int:
    try:
        found = forecaster.forecast(request)
    except KernelcastError as error:
        if is_json:
            write_json(error_answer(request, error))
        else:
            tables.complain(request.file, error)
        return SOME_FAILED
    compiled = compiler.all_of(request.file, found)
    if is_json:
        for each in compiled:
            write_json(_as_json(request, found, each))
    else:
        _show(request.file, found, compiled)
    return SOME_FAILED if any(isinstance(each.outcome, KernelcastError) for each in compiled) else ANSWERED


class _Compiler:
    """Compiles what was not compiled before, and keeps what it learns. Without `backend`, for the forecasts' device."""

    def __init__(self, devices: Devices, anew: bool, backend: _Backend | None) -> None:
        self._devices = devices
        self._anew = anew
        self._backend = backend

    def all_of(self, file: Path, found: Found) -> list[Compiled]:
        """Compile all, in the order of the forecasts; launches that share a build are compiled together."""
        backend = self._backend or _installed(found.device)
        outcomes: dict[int, CompiledFacts | KernelcastError] = {}
        waiting: list[tuple[int, CompileRequest]] = []
        for number, forecast in enumerate(found.forecasts):
            if forecast.launch is None:
                problem = forecast.problem or Problem("launch", "no launch is known, and so no local size")
                outcomes[number] = UnansweredError(problem)
                continue
            known = self._known(forecast, backend)
            if known is not None:
                outcomes[number] = known
            else:
                launch = on_device(forecast.launch, found.device)
                source, kernel = forecast.compiled_from(found.text)
                order = CompileRequest(source, str(file.absolute()), kernel, launch, backend.device_id)
                waiting.append((number, order))
        for _, group in groupby(sorted(waiting, key=_options), key=_options):
            outcomes.update(self._compiled(file, list(group), backend))
        return [Compiled(each, _in_host(file, outcomes[number], each)) for number, each in enumerate(found.forecasts)]

    def _compiled(
        self, file: Path, orders: Sequence[tuple[int, CompileRequest]], backend: _Backend
    ) -> dict[int, CompiledFacts | KernelcastError]:
        try:
            outcomes = backend.compile([order for _, order in orders], file.name)
        except KernelcastError as error:
            return dict.fromkeys((number for number, _ in orders), error)
        found: dict[int, CompiledFacts | KernelcastError] = {}
        for (number, order), outcome in zip(orders, outcomes, strict=True):
            found[number] = outcome
            if isinstance(outcome, CompiledFacts):
                self._keep(order, outcome)
        return found

    def _known(self, forecast: Forecast, backend: _Backend) -> CompiledFacts | None:
        store = self._devices.store
        if self._anew or store is None or forecast.launch is None:
            return None
        try:
            return known_facts(store, forecast.kernel, forecast.launch, backend.device_id, backend.driver)
        except StoreError as error:
            warn(error.message)
            return None

    def _keep(self, order: CompileRequest, facts: CompiledFacts) -> None:
        try:
            if self._devices.store is not None:
                keep_facts(self._devices.store, order, facts)
        except StoreError as error:
            warn(f"what the compiler made is not kept: {error.message}")


def _options(numbered: tuple[int, CompileRequest]) -> tuple[str, ...]:
    return (*numbered[1].launch.options.arguments(), numbered[1].source)


def _in_host(
    file: Path, outcome: CompiledFacts | KernelcastError, forecast: Forecast
) -> CompiledFacts | KernelcastError:
    """Return the outcome of compiling a program with the lines of the file that holds it."""
    if forecast.home is None or isinstance(outcome, UnansweredError):  # which has the host's line already
        return outcome
    if isinstance(outcome, CompiledFacts):
        return moved_to(outcome, forecast.kernel)
    error = in_host(outcome, forecast.home)
    return with_lines(error, file.name, forecast.home.line) if isinstance(error, DoesNotCompile) else error


def _as_json(request: Request, found: Found, each: Compiled) -> Answer:
    if isinstance(each.outcome, CompiledFacts):
        return compiled_answers.compiled_answer(request, each.forecast, each.outcome)
    if each.forecast.launch is None:
        return prediction_answer(request, found, each.forecast)
    return forecast_error_answer(request, each.forecast, each.outcome)


def _show(file: Path, found: Found, compiled: Sequence[Compiled]) -> None:
    tables.show_problems(file, found)
    told: set[tuple[str, int | None]] = set()
    for each in compiled:
        if isinstance(each.outcome, CompiledFacts):
            compiled_answers.show(file, found.device, each.forecast, each.outcome)
        elif (complaint := (each.outcome.message, each.outcome.line)) not in told:  # one build that fails is one
            told.add(complaint)
            _complain(file, each.outcome, each.forecast.kernel.name)


def _complain(file: Path, error: KernelcastError, kernel: str) -> None:
    """Show all errors of an offline compiler as compilers write them; of other compilers the first."""
    if not isinstance(error, DoesNotCompile) or not error.diagnostics:
        tables.complain(file, error, kernel=kernel)
        return
    for each in error.diagnostics:
        place = file if each.file == file.name else each.file
        err().print(Text(str(replace(each, file=str(place)))))
