"""The page about a whole program for an editor, made in a process of its own: it may load the learned model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from model.device import Device
from model.errors import KernelcastError
from profiler.store import Store
from server.analysis.store_cache import StoreCache
from server.cli.forecasts import Forecaster
from server.cli.learned import sources_of
from server.device_work.orders import ProgramOrder, ProgramPage
from server.program.forecast import Programs, newest_program
from server.program.report import report_on
from server.program.tables import report_page

if TYPE_CHECKING:
    from profiler.device_worker.main import Reporter


def run(order: ProgramOrder, reporter: Reporter) -> ProgramPage:
    """Predict the program as it was recorded, and with its kernels as the files are now. Raises KernelcastError."""
    reporter.progress(0.0, "predicting the program")
    title, program = newest_program(Store.open(), order.folder)
    device_for = _lookup(order.devices)
    by = sources_of(StoreCache(), analytic_only=False, ignore_recordings=True)
    programs = Programs(Forecaster(device_for, by, measured_too=True, texts=order.texts), device_for)
    edited = {each.kernel: each.edited for each in program.launches if each.edited}
    return ProgramPage(title, report_page(report_on(programs, title, program, sources=edited)))


def _lookup(devices: Sequence[Device]) -> Callable[[str | None], Device]:
    by_id = {each.id: each for each in devices}

    def device_for(wanted: str | None) -> Device:
        if wanted is None:
            return devices[0]
        if wanted not in by_id:
            raise KernelcastError(f"there is no device `{wanted}`")
        return by_id[wanted]

    return device_for
