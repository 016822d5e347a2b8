"""Commands `kernelcast.calibrate` and `learn`: what a device sustains, and how kernels fare on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from model.errors import KernelcastError
from profiler.measurement import Cancelled
from server.client.progress import ProgressBar
from server.device_work.preconditions import device_here, device_work, must_be_trusted, wait_for_discovery
from server.features.arguments import error_answer, texts
from server.log.events import event
from server.session import KernelcastServer
from server.text.format import shown_name

if TYPE_CHECKING:
    from model.device import Device
    from server.device_work.work import Learned

LEARNED_MINUTES = 10.0  # it goes on where the last call ended, and can be cancelled at any time
_CALIBRATING = 0.4  # the share of the time that comes before kernels are measured

Answer = dict[str, Any]
Work = Callable[["Device", ProgressBar], Awaitable[tuple[Answer, str]]]


async def calibrate(ls: KernelcastServer, params: types.ExecuteCommandParams) -> Answer:
    """Argument: a device id of this machine; without one, the device that documents are predicted for.

    Cancelled while kernels are measured, it keeps the calibration and what was measured.
    """

    async def work(device: Device, bar: ProgressBar) -> tuple[Answer, str]:
        job = device_work().calibrate
        with ls.activities.during(f"Calibrating {shown_name(device.name)}"):
            profile = await ls.jobs.run(
                lambda tell, cancel: job(device, tell, cancel),
                lambda fraction, text: bar.report(_CALIBRATING * fraction, text),
                bar.cancel,
            )
            ls.found_devices = tuple(profile if d.id == profile.id else d for d in ls.found_devices)
            ls.analyse_all()
            learned = await _learned(ls, profile, bar, _CALIBRATING, None)
        if learned.is_mostly_disturbed:
            ls.say(types.MessageType.Warning, f"{profile.name}: {learned.text}.")
        answer = {"device": profile.id, "kernels": learned.kernels, "disturbed": learned.disturbed}
        return answer, f"{profile.name} is calibrated; {learned.text}"

    return await _done(ls, params, "Calibrating", "Calibration failed", work)


async def learn(ls: KernelcastServer, params: types.ExecuteCommandParams) -> Answer:
    """Argument as of `calibrate`. What is measured is kept; a later call goes on. Ends with figures in a message."""

    async def work(device: Device, bar: ProgressBar) -> tuple[Answer, str]:
        with ls.activities.during(f"Learning {shown_name(device.name)}"):
            found = await _learned(ls, device, bar, 0.0, LEARNED_MINUTES)
        figures = "".join(f"; {each}" for each in found.figures)
        kind = types.MessageType.Warning if found.is_mostly_disturbed else types.MessageType.Info
        ls.say(kind, f"{shown_name(device.name)}: {found.text}{figures}.")
        answer: Answer = {"device": device.id, "kernels": found.kernels, "launches": found.launches}
        return {**answer, "disturbed": found.disturbed, "figures": list(found.figures)}, found.text

    return await _done(ls, params, "Learning", "Nothing was learned", work)


async def _done(
    ls: KernelcastServer, params: types.ExecuteCommandParams, doing: str, failed: str, work: Work
) -> Answer:
    (device_id,) = texts(params, 1)
    bar = await ProgressBar.begin(ls, f"{doing} {device_id or 'the device'}", params.work_done_token)
    said = failed.lower()
    try:
        must_be_trusted(ls)
        await wait_for_discovery(ls, bar)
        answer, said = await work(device_here(ls, device_id or _best(ls)), bar)
    except Cancelled as error:
        said = "cancelled"
        return error_answer(error)
    except KernelcastError as error:
        ls.say(types.MessageType.Error, f"{failed}: {error.message}")
        return error_answer(error)
    else:
        return answer
    finally:
        bar.end(said)


async def _learned(
    ls: KernelcastServer, device: Device, bar: ProgressBar, before: float, minutes: float | None
) -> Learned:
    """Learn the device for `minutes`; None: as part of a calibration. `before` is the progress already made."""
    job = device_work().learn
    found = await ls.jobs.run(
        lambda tell, cancel: job(device, minutes, tell, cancel, ls.jobs),
        lambda fraction, text: bar.report(before + (1 - before) * fraction, text),
        bar.cancel,
        is_patient=True,
    )
    event("learned", device=device.id, kernels=found.kernels, launches=found.launches)
    ls.read_store_anew()
    return found


def _best(ls: KernelcastServer) -> str:
    best = max(ls.found_devices, key=lambda device: device.rates.fp32_gflop_s, default=None)
    return ls.chosen_device or ls.settings.everywhere.device or (best.id if best else "")
