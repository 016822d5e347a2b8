"""For a GPU that is not in this machine, offline compilers say what becomes of the kernels, once nobody types."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from functools import partial
from typing import TYPE_CHECKING

from server.client.trust import Trust
from server.device_work.access import device_work

if TYPE_CHECKING:
    from collections.abc import Sequence
    from threading import Event

    from profiler.compiling import CompileRequest
    from server.device_work.later_compiles import Facts
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
    document, device = analysis.document, analysis.device
    newest = ls.snapshot(document.uri)
    if ls.leaving.is_set() or newest is None or newest.analysis.number != analysis.number:
        return
    target = importlib.import_module("model.gpu_targets").target_of(device)
    if target is None:
        return
    key_of = importlib.import_module("model.compiled").key_of
    work, path = device_work(), str(document.path) if document.path else None
    orders = [
        work.compile_request(document.text.value, path, each.kernel, each.launch, device.id)
        for each in analysis.forecast.forecasts
        if each.launch is not None and key_of(each.kernel, each.launch, device.id) not in analysis.compiled
    ]
    ls.compiles.want(orders, partial(_compile, target))


def _compile(target: str, orders: Sequence[CompileRequest], cancel: Event) -> Facts:
    return device_work().compile_offline(orders, target, cancel)
