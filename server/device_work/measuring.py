"""Shared steps of commands that run kernels: find the launch, run it, keep the result."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprotocol import types

from model.errors import KernelcastError
from model.launch.driver_choice import on_device
from model.opencl.include_policy import OUT_OF_REACH
from profiler.measurement import Cancelled, MeasureError, Measurement, MeasureRequest
from server.client.progress import ProgressBar
from server.device_work.jobs import OnProgress
from server.device_work.preconditions import (
    device_here,
    device_work,
    must_be_trusted,
    unless_cancelled,
    wait_for_discovery,
)
from server.launch_view import Failure, LaunchView, Slot
from server.log.events import document_name, event, milliseconds, native_output
from server.log.timings import Phases, Watch
from server.session import SETTLE_S, KernelcastServer
from server.snapshot import Snapshot

if TYPE_CHECKING:
    from model.device import Device
    from model.launch.launch import Launch
    from model.opencl.kernel import Kernel
    from server.documents import Document

Outcome = Measurement | MeasureError
ANSWER_S = 10.0  # for the learned model's answers, the loading of its weights included


@dataclass(frozen=True, slots=True)
class Planned:
    """A launch to be run. `slot` is where it stands in the document, None for a size that stands nowhere."""

    kernel: Kernel
    launch: Launch
    predicted_us: float | None = None
    slot: Slot | None = None
    question: bytes = b""  # what the learned model was asked, packed
    source: str | None = None  # of its program, where that is not the document


async def ready(ls: KernelcastServer, uri: str, bar: ProgressBar) -> Snapshot:
    """Return the document as it is now, once it is known that its device is here and may be used."""
    must_be_trusted(ls)
    await wait_for_discovery(ls, bar)
    await unless_cancelled(ls.settled(uri, SETTLE_S), bar)
    # What was predicted is kept beside what is measured: it had better be about this very kernel.
    snapshot = await unless_cancelled(ls.settled(uri, ANSWER_S, answered=True), bar)
    if snapshot is None:
        raise KernelcastError("the document is not open")
    device_here(ls, snapshot.device.id, snapshot.device.name)
    _must_stay_inside(snapshot)
    return snapshot


def _must_stay_inside(snapshot: Snapshot) -> None:
    """Raise KernelcastError if the kernel includes files that may not be read.

    A driver would read them and quote them in its messages.
    """
    forecast, reach = snapshot.analysis.forecast, snapshot.analysis.reach
    if reach is None:
        return
    said = next((problem.message for problem in forecast.problems if OUT_OF_REACH in problem.message), "")
    folders = (d for f in forecast.forecasts if f.launch is not None for d in f.launch.options.include_dirs)
    outside = next((folder for folder in folders if not reach.holds(folder)), "")
    if said or outside:
        what = said or f"the include folder `{outside}` {OUT_OF_REACH}"
        raise KernelcastError(f"{what}; to measure it all the same, set `trusted` in `initializationOptions` to true")


def launch_of(snapshot: Snapshot, kernel: str, launch_name: str) -> LaunchView:
    """Return the launch of that name or place; without one the kernel's first. Raises KernelcastError."""
    view = next((view for view in snapshot.kernels if view.key == kernel), None)
    if view is None:
        raise KernelcastError(f"the document has no kernel {kernel!r}" if kernel else "no kernel was named")
    launches = [each for each in view.launches if not launch_name or each.slot.launch == launch_name]
    if not launches:
        raise KernelcastError(f"it no longer has a launch `{launch_name}`")
    return launches[0]


def planned(view: LaunchView) -> Planned:
    """Return the measurement to make for a launch. Raises KernelcastError where the launch is not known."""
    forecast = view.forecast
    if forecast.launch is None:
        raise KernelcastError(forecast.problem.message if forecast.problem else "its launch is not known")
    predicted_us = forecast.prediction.own_us.p50 if forecast.prediction else None
    asked = device_work().asked(forecast)
    source = forecast.home.text if forecast.home is not None else None
    _, kernel = forecast.compiled_from("")
    return Planned(kernel, forecast.launch, predicted_us, view.slot, asked, source)


async def run(
    ls: KernelcastServer, snapshot: Snapshot, view: LaunchView, on_progress: OnProgress, cancel: threading.Event
) -> Measurement:
    """Run one launch; success and failure are remembered beside the prediction. Raises MeasureError."""
    (outcome,) = await run_all(ls, snapshot, [planned(view)], on_progress, cancel)
    if isinstance(outcome, MeasureError):
        raise outcome
    return outcome


async def run_all(
    ls: KernelcastServer,
    snapshot: Snapshot,
    wanted: Sequence[Planned],
    on_progress: OnProgress,
    cancel: threading.Event,
    *,
    budget_s: float | None = None,
) -> tuple[Outcome, ...]:
    """Run several in one device process, if they let it; one outcome for each. `budget_s` is for each, None as set."""
    document, settings, device = snapshot.analysis.document, snapshot.settings, snapshot.device
    path = str(document.path) if document.path else None
    requests = [
        MeasureRequest(
            _source(one, document), path, one.kernel, one.launch, device.id, budget_s or settings.measure_budget_s
        )
        for one in wanted
    ]
    if ls.jobs.is_full:
        raise KernelcastError("too many measurements are waiting already")
    work, limit_s = device_work(), settings.measure_time_limit_s
    watch = Watch(ls.timings)
    phases = Phases(watch)

    def tell_on(fraction: float, text: str) -> None:
        phases.hear(text)
        on_progress(fraction, text)

    with watch.whole("measure"):
        try:
            outcomes = await ls.jobs.run(
                lambda tell, cancel: work.measure_all(requests, device.driver, limit_s, tell, cancel), tell_on, cancel
            )
        finally:
            phases.end()
    _log(document.uri, device, outcomes, watch)
    for one, outcome in zip(wanted, outcomes, strict=True):
        _record(ls, document.uri, device.id, one, outcome)
    done = [(one, m) for one, m in zip(wanted, outcomes, strict=True) if isinstance(m, Measurement)]
    if done:
        ls.remember(work.run(m, one.launch, one.question, document.uri) for one, m in done)
        await _keep(ls, done, path)
        _compile_later(ls, [one for one, _ in done], document, path, device)
    return outcomes


def _log(uri: str, device: Device, outcomes: Sequence[Outcome], watch: Watch) -> None:
    failures = [each for each in outcomes if isinstance(each, MeasureError)]
    event(
        "measured",
        document=document_name(uri),
        device=device.id,
        launches=len(outcomes),
        failures=[each.code for each in failures],
        source={"messages": "; ".join(each.message for each in failures)},
        ms={stage: milliseconds(each_s) for stage, each_s in watch.laps_s.items()},
    )
    for each in failures:
        native_output("device", each.log)


def _source(one: Planned, document: Document) -> str:
    return document.text.value if one.source is None else one.source


def _compile_later(
    ls: KernelcastServer, done: Sequence[Planned], document: Document, path: str | None, device: Device
) -> None:
    work = device_work()
    orders = [
        work.compile_request(_source(one, document), path, one.kernel, on_device(one.launch, device), device.id)
        for one in done
    ]
    ls.compiles.want(orders, lambda orders, cancel: work.compile(orders, device.driver, cancel))


def _record(ls: KernelcastServer, uri: str, device_id: str, one: Planned, outcome: Outcome) -> None:
    if one.slot is None or isinstance(outcome, Cancelled):
        return
    if isinstance(outcome, MeasureError):
        failure = Failure(one.kernel.fingerprint, one.launch.key, device_id, outcome.message)
        ls.record(uri, device_id, one.slot, failure)
    else:
        ls.record(uri, device_id, one.slot, outcome)


async def _keep(ls: KernelcastServer, done: Sequence[tuple[Planned, Measurement]], path: str | None) -> None:
    """Keep measurements for later sessions; one that cannot be kept is still shown."""
    keep = device_work().keep
    entries = [(m, one.predicted_us, one.launch, one.question) for one, m in done]
    try:
        await ls.jobs.run(lambda *_: keep(entries, path), lambda *_: None, threading.Event())
    except KernelcastError as error:
        ls.say(types.MessageType.Warning, f"The measurement is shown but not remembered: {error.message}")
