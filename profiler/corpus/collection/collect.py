"""The collection: chunk after chunk, until nothing is due or somebody says stop."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from model.device import Device
from model.errors import KernelcastError
from profiler.corpus.collection.ledger import Book
from profiler.corpus.collection.local_executor import Here
from profiler.corpus.collection.lock import sole_collector
from profiler.corpus.collection.pending import Chunk, Why, due_in, next_chunk, wanted_rows
from profiler.corpus.collection.plan import CollectPlan
from profiler.corpus.collection.progress import Figures, OnFigures, Progress
from profiler.corpus.collection.store import CorpusStore, RowKey, Stint
from profiler.corpus.collection.workplace import DueOn, Workplace
from profiler.corpus.kernel import CorpusDevice, CorpusKernel
from profiler.measurement import Cancelled, MeasureError
from profiler.process.worker import CancelToken
from profiler.store.as_json import CONVERTER

# What failed, and what others disturbed, is tried again when all the rest is done: whatever it was may be over then.
ROUNDS = (Why.NEW, Why.NEW, Why.FLOOR, Why.FLOOR, Why.AGAIN)
BUILD_ROUNDS = 2


@dataclass(frozen=True, slots=True)
class Stop:
    """A `CancelToken` that is set when another is, or when the time is up (`time.monotonic`)."""

    other: CancelToken | None = None
    deadline_s: float = float("inf")

    def is_set(self) -> bool:
        return time.monotonic() > self.deadline_s or (self.other is not None and self.other.is_set())


def collect(
    folder: Path,
    plan: CollectPlan,
    *,
    profiles: Sequence[Device] = (),
    on_figures: OnFigures | None = None,
    cancel: CancelToken | None = None,
    workplace: Workplace | None = None,
) -> Figures:
    """Measure what is due of the kernels in `folder`'s store, on all devices; blocks until done or cancelled.

    Every finished row is kept at once: after any end the next call goes on where this one was. `profiles` are those of
    the OpenCL devices, kept with the rows. Raises AlreadyCollecting, StoreError, or what keeps a device from opening.
    """
    with sole_collector(folder):
        store = CorpusStore(folder)
        try:
            progress = Progress(folder, on_figures)
            _count(store, plan, progress)
            stint = store.begin_stint(_stint(profiles))
            book = Book(
                store,
                progress,
                plan.devices,
                stint=stint,
                bad_percent=plan.bad_percent,
                floor_share=plan.floor_share,
            )
            stop = cancel or Stop()
            place = workplace or Here(folder, plan, stop)
            try:
                _collect(_Work(store, plan, place, book, progress, stop))
                progress.does("done")
            except Cancelled:
                progress.does("stopped")
            finally:
                place.end_chunk()
            return progress.figures()
        finally:
            store.close()


@dataclass(frozen=True, slots=True)
class _Work:
    """What the parts of a collection share."""

    store: CorpusStore
    plan: CollectPlan
    workplace: Workplace
    book: Book
    progress: Progress
    cancel: CancelToken


def _collect(work: _Work) -> None:
    plan = work.plan
    while chunk := next_chunk(work.store, plan):
        entered = work.book.entered
        _build(work, chunk)
        for why in ROUNDS:
            _time(work, chunk, why)
        work.workplace.end_chunk()
        if work.book.entered == entered:
            raise MeasureError("the collection does not get on: its devices answer nothing, see `kernelcast doctor`")


def _build(work: _Work, chunk: Chunk) -> None:
    """Everything due in a chunk, for each platform; what failed once more."""
    built: set[tuple[str, str]] = set()

    def on_built(device: CorpusDevice, kernel: CorpusKernel, outcome: object) -> None:
        if not isinstance(outcome, KernelcastError):
            built.add((device.device_id, kernel.id))
        work.book.built(device, kernel, outcome)

    for _ in range(BUILD_ROUNDS):
        due = []
        for device in _platforms(work.plan.devices):
            keys = [
                key
                for other in work.plan.devices
                if other.device_id == device.device_id
                for why in Why
                for key in due_in(work.store, work.plan, chunk, other, why)
                if (device.device_id, key.kernel_id) not in built
            ]
            if keys:
                due.append(_due_on(work, device, keys))
        if due:
            _stop_if_cancelled(work)
            work.progress.does("building")
            work.workplace.build(due, on_built)


def _time(work: _Work, chunk: Chunk, why: Why) -> None:
    """On each device in turn, so that a stop leaves them alike."""
    due = [(device, due_in(work.store, work.plan, chunk, device, why)) for device in work.plan.devices]
    found = [_due_on(work, device, keys) for device, keys in due if keys]
    if found:
        _stop_if_cancelled(work)
        work.progress.does(_DOING[why])
        work.workplace.time(found, work.book.built, work.book.timed)


def _due_on(work: _Work, device: CorpusDevice, keys: Sequence[RowKey]) -> DueOn:
    return DueOn(device, tuple(keys), work.store.kernels(list(dict.fromkeys(key.kernel_id for key in keys))))


def _stop_if_cancelled(work: _Work) -> None:
    if work.cancel.is_set():
        raise Cancelled("cancelled")


def _platforms(devices: Sequence[CorpusDevice]) -> list[CorpusDevice]:
    """Return one device for each OpenCL device."""
    return list({device.device_id: device for device in reversed(devices)}.values())[::-1]


def _count(store: CorpusStore, plan: CollectPlan, progress: Progress) -> None:
    names = [device.id for device in plan.devices]
    marks = ", ".join("?" * len(names))
    counted = f"FROM rows WHERE repeat = 0 AND device IN ({marks})"
    rows = store.count(f"SELECT count(*) {counted}", names)
    wanted = rows + sum(wanted_rows(store, plan, device) for device in plan.devices)
    kernels = {str(each) for (each,) in store.read(f"SELECT DISTINCT kernel_id {counted}", names)}
    given_up = store.count("SELECT count(*) FROM failures WHERE is_quarantined", ())
    progress.start(rows=rows, wanted_rows=wanted, kernels=kernels, given_up=given_up)


def _stint(profiles: Sequence[Device]) -> Stint:
    return Stint(
        number=0,
        began_at=datetime.now(UTC).isoformat(timespec="seconds"),
        kernelcast_version=version("kernelcast"),
        host=platform.node(),
        processors=os.cpu_count() or 1,
        devices=json.dumps([CONVERTER.unstructure(profile) for profile in profiles]),
    )


_DOING = {Why.NEW: "timing", Why.AGAIN: "timing what others disturbed", Why.FLOOR: "timing again for the noise floor"}
