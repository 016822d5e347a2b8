"""The report of an open document, from what the server knows of it now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from model.device import Device
from model.engine import FileForecast
from profiler.devices import with_calibrations
from profiler.store import Store, StoredMeasurement, StoreError
from server.analysis.questions import Ask
from server.report.gathering import Subject, gather
from server.report.page import page
from server.snapshot import Snapshot


def page_about(snapshot: Snapshot, kernel: str, found: Sequence[Device], ask: Ask | None = None) -> tuple[str, str]:
    """Title and page of one kernel, or of all if the name is empty. Reads the store; call it in a thread."""
    document = snapshot.analysis.document
    label = document.path.name if document.path else document.uri.rpartition("/")[2] or document.uri
    title = f"Performance of {kernel or label}"
    known = tuple({id(m): m for m in (*snapshot.measured.values(), *snapshot.analysis.stored)}.values())
    subject = Subject(document.path, label, _of(snapshot.analysis.forecast, kernel), snapshot.device, known)
    remembered = _remembered()
    return title, page(gather(title, [subject], with_calibrations(found, remembered), remembered, _history, ask))


def _of(forecast: FileForecast, kernel: str) -> FileForecast:
    if not kernel:
        return forecast
    return replace(
        forecast,
        kernels=tuple(k for k in forecast.kernels if k.name == kernel),
        forecasts=tuple(f for f in forecast.forecasts if f.kernel.name == kernel),
    )


def _remembered() -> tuple[Device, ...]:
    try:
        return Store.open().profiles()
    except StoreError:  # the history says so
        return ()


def _history(path: Path | None, kernel: str) -> tuple[StoredMeasurement, ...]:
    return Store.open().history(path, kernel)
