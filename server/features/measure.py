"""Commands `kernelcast.measure` and `kernelcast.measureAll`: run kernels, and hold predictions against the truth."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lsprotocol import types

from model.errors import KernelcastError
from profiler.measurement import Cancelled, MeasureRequest
from server.device_access import device_here, device_work, must_be_trusted, unless_cancelled, wait_for_discovery
from server.features.arguments import error_answer, texts
from server.format import format_duration_us, format_percent
from server.jobs import OnProgress
from server.progress import ProgressBar
from server.render import error_percent, launch_title
from server.session import SETTLE_S, KernelcastServer
from server.snapshot import Failure, LaunchView, Snapshot

if TYPE_CHECKING:
    from profiler.measurement import Measurement

_FAILURES_TOLD = 3  # in a message; the hovers tell them all


async def measure(ls: KernelcastServer, params: types.ExecuteCommandParams) -> dict[str, Any]:
    """Arguments: document, kernel, and the launch's name or place if there are several.

    Answers with the figures, or with `{"error": {"code", "message"}}`, which the user has been shown.
    """
    uri, kernel, launch_name = texts(params, 3)
    title = f"Measuring {kernel or 'a kernel'}"
    bar = await ProgressBar.begin(ls, title, params.work_done_token)
    said = "not measured"
    try:
        snapshot = await _ready(ls, uri, bar)
        view = _launch_of(snapshot, kernel, launch_name)
        with ls.activities.during(title):
            outcome = await _run(ls, snapshot, view, bar.report, bar.cancel)
        said = _summary(view, outcome)
        return _answer(view, outcome)
    except Cancelled as error:
        said = "cancelled"
        return error_answer(error)
    except KernelcastError as error:
        ls.say(types.MessageType.Error, f"{kernel or 'The kernel'} was not measured: {error.message}")
        return error_answer(error)
    finally:
        bar.end(said)


async def measure_all(ls: KernelcastServer, params: types.ExecuteCommandParams) -> dict[str, Any]:
    """Argument: a document. All launches of all its kernels, one after the other, under one progress bar."""
    (uri,) = texts(params, 1)
    name = _file_name(uri)
    bar = await ProgressBar.begin(ls, f"Measuring {name}", params.work_done_token)
    tally = _Tally()
    said = "not measured"
    try:
        snapshot = await _ready(ls, uri, bar)
        views = _all_launches(snapshot)
        with ls.activities.during(f"Measuring {name}"):
            await _run_all(ls, snapshot, views, bar, tally)
        said = tally.summary(len(views))
        if tally.failed:
            ls.say(types.MessageType.Warning, f"{name}: {tally.complaint(len(views))}")
    except KernelcastError as error:
        if isinstance(error, Cancelled):  # while devices were looked for
            tally.cancelled, said = True, "cancelled"
            return tally.answer()
        ls.say(types.MessageType.Error, f"{name} was not measured: {error.message}")
        return error_answer(error)
    else:
        return tally.answer()
    finally:
        bar.end(said)


@dataclass
class _Tally:
    """What came of the launches so far."""

    measured: int = 0
    failed: list[dict[str, str]] = field(default_factory=list)
    cancelled: bool = False

    def answer(self) -> dict[str, Any]:
        return {"measured": self.measured, "failed": self.failed, "cancelled": self.cancelled}

    def summary(self, total: int) -> str:
        so_far = f"{self.measured} of {total} launches measured"
        return f"cancelled, {so_far}" if self.cancelled else so_far

    def complaint(self, total: int) -> str:
        told = [f"{each['kernel']} ({each['launch']}): {each['message']}" for each in self.failed[:_FAILURES_TOLD]]
        more = len(self.failed) - len(told)
        told += [f"and {more} more, whose hovers say why"] if more > 0 else []
        return f"{self.summary(total)}. Not measured: {'; '.join(told)}"


async def _run_all(
    ls: KernelcastServer, snapshot: Snapshot, views: list[LaunchView], bar: ProgressBar, tally: _Tally
) -> None:
    """Until all are measured or the user has had enough; a launch that fails costs only itself."""
    for place, view in enumerate(views):

        def tell(fraction: float, text: str, place: int = place, kernel: str = view.slot.kernel) -> None:
            bar.report((place + fraction) / len(views), f"{kernel} ({place + 1} of {len(views)}), {text}")

        try:
            await _run(ls, snapshot, view, tell, bar.cancel)
        except Cancelled:
            tally.cancelled = True
            return
        except KernelcastError as error:
            failed = {"kernel": view.slot.kernel, "launch": launch_title(view), "message": error.message}
            tally.failed.append(failed)
        else:
            tally.measured += 1


async def _ready(ls: KernelcastServer, uri: str, bar: ProgressBar) -> Snapshot:
    """The document as it is now, once it is known that its device is here and may be used."""
    must_be_trusted(ls)
    await wait_for_discovery(ls, bar)
    snapshot = await unless_cancelled(ls.settled(uri, SETTLE_S), bar)
    if snapshot is None:
        raise KernelcastError("the document is not open")
    device_here(ls, snapshot.device.id, snapshot.device.name)
    return snapshot


def _launch_of(snapshot: Snapshot, kernel: str, launch_name: str) -> LaunchView:
    view = next((view for view in snapshot.kernels if view.kernel.name == kernel), None)
    if view is None:
        raise KernelcastError(f"the document has no kernel {kernel!r}" if kernel else "no kernel was named")
    launches = [each for each in view.launches if not launch_name or each.slot.launch == launch_name]
    if not launches:
        raise KernelcastError(f"it has no launch `{launch_name}` any more")
    return launches[0]


def _all_launches(snapshot: Snapshot) -> list[LaunchView]:
    found = [launch for kernel in snapshot.kernels for launch in kernel.launches]
    if not found:
        raise KernelcastError("there is no kernel in it")
    return found


def _file_name(uri: str) -> str:
    return unquote(uri.rpartition("/")[2]) or "the document"


async def _run(
    ls: KernelcastServer, snapshot: Snapshot, view: LaunchView, on_progress: OnProgress, cancel: threading.Event
) -> Measurement:
    """Run it; success and failure are remembered beside the prediction."""
    launch, kernel = view.forecast.launch, view.forecast.kernel
    if launch is None:
        raise KernelcastError(view.forecast.problem.message if view.forecast.problem else "its launch is not known")
    document = snapshot.analysis.document
    request = MeasureRequest(
        source=document.text.value,
        path=str(document.path) if document.path else None,
        kernel=kernel,
        launch=launch,
        device_id=snapshot.device.id,
        budget_s=snapshot.settings.measure_budget_s,
    )
    if ls.jobs.is_full:
        raise KernelcastError("too many measurements are waiting already")
    work, limit_s = device_work().measure, snapshot.settings.measure_time_limit_s
    try:
        outcome = await ls.jobs.run(lambda tell, cancel: work(request, limit_s, tell, cancel), on_progress, cancel)
    except Cancelled:
        raise
    except KernelcastError as error:
        failure = Failure(kernel.fingerprint, launch.key, snapshot.device.id, error.message)
        ls.record(document.uri, snapshot.device.id, view.slot, failure)
        raise
    ls.record(document.uri, snapshot.device.id, view.slot, outcome)
    await _keep(ls, outcome, view, request.path)
    return outcome


async def _keep(ls: KernelcastServer, outcome: Measurement, view: LaunchView, path: str | None) -> None:
    """For later sessions; a measurement that cannot be kept is shown all the same."""
    prediction = view.forecast.prediction
    predicted_us = prediction.runtime_us.p50 if prediction else None
    keep = device_work().keep
    try:
        await ls.jobs.run(lambda *_: keep(outcome, predicted_us, path), lambda *_: None, threading.Event())
    except KernelcastError as error:
        ls.say(types.MessageType.Warning, f"The measurement is shown but not remembered: {error.message}")


def _answer(view: LaunchView, m: Measurement) -> dict[str, Any]:
    prediction = view.forecast.prediction
    return {
        "kernel": m.kernel,
        "launch": m.launch,
        "device": {"id": m.device_id, "name": m.device_name},
        "runtime_us": {"median": m.median_us, "p10": m.p10_us, "p90": m.p90_us, "ci95": list(m.ci95_us)},
        "repeats": m.repeats,
        "predicted_us": prediction.runtime_us.p50 if prediction else None,
        "error_percent": error_percent(prediction, m) if prediction else None,
    }


def _summary(view: LaunchView, m: Measurement) -> str:
    prediction = view.forecast.prediction
    took = f"{m.kernel}: {format_duration_us(m.median_us)}"
    if prediction is None:
        return took
    off = format_percent(error_percent(prediction, m), signed=True)
    return f"{took}, predicted {format_duration_us(prediction.runtime_us.p50)} ({off})"
