"""Command `kernelcast.measure`: run a kernel on the device, and hold the prediction against the truth."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from model.errors import KernelcastError
from profiler.measurement import Cancelled, MeasureRequest
from server.device_access import device_here, device_work, must_be_trusted, unless_cancelled, wait_for_discovery
from server.features.arguments import error_answer, texts
from server.format import format_duration_us, format_percent
from server.progress import ProgressBar
from server.render import error_percent
from server.session import KernelcastServer
from server.snapshot import Failure, LaunchView, Snapshot

if TYPE_CHECKING:
    from profiler.measurement import Measurement

_SETTLE_S = 30.0  # for an analysis that is under way when the command comes


async def measure(ls: KernelcastServer, params: types.ExecuteCommandParams) -> dict[str, Any]:
    """Arguments: document, kernel, and the launch's name or place if there are several.

    Answers with the figures, or with `{"error": {"code", "message"}}`, which the user has been shown.
    """
    uri, kernel, launch_name = texts(params, 3)
    bar = await ProgressBar.begin(ls, f"Measuring {kernel}", params.work_done_token)
    said = "not measured"
    try:
        snapshot, view = await _launch_to_measure(ls, uri, kernel, launch_name, bar)
        outcome = await _measured(ls, snapshot, view, bar)
        said = _summary(view, outcome)
        return _answer(view, outcome)
    except Cancelled as error:
        said = "cancelled"
        return error_answer(error)
    except KernelcastError as error:
        ls.say(types.MessageType.Error, f"{kernel} was not measured: {error.message}")
        return error_answer(error)
    finally:
        bar.end(said)


async def _launch_to_measure(
    ls: KernelcastServer, uri: str, kernel: str, launch_name: str, bar: ProgressBar
) -> tuple[Snapshot, LaunchView]:
    must_be_trusted(ls)
    await wait_for_discovery(ls, bar)
    snapshot = await unless_cancelled(ls.settled(uri, _SETTLE_S), bar)
    if snapshot is None:
        raise KernelcastError("the document is not open")
    device_here(ls, snapshot.device.id, snapshot.device.name)
    view = next((view for view in snapshot.kernels if view.kernel.name == kernel), None)
    if view is None:
        raise KernelcastError("the document has no kernel of that name any more")
    launches = [each for each in view.launches if not launch_name or each.slot.launch == launch_name]
    if not launches:
        raise KernelcastError(f"it has no launch `{launch_name}` any more")
    if launches[0].forecast.launch is None:
        problem = launches[0].forecast.problem
        raise KernelcastError(problem.message if problem else "its launch is not known")
    return snapshot, launches[0]


async def _measured(ls: KernelcastServer, snapshot: Snapshot, view: LaunchView, bar: ProgressBar) -> Measurement:
    """Run it; success and failure are remembered beside the prediction."""
    launch, kernel = view.forecast.launch, view.forecast.kernel
    assert launch is not None
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
        outcome = await ls.jobs.run(lambda tell, cancel: work(request, limit_s, tell, cancel), bar.report, bar.cancel)
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
