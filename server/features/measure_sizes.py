"""Command `kernelcast.measureSizes`: run a kernel at several sizes, to predict its other sizes through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from model.errors import KernelcastError
from profiler.measurement import Cancelled, MeasureError, Measurement
from server.background import in_background
from server.client.progress import ProgressBar
from server.device_work.measuring import Outcome, Planned, launch_of, planned, ready, run_all
from server.device_work.preconditions import device_work
from server.features.arguments import error_answer, texts
from server.launch_view import LaunchView
from server.session import KernelcastServer
from server.snapshot import Snapshot
from server.text.measured import fit_json, fit_sentence, measured_json

if TYPE_CHECKING:
    from model.fit import Fit
    from model.sizes_to_measure import SizeChoice


async def measure_sizes(ls: KernelcastServer, params: types.ExecuteCommandParams) -> dict[str, Any]:
    """Arguments: document, kernel, and the launch's name or place if there are several; without it the first.

    Answers with the figures of each size and with the line through them, or with `{"error": {"code", "message"}}`,
    which the user has been shown.
    """
    uri, kernel, launch_name = texts(params, 3)
    title = f"Measuring {kernel or 'a kernel'} at several sizes"
    bar = await ProgressBar.begin(ls, title, params.work_done_token)
    said = "not measured"
    try:
        snapshot = await ready(ls, uri, bar)
        view = launch_of(snapshot, kernel, launch_name)
        wanted, problem = await _sizes(snapshot, view)
        with ls.activities.during(title):
            outcomes = await run_all(ls, snapshot, wanted, bar.report, bar.cancel)
        said, answer = await _told(ls, snapshot, view, wanted, outcomes, problem)
    except Cancelled as error:
        said = "cancelled"
        return error_answer(error)
    except KernelcastError as error:
        ls.say(types.MessageType.Error, f"{kernel or 'The kernel'} was not measured: {error.message}")
        return error_answer(error)
    else:
        return answer
    finally:
        bar.end(said)


async def _sizes(snapshot: Snapshot, view: LaunchView) -> tuple[list[Planned], str]:
    """Return the launches to run, and, if it is the given launch alone, why.

    Launches that the document has keep their slots.
    """
    own, work, device = planned(view), device_work(), snapshot.device
    forecast = view.forecast

    def find() -> tuple[SizeChoice, list[bytes]]:
        choice = work.sizes(forecast, device)
        return choice, [work.asked_at(forecast, launch, device) for launch in choice.launches]

    choice, asked = await in_background(find, "sizes")
    kernel = next(each for each in snapshot.kernels if view in each.launches)
    written = {v.forecast.launch.key: v for v in kernel.launches if v.forecast.launch is not None}
    wanted = [
        planned(written[launch.key])
        if launch.key in written
        else Planned(own.kernel, launch, question=question, source=own.source)
        for launch, question in zip(choice.launches, asked, strict=True)
    ]
    return wanted, choice.problem


async def _told(
    ls: KernelcastServer,
    snapshot: Snapshot,
    view: LaunchView,
    wanted: Sequence[Planned],
    outcomes: Sequence[Outcome],
    problem: str,
) -> tuple[str, dict[str, Any]]:
    """Return the result in short and in full. Raises the failure if nothing was measured."""
    done = [(one, m) for one, m in zip(wanted, outcomes, strict=True) if isinstance(m, Measurement)]
    errors = [(one, e) for one, e in zip(wanted, outcomes, strict=True) if isinstance(e, MeasureError)]
    if not done:
        raise errors[0][1]
    cancelled = any(isinstance(e, Cancelled) for _, e in errors)
    failed = [(one, e) for one, e in errors if not isinstance(e, Cancelled)]
    work, device = device_work(), snapshot.device
    runs = [work.run(m, one.launch, one.question, snapshot.document.uri) for one, m in done]
    line = await in_background(lambda: work.fit(view.forecast, runs, device), "fit")
    name = view.slot.kernel
    if failed:
        one, error = failed[0]
        ls.say(types.MessageType.Warning, f"{name} was not measured at {one.launch.describe()}: {error.message}")
    if problem:
        ls.say(types.MessageType.Info, f"{name} was measured at one size only: {problem}")
    return _summary(name, len(done), len(wanted), line, cancelled), {
        "kernel": name,
        "device": {"id": device.id, "name": device.name},
        "sizes": [_size(one, m) for one, m in done],
        "fit": fit_json(line) if line else None,
        "failed": [{"launch": one.launch.describe(), "code": e.code, "message": e.message} for one, e in failed],
        "cancelled": cancelled,
    }


def _size(one: Planned, m: Measurement) -> dict[str, Any]:
    return {"launch": m.launch, "work_items": one.launch.work_items, **measured_json(m)}


def _summary(kernel: str, measured: int, wanted: int, line: Fit | None, cancelled: bool) -> str:
    sizes = f"{measured} of {wanted} sizes measured" if measured < wanted else f"{measured} sizes measured"
    said = f"{kernel}: {sizes}" + (f"; {fit_sentence(line)}" if line else "")
    return f"cancelled, {said}" if cancelled else said
