"""Compile the kernels of trusted folders once nobody types: by the device's driver, or offline for an absent GPU."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from server.client.trust import Trust
from server.device_work.preconditions import device_work
from server.device_work.refusals import Build, Refusal, refusals_in
from server.log.events import document_name, event, native_output

if TYPE_CHECKING:
    from collections.abc import Sequence
    from threading import Event

    from model.errors import KernelcastError
    from model.forecast import Forecast
    from model.opencl.kernel import Kernel
    from profiler.compiling import CompileRequest
    from profiler.offline.diagnostics import Diagnostic
    from server.device_work.compile_queue import Failures, Outcomes
    from server.documents import Document
    from server.session import KernelcastServer
    from server.snapshot import Analysis

    _PartRequest = tuple[str, CompileRequest]  # of which program of a host file; empty for the file itself

QUIET_S = 2.0  # after the last analysis: half a text says nothing of the whole
_OF_THE_TEXT = frozenset({"build_failed", "crashed", "timed_out"})  # other failures are the machine's
_NO_COLUMN = 1 << 20  # drivers name a line; beyond its end, all of it is marked
MOST_KERNELS = 64  # of a document for a driver here, whose processors are the user's; the others wait to be measured


def compile_later(ls: KernelcastServer, analysis: Analysis) -> None:
    """Compile an analysis' kernels in the background, without running them.

    Only where the editor says that the workspace is trusted, since nobody asked for the compiler by a command, and
    unless the user switched it off. What is being compiled of an older text is given up.
    """
    document = analysis.document
    if ls.trust is not Trust.SAID or not ls.settings_of(document).background_compiles:
        ls.compiles.keep_only(document.uri, ())
        ls.forget_refusals(document.uri)
        return
    sources = {each.compiled_from(document.text.value)[0] for each in analysis.forecast.forecasts}
    ls.compiles.keep_only(document.uri, sources, analysis.device.id)
    if _is_here(ls, analysis) or analysis.device.type == "gpu":
        ls.spawn(compile_quietly(ls, analysis))


def _is_here(ls: KernelcastServer, analysis: Analysis) -> bool:
    return any(device.id == analysis.device.id for device in ls.found_devices)


async def compile_quietly(ls: KernelcastServer, analysis: Analysis) -> None:
    """Compile what is not known yet of this analysis, unless a newer one or the end of the server comes first."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(QUIET_S):
            await ls.leaving.wait()
    newest = ls.snapshot(analysis.document.uri)
    if ls.leaving.is_set() or newest is None or newest.analysis.number != analysis.number:
        return
    is_here = _is_here(ls, analysis)
    target = None if is_here else importlib.import_module("model.gpu_targets").target_of(analysis.device)
    if target is None and not is_here:
        return
    key_of = importlib.import_module("model.compiled").key_of
    device_id, uri = analysis.device.id, analysis.document.uri
    builds: dict[Build, list[CompileRequest]] = {}
    for part, request in _requests_here(analysis) if is_here else _requests(ls, analysis):
        builds.setdefault(Build(request.launch.options, part), []).append(request)
    ls.refusals.keep(uri, builds)
    for build, orders in builds.items():
        missing = [each for each in orders if key_of(each.kernel, each.launch, device_id) not in analysis.compiled]
        work = partial(_compile, target) if target is not None else partial(_compile_here, analysis.device.driver)
        done = partial(_done, ls, analysis, target or device_id, build)
        text_of = partial(_without_others, _kernels_of(analysis, build.part))
        ls.compiles.want(missing, work, done, owner=uri, text_of=text_of)


def _requests(ls: KernelcastServer, analysis: Analysis) -> list[_PartRequest]:
    """Return a compile request for each launch.

    A kernel without a launch is compiled as well: most likely the compiler can say what is wrong.
    """
    work, document = device_work(), analysis.document
    text, path = document.text.value, str(document.path) if document.path else None
    forecasts = analysis.forecast.forecasts
    any_launch = next((each.launch for each in forecasts if each.launch is not None), None)
    options = any_launch.options if any_launch is not None else ls.settings_of(document).options
    return [
        (each.part, work.compile_request(source, path, kernel, launch, analysis.device.id))
        for each in forecasts
        for source, kernel in (each.compiled_from(text),)
        for launch in (each.launch or work.launch_of(options),)
    ]


def _requests_here(analysis: Analysis) -> list[_PartRequest]:
    """Return one for each launch, with the local size that the driver chooses where none is said."""
    work, document, device = device_work(), analysis.document, analysis.device
    text, path = document.text.value, str(document.path) if document.path else None
    on_device = importlib.import_module("model.launch.driver_choice").on_device
    return [
        (each.part, work.compile_request(source, path, kernel, on_device(each.launch, device), device.id))
        for each in analysis.forecast.forecasts
        if each.launch is not None
        for source, kernel in (each.compiled_from(text),)
    ][:MOST_KERNELS]


def _compile_here(driver: str, orders: Sequence[CompileRequest], cancel: Event) -> Outcomes:
    return device_work().compile(orders, driver, cancel)


def _compile(target: str, orders: Sequence[CompileRequest], cancel: Event) -> Outcomes:
    return device_work().compile_offline(orders, target, cancel)


def _done(ls: KernelcastServer, analysis: Analysis, target: str, build: Build, failures: Failures) -> None:
    """Show what the compiler refuses or does not cope with, or that it does no longer; nothing of an older text."""
    document, newest = analysis.document, ls.snapshot(analysis.document.uri)
    if newest is None or _text_of(newest.analysis.document) != _text_of(document):
        return
    names = {each.kernel.fingerprint: each for each in _forecasts_of(analysis, build.part)}
    found: list[Refusal] = []
    for key, error in failures.items():
        if error.code in _OF_THE_TEXT and (forecast := names.get(key.kernel_fingerprint)) is not None:
            found += _refusals(error, forecast, document, target, analysis.device.id)
    ls.refuse(document.uri, build, tuple(dict.fromkeys(found)))
    _log(document, analysis.device.id, failures)


def _refusals(
    error: KernelcastError, forecast: Forecast, document: Document, target: str, device_id: str
) -> tuple[Refusal, ...]:
    """Return all that an offline compiler says, or a driver's first error: at its line, or at the kernel's name."""
    name = document.path.name if document.path else "kernel.cl"
    said: Sequence[Diagnostic] = getattr(error, "diagnostics", ())
    if not said:
        diagnostic = importlib.import_module("profiler.offline.diagnostics").Diagnostic
        home, line = forecast.home, error.line
        if home is not None:
            line = home.line(line)
        at = (line, _NO_COLUMN) if line is not None else _name_of(forecast.kernel)
        said = (diagnostic(name, *at, True, error.message),)
    elif (home := forecast.home) is not None:  # columns are those of the program
        said = [replace(each, line=home.line(each.line) or 1, column=_NO_COLUMN) for each in said]
    return refusals_in(said, document, name, target, device_id)


def _name_of(kernel: Kernel) -> tuple[int, int]:
    return kernel.name_range.start_line + 1, kernel.name_range.start_byte + 1


def _log(document: Document, device_id: str, failures: Failures) -> None:
    if not failures:
        return
    errors = list(dict.fromkeys(failures.values()))
    event(
        "not compiled",
        document=document_name(document.uri),
        device=device_id,
        failures=[each.code for each in errors],
        source={"messages": "; ".join(each.message for each in errors)},
    )
    for each in errors:
        native_output("device", getattr(each, "log", ""))


def _without_others(kernels: Sequence[Kernel], request: CompileRequest) -> str:
    """Return the text without the lines of its other kernels.

    Other kernels count wherever they are: compilers see pragmas and macros that we do not.
    """
    lines: list[str | None] = [*request.source.split("\n")]
    own = request.kernel.range
    for place in (each.range for each in kernels):
        for number in range(place.start_line, min(place.end_line + 1, len(lines))):
            if not own.start_line <= number <= own.end_line:
                lines[number] = None
    return "\n".join(line for line in lines if line and not line.isspace())


def _forecasts_of(analysis: Analysis, part: str) -> list[Forecast]:
    return [each for each in analysis.forecast.forecasts if each.part == part]


def _kernels_of(analysis: Analysis, part: str) -> list[Kernel]:
    """Return the kernels of one program, as they stand in its text."""
    if not part:
        return list(analysis.forecast.kernels)
    return [each.home.kernel for each in _forecasts_of(analysis, part) if each.home is not None]


def _text_of(document: Document) -> tuple[int, int]:
    return document.opening, document.serial
