"""For a GPU that is not in this machine, offline compilers say what becomes of the kernels, once nobody types."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from functools import partial
from typing import TYPE_CHECKING

from server.client.trust import Trust
from server.device_work.access import device_work
from server.device_work.refusals import refusals_in

if TYPE_CHECKING:
    from collections.abc import Sequence
    from threading import Event

    from model.errors import KernelcastError
    from model.opencl.options import BuildOptions
    from profiler.compiling import CompileRequest
    from server.device_work.later_compiles import Facts
    from server.documents import Document
    from server.session import KernelcastServer
    from server.snapshot import Analysis

QUIET_S = 2.0  # after the last analysis: half a text says nothing of the whole


def compile_later(ls: KernelcastServer, analysis: Analysis) -> None:
    """Only where the editor says that the workspace is trusted: nobody asked for the compiler by a command."""
    is_here = any(device.id == analysis.device.id for device in ls.found_devices)
    if ls.trust is Trust.SAID and analysis.device.type == "gpu" and not is_here:
        ls.spawn(compile_offline(ls, analysis))


async def compile_offline(ls: KernelcastServer, analysis: Analysis) -> None:
    """Compile what is not known yet of this analysis, unless a newer one or the end of the server comes first."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(QUIET_S):
            await ls.leaving.wait()
    newest = ls.snapshot(analysis.document.uri)
    if ls.leaving.is_set() or newest is None or newest.analysis.number != analysis.number:
        return
    target = importlib.import_module("model.gpu_targets").target_of(analysis.device)
    if target is None:
        return
    key_of = importlib.import_module("model.compiled").key_of
    device_id, uri = analysis.device.id, analysis.document.uri
    builds: dict[BuildOptions, list[CompileRequest]] = {}
    for request in _requests(ls, analysis):
        builds.setdefault(request.launch.options, []).append(request)
    ls.refusals.keep(uri, builds)
    for options, orders in builds.items():
        missing = [each for each in orders if key_of(each.kernel, each.launch, device_id) not in analysis.compiled]
        done = partial(_done, ls, analysis, target, options)
        ls.compiles.want(missing, partial(_compile, target), done)


def _requests(ls: KernelcastServer, analysis: Analysis) -> list[CompileRequest]:
    """One for each launch. A kernel without one is compiled as well: most likely the compiler can say what is wrong."""
    work, document = device_work(), analysis.document
    text, path = document.text.value, str(document.path) if document.path else None
    forecasts = analysis.forecast.forecasts
    any_launch = next((each.launch for each in forecasts if each.launch is not None), None)
    options = any_launch.options if any_launch is not None else ls.settings_of(document).options
    return [
        work.compile_request(text, path, each.kernel, each.launch or work.launch_of(options), analysis.device.id)
        for each in forecasts
    ]


def _compile(target: str, orders: Sequence[CompileRequest], cancel: Event) -> Facts:
    return device_work().compile_offline(orders, target, cancel)


def _done(
    ls: KernelcastServer, analysis: Analysis, target: str, options: BuildOptions, error: KernelcastError | None
) -> None:
    """Show where the compiler refuses the text, or that it does no longer; of an older text it says nothing."""
    document, newest = analysis.document, ls.snapshot(analysis.document.uri)
    if newest is None or _text_of(newest.analysis.document) != _text_of(document):
        return
    name = document.path.name if document.path else "kernel.cl"
    diagnostics = getattr(error, "diagnostics", ())  # of `DoesNotCompile`; other failures are no fault of the text
    ls.refuse(document.uri, options, refusals_in(diagnostics, document, name, target, analysis.device.id))


def _text_of(document: Document) -> tuple[int, int]:
    return document.opening, document.serial
