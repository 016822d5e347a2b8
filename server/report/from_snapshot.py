"""The report of an open document, from what the server knows of it now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from model.device import Device
from model.forecast import FileForecast
from profiler.devices import with_calibrations
from profiler.store import Store, StoredMeasurement, StoreError
from server.analysis.device_search import Now, snapshot_sources
from server.analysis.store_cache import StoreCache
from server.report.builder import Subject, gather
from server.report.page import page
from server.snapshot import Snapshot, slots


def page_about(snapshot: Snapshot, kernel: str, found: Sequence[Device], now: Now | None = None) -> tuple[str, str]:
    """Return title and page of one kernel, or of all if the name is empty. Reads the store; call it in a thread."""
    document = snapshot.analysis.document
    label = document.path.name if document.path else document.uri.rpartition("/")[2] or document.uri
    title = f"Performance of {kernel or label}"
    known = tuple({id(m): m for m in (*snapshot.measured.values(), *snapshot.analysis.stored)}.values())
    subject = Subject(document.path, label, _of(snapshot.analysis.forecast, kernel), snapshot.device, known)
    remembered = _remembered()
    return title, page(
        gather(
            title,
            [subject],
            with_calibrations(found, remembered),
            remembered,
            _history,
            snapshot_sources(snapshot, now, StoreCache()),
        )
    )


def _of(forecast: FileForecast, kernel: str) -> FileForecast:
    if not kernel:
        return forecast
    wanted = [(each, own) for each, own in slots(forecast) if own and own[0][0].kernel == kernel]
    return replace(
        forecast,
        kernels=tuple(each for each, _ in wanted),
        forecasts=tuple(f for _, own in wanted for _, f in own),
    )


def _remembered() -> tuple[Device, ...]:
    try:
        return Store.open().profiles()
    except StoreError:  # the history says so
        return ()


def _history(path: Path | None, kernel: str) -> tuple[StoredMeasurement, ...]:
    return Store.open().history(path, kernel)
