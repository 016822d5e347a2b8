"""Commands `kernelcast.listFixes` and `applyAndMeasure`: a fix stays only if it proves faster, with equal results."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from model.errors import KernelcastError
from profiler.measurement import Cancelled, MeasureRequest
from server.client.progress import ProgressBar
from server.device_work.measuring import launch_of, ready
from server.device_work.preconditions import device_work, unless_cancelled
from server.features.arguments import error_answer, texts
from server.session import SETTLE_S, KernelcastServer
from server.snapshot import Snapshot
from server.text.fixes import Proof, fix_title, proof_of
from server.text_edits import text_edits, workspace_edit

if TYPE_CHECKING:
    from profiler.side_by_side import SideBySide
    from server.analysis.fix_gains import PredictedFix

_KEEP, _REVERT = "Keep", "Revert"
_ARRIVAL_S = 2.0  # for an edit that the client says it has made
_LOOK_S = 0.02


async def list_fixes(ls: KernelcastServer, params: types.ExecuteCommandParams) -> list[dict[str, Any]]:
    """Arguments: document, kernel, and the launch's name or place. The fixes of that launch, for menus of the client's.

    `code` and `title` are what `applyAndMeasure` takes; `label` has the predicted gain beside. Raises KernelcastError.
    """
    uri, kernel, launch_name = texts(params, 3)
    snapshot = await ls.settled(uri, SETTLE_S)
    if snapshot is None:
        raise KernelcastError("the document is not open")
    view = launch_of(snapshot, kernel, launch_name)
    found = await ls.fixes.of(snapshot, view, None)
    return [
        {
            "launch": view.slot.launch,
            "code": str(each.fix.code),
            "title": each.fix.title,
            "label": fix_title(each),
            "promise": each.fix.promise,
            "measurable": snapshot.can_run and ls.supports.apply_edit,
        }
        for each in found
    ]


async def apply_and_measure(ls: KernelcastServer, params: types.ExecuteCommandParams) -> dict[str, Any]:
    """Arguments: document, kernel, launch, code and title of a fix, as code actions name them.

    Edits the document, measures the launch before and after in turns, and compares all outputs. Both measurements are
    kept. The edit is taken back where it is not faster beyond noise or changes results beyond the tolerance, and after
    a failure or a cancel; else the user is asked. Answers with the figures and `kept`, or with
    `{"error": {"code", "message"}}`, which the user has been shown.
    """
    uri, kernel, launch_name, code, title = texts(params, 5)
    bar = await ProgressBar.begin(ls, f"Measuring {kernel or 'a kernel'} before and after", params.work_done_token)
    said = "not measured"
    try:
        _must_edit(ls)
        snapshot = await ready(ls, uri, bar)
        fix = await unless_cancelled(_wanted(ls, snapshot, (kernel, launch_name, code, title)), bar)
        await _edit(ls, snapshot.document.uri, snapshot.document.text.value, fix.text, title)
        try:
            with ls.activities.during(f"Measuring {kernel} before and after"):
                side = await _measured(ls, snapshot, fix, bar)
            proof = proof_of(side, snapshot.settings.tolerance_ulps)
            bar.commit(proof.text)  # nothing was kept until here
            await _keep(ls, snapshot, fix, side)
        except BaseException:
            await _take_back(ls, uri, snapshot, fix)
            raise
    except Cancelled as error:
        said = "cancelled"
        return error_answer(error)
    except KernelcastError as error:
        ls.say(types.MessageType.Error, f"{title or 'The fix'} was not measured: {error.message}")
        return error_answer(error)
    finally:
        bar.end(said)
    kept = await _decided(ls, uri, snapshot, fix, proof)
    return {"kernel": kernel, "code": code, **proof.as_json(), "kept": kept}


def _must_edit(ls: KernelcastServer) -> None:
    if not ls.supports.apply_edit:
        raise KernelcastError("this editor lets no server edit a file")


async def _wanted(ls: KernelcastServer, snapshot: Snapshot, named: tuple[str, str, str, str]) -> PredictedFix:
    kernel, launch_name, code, title = named
    view = launch_of(snapshot, kernel, launch_name)
    found = await ls.fixes.of(snapshot, view, None)
    fix = next((each for each in found if each.fix.code == code and each.fix.title == title), None)
    if fix is None:
        raise KernelcastError("the text has changed, so the fix no longer applies")
    return fix


async def _measured(ls: KernelcastServer, snapshot: Snapshot, fix: PredictedFix, bar: ProgressBar) -> SideBySide:
    settings, device = snapshot.settings, snapshot.device
    path = str(snapshot.document.path) if snapshot.document.path else None
    versions = [
        MeasureRequest(text, path, forecast.kernel, forecast.launch, device.id)
        for text, forecast in zip(fix.sources, (fix.before, fix.after), strict=True)
        if forecast.launch is not None
    ]
    if ls.jobs.is_full:
        raise KernelcastError("too many measurements are waiting already")
    work = device_work()

    def run(tell: Any, cancel: threading.Event) -> Any:  # noqa: ANN401
        return work.side_by_side(versions, settings.measure_budget_s, settings.measure_time_limit_s, tell, cancel)

    side: SideBySide = await ls.jobs.run(run, bar.report, bar.cancel)
    if side.was_cancelled:
        raise Cancelled("cancelled")
    return side


async def _keep(ls: KernelcastServer, snapshot: Snapshot, fix: PredictedFix, side: SideBySide) -> None:
    """Show both measurements, and keep them for later sessions, as those of `kernelcast.measure`."""
    work, document = device_work(), snapshot.document
    done = [
        (version.measurement, forecast.prediction.own_us.p50, forecast.launch, work.asked(forecast))
        for version, forecast in zip(side.versions, (fix.before, fix.after), strict=True)
        if version.measurement is not None and forecast.launch is not None and forecast.prediction is not None
    ]
    if not done:
        return
    ls.remember(work.run(m, launch, question, document.uri) for m, _, launch, question in done)
    path = str(document.path) if document.path else None
    try:
        await ls.jobs.run(lambda *_: work.keep(done, path), lambda *_: None, threading.Event())
    except KernelcastError as error:
        ls.say(types.MessageType.Warning, f"The measurements are shown but not remembered: {error.message}")


async def _decided(ls: KernelcastServer, uri: str, snapshot: Snapshot, fix: PredictedFix, proof: Proof) -> bool:
    """Return whether the edit stays, as the figures and then the user have it."""
    title = fix.fix.title
    if not proof.is_kept:
        back = await _take_back(ls, uri, snapshot, fix)
        ls.say(types.MessageType.Info, f"{title}: {proof.text}; {back}.")
        return False
    promise = f" Right only if {fix.fix.promise}." if fix.fix.promise else ""
    request = types.ShowMessageRequestParams(
        type=types.MessageType.Info,
        message=f"{title}: {proof.text}.{promise}",
        actions=[types.MessageActionItem(_KEEP), types.MessageActionItem(_REVERT)],
    )
    try:
        picked = await ls.window_show_message_request_async(request)
    except JsonRpcException:  # a client without questions: it has undo
        ls.say(types.MessageType.Info, request.message)
        return True
    if picked is None or picked.title != _REVERT:
        return True
    await _take_back(ls, uri, snapshot, fix)
    return False


async def _take_back(ls: KernelcastServer, uri: str, snapshot: Snapshot, fix: PredictedFix) -> str:
    """Undo the edit, unless the text has changed since. Return what became of it, in words."""
    if not await _has_arrived(ls, uri, fix.text):
        ls.say(types.MessageType.Warning, f"{fix.fix.title}: the text has changed since, so it was not taken back")
        return "not taken back"
    await _edit(ls, uri, fix.text, snapshot.document.text.value, f"Revert: {fix.fix.title}")
    return "taken back"


async def _has_arrived(ls: KernelcastServer, uri: str, text: str) -> bool:
    """Return whether the document is `text`: clients may say that they made an edit before they tell the edit."""
    deadline = asyncio.get_running_loop().time() + _ARRIVAL_S
    while asyncio.get_running_loop().time() < deadline:
        document = ls.document(uri)
        if document is None or document.text.value == text:
            return document is not None
        await asyncio.sleep(_LOOK_S)
    return False


async def _edit(ls: KernelcastServer, uri: str, before: str, after: str, label: str) -> None:
    """Have the client turn one text into the other. Raises KernelcastError if it does not."""
    document = ls.document(uri)
    if document is None or document.text.value != before:
        raise KernelcastError("the text has changed meanwhile; try again")
    edit = workspace_edit(
        document, text_edits(document.text, after, ls.encoding), versioned=ls.supports.versioned_edits
    )
    try:
        answer = await ls.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit=edit, label=label))
    except JsonRpcException as error:
        raise KernelcastError(f"the editor did not make the edit: {error}") from None
    if not answer.applied:
        raise KernelcastError("the editor did not make the edit")
