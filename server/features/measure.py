"""Commands `kernelcast.measure` and `kernelcast.measureAll`: run kernels, and hold predictions against the truth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lsprotocol import types

from model.errors import KernelcastError
from profiler.measurement import Cancelled
from server.client.progress import ProgressBar
from server.device_work.measuring import launch_of, ready, run
from server.features.arguments import error_answer, texts
from server.launch_view import LaunchView
from server.session import KernelcastServer
from server.snapshot import Snapshot
from server.text.format import format_duration_us, format_percent
from server.text.hint import error_percent, launch_title
from server.text.measured import measured_json

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
        snapshot = await ready(ls, uri, bar)
        view = launch_of(snapshot, kernel, launch_name)
        with ls.activities.during(title):
            outcome = await run(ls, snapshot, view, bar.report, bar.cancel)
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
        snapshot = await ready(ls, uri, bar)
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
    """Counts the outcomes of launches."""

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
    """Measure until all are done or the user cancels; a launch that fails costs only itself."""
    for place, view in enumerate(views):

        def tell(fraction: float, text: str, place: int = place, kernel: str = view.slot.kernel) -> None:
            bar.report((place + fraction) / len(views), f"{kernel} ({place + 1} of {len(views)}), {text}")

        try:
            await run(ls, snapshot, view, tell, bar.cancel)
        except Cancelled:
            tally.cancelled = True
            return
        except KernelcastError as error:
            failed = {"kernel": view.slot.kernel, "launch": launch_title(view), "message": error.message}
            tally.failed.append(failed)
        else:
            tally.measured += 1


def _all_launches(snapshot: Snapshot) -> list[LaunchView]:
    found = [launch for kernel in snapshot.kernels for launch in kernel.launches]
    if not found:
        raise KernelcastError("there is no kernel in it")
    return found


def _file_name(uri: str) -> str:
    return unquote(uri.rpartition("/")[2]) or "the document"


def _answer(view: LaunchView, m: Measurement) -> dict[str, Any]:
    prediction = view.forecast.prediction
    return {
        "kernel": m.kernel,
        "launch": m.launch,
        "device": {"id": m.device_id, "name": m.device_name},
        **measured_json(m),
        "predicted_us": prediction.own_us.p50 if prediction else None,
        "error_percent": error_percent(prediction, m) if prediction else None,
    }


def _summary(view: LaunchView, m: Measurement) -> str:
    prediction = view.forecast.prediction
    took = f"{m.kernel}: {format_duration_us(m.median_us)}"
    if prediction is None:
        return took
    off = format_percent(error_percent(prediction, m), signed=True)
    return f"{took}, predicted {format_duration_us(prediction.own_us.p50)} ({off})"
