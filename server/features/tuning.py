"""Command `kernelcast.tune`: find a faster launch, and write it down if the user wants it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from model.errors import KernelcastError
from profiler.measurement import Cancelled
from server.client.progress import ProgressBar
from server.device_work.measuring import launch_of, ready
from server.device_work.preconditions import device_work
from server.features.arguments import error_answer, texts
from server.launch_view import LaunchView
from server.positions import IndexedText, position_of
from server.session import KernelcastServer
from server.snapshot import Snapshot
from server.text.escaping import message as as_message
from server.text_edits import workspace_edit

if TYPE_CHECKING:
    from server.device_work.orders import TuneOrder, TuneOutcome

WRITE = "Write this launch"


async def tune(ls: KernelcastServer, params: types.ExecuteCommandParams) -> dict[str, Any]:
    """Arguments: document, kernel, and the launch's name or place if there are several; without it the first.

    Answers as `kernelcast tune --format json`, with `written` beside, or with `{"error": {"code", "message"}}`, which
    the user has been shown.
    """
    uri, kernel, launch_name = texts(params, 3)
    title = f"Finding a faster launch of {kernel or 'a kernel'}"
    bar = await ProgressBar.begin(ls, title, params.work_done_token)
    said = "nothing found"
    try:
        snapshot = await ready(ls, uri, bar)
        view = launch_of(snapshot, kernel, launch_name)
        order = _order(snapshot, view)
        with ls.activities.during(title):
            outcome = await _searched(ls, order, bar)
        bar.commit(outcome.sentence)  # nothing was kept until here
        await _keep(ls, snapshot, view, outcome)
    except Cancelled as error:
        said = "cancelled"
        return error_answer(error)
    except KernelcastError as error:
        ls.say(types.MessageType.Error, f"No faster launch of {kernel or 'the kernel'} was looked for: {error.message}")
        return error_answer(error)
    finally:
        bar.end(said)
    return {**outcome.answer, "written": await _offered(ls, snapshot, order, outcome)}


async def _searched(ls: KernelcastServer, order: TuneOrder, bar: ProgressBar) -> TuneOutcome:
    if ls.jobs.is_full:
        raise KernelcastError("too many measurements are waiting already")
    work = device_work()
    return await ls.jobs.run(lambda tell, cancel: work.tune(order, tell, cancel), bar.report, bar.cancel)


def _order(snapshot: Snapshot, view: LaunchView) -> TuneOrder:
    """Return what to search. Raises KernelcastError where the launch is not known, or the document is no file."""
    document, forecast = snapshot.analysis.document, view.forecast
    if forecast.launch is None:
        raise KernelcastError(forecast.problem.message if forecast.problem else "its launch is not known")
    if document.path is None:
        raise KernelcastError("the document is not a file yet; save it first")
    kernel = next(each for each in snapshot.kernels if view in each.launches)
    return device_work().tune_order(
        text=document.text.value,
        path=document.path,
        forecast=forecast,
        number=list(kernel.launches).index(view),
        device=snapshot.device,
        options=snapshot.settings.options,
        limits_s=(snapshot.settings.measure_budget_s, snapshot.settings.measure_time_limit_s),
    )


async def _keep(ls: KernelcastServer, snapshot: Snapshot, view: LaunchView, outcome: TuneOutcome) -> None:
    """Show what the launch as it is took, and keep all measurements for later sessions."""
    work, path = device_work(), snapshot.analysis.document.path
    if outcome.baseline is not None:
        ls.record(snapshot.document.uri, snapshot.device.id, view.slot, outcome.baseline)
    ls.remember(work.run(m, launch, question, snapshot.document.uri) for m, launch, question, _ in outcome.measurements)
    entries = [(m, predicted_us, launch, question) for m, launch, question, predicted_us in outcome.measurements]
    try:
        await ls.jobs.run(lambda *_: work.keep(entries, str(path)), lambda *_: None, threading.Event())
    except KernelcastError as error:
        ls.say(types.MessageType.Warning, f"The measurements are shown but not remembered: {error.message}")


async def _offered(ls: KernelcastServer, snapshot: Snapshot, order: TuneOrder, outcome: TuneOutcome) -> bool:
    """Tell what came of it, with a button that writes the winner; return whether it was written."""
    info = types.MessageType.Info
    if not outcome.replacements or not ls.supports.apply_edit:
        ls.say(info, f"{outcome.sentence}{f'. {outcome.problem}' if outcome.problem else ''}")
        return False
    actions = [types.MessageActionItem(WRITE)]
    request = types.ShowMessageRequestParams(info, as_message(outcome.sentence), actions)
    try:
        picked = await ls.window_show_message_request_async(request)
    except JsonRpcException:  # this editor shows no questions
        ls.say(info, outcome.sentence)
        return False
    if picked is None or picked.title != WRITE:
        return False
    try:
        edit = _edit(ls, snapshot, order, outcome)
        answer = await ls.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, "Write the faster launch"))
    except JsonRpcException as error:
        ls.say(types.MessageType.Error, f"The editor did not write the launch: {error}")
        return False
    except KernelcastError as error:
        ls.say(types.MessageType.Error, error.message)
        return False
    return answer.applied


def _edit(ls: KernelcastServer, snapshot: Snapshot, order: TuneOrder, outcome: TuneOutcome) -> types.WorkspaceEdit:
    """Return the edit of the document, or of `kernelcast.toml`. Raises KernelcastError if the document has changed."""
    assert outcome.file is not None
    text = IndexedText.of(outcome.file_text)
    edits = [
        types.TextEdit(
            types.Range(position_of(text, one.start, snapshot.encoding), position_of(text, one.end, snapshot.encoding)),
            one.text,
        )
        for one in outcome.replacements
    ]
    if outcome.file != order.path:
        return types.WorkspaceEdit(changes={outcome.file.as_uri(): edits})
    document = ls.document(snapshot.document.uri)
    if document is None or document.text.value != order.text:
        raise KernelcastError("the text has changed meanwhile, so the launch was not written; search again")
    return workspace_edit(document, edits, versioned=ls.supports.versioned_edits)
