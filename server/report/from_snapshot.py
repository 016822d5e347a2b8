"""The report of an open document, from what the server knows of it now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from model.device import Device
from model.forecast import FileForecast
from model.learned.lessons import Lessons
from model.learned.question import Answer, Question
from profiler.devices import with_calibrations
from profiler.store import Store, StoredMeasurement, StoreError
from server.analysis.offline_targets import GpuCode
from server.analysis.sources import MeasuredLaunch, Sources
from server.analysis.store_cache import StoreCache
from server.report.builder import Subject, gather
from server.report.page import page
from server.snapshot import Snapshot, slots

Now = Callable[[Sequence[Question], Mapping[str, Lessons]], Sequence[Answer | None]]  # the learned model's answers


def page_about(snapshot: Snapshot, kernel: str, found: Sequence[Device], now: Now | None = None) -> tuple[str, str]:
    """Return title and page of one kernel, or of all if the name is empty. Reads the store; call it in a thread."""
    document = snapshot.analysis.document
    label = document.path.name if document.path else document.uri.rpartition("/")[2] or document.uri
    title = f"Performance of {kernel or label}"
    known = tuple({id(m): m for m in (*snapshot.measured.values(), *snapshot.analysis.stored)}.values())
    subject = Subject(document.path, label, _of(snapshot.analysis.forecast, kernel), snapshot.device, known)
    remembered = _remembered()
    return title, page(
        gather(title, [subject], with_calibrations(found, remembered), remembered, _history, _sources(snapshot, now))
    )


def _sources(snapshot: Snapshot, now: Now | None) -> Sources:
    """Return the sources for further predictions: what this session measured and learned, then the store."""
    memory, analysis = StoreCache(), snapshot.analysis
    own = {
        m: f.launch
        for f in analysis.forecast.forecasts
        for m in snapshot.measured.values()
        if f.launch is not None and f.launch.key == m.launch_key
    }

    def ask(questions: Sequence[tuple[Question, Device]]) -> Sequence[Answer | None]:
        devices = {device.id: device for _, device in questions}
        kept = {each: memory.lessons(device) for each, device in devices.items() if each not in analysis.lessons}
        return now([question for question, _ in questions], {**analysis.lessons, **kept}) if now else ()

    def runs_of(fingerprint: str, device_id: str) -> Sequence[MeasuredLaunch]:
        newest = [
            MeasuredLaunch(m, launch)
            for m, launch in own.items()
            if m.kernel_fingerprint == fingerprint and m.device_id == device_id
        ]
        return (*newest, *memory.runs(fingerprint, device_id))

    code = GpuCode(memory, {snapshot.device.id: snapshot.compiled})
    return Sources(
        ask if now is not None else None, runs_of, memory.versions, compiled_of=memory.compiled, code_of=code.of,
        is_taught=memory.is_taught,
    )  # fmt: skip


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
