"""Commands `kernelcast.chooseDevice`, `listDevices` and `compareDevices`, and the discovery that all rest upon."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from model.errors import KernelcastError
from profiler.measurement import Cancelled, MeasureError
from server.analysis.devices import pick_device, pick_others, unknown_compared_message
from server.device_work.measuring import launch_of
from server.device_work.preconditions import device_work
from server.features.arguments import error_answer, texts
from server.log.events import event, native_output
from server.session import SETTLE_S, KernelcastServer
from server.text.devices import device_json, devices_table
from server.text.format import shown_name
from server.text.hint import launch_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model.device import Device

# Editors show the answers as buttons: the devices known by their datasheets alone would fill the screen.
_AUTO = "auto"
_OTHER = "Another device, for predictions only ..."


class CannotAsk(KernelcastError):
    """The client does not show questions, whatever its capabilities say: some of them answer with an error."""


async def discover_devices(ls: KernelcastServer) -> None:
    """Ask the drivers, beside everything else. No device is no error until somebody wants to measure."""
    with ls.activities.during("Looking for devices"):
        await _discover(ls)
        ls.analyse_all()


async def _discover(ls: KernelcastServer) -> None:
    try:
        with ls.timings.during("look for devices"):
            ls.found_devices = await ls.jobs.run(
                lambda _tell, cancel: device_work().discover(cancel), lambda *_: None, threading.Event()
            )
        event("devices found", devices=[device.id for device in ls.found_devices])
    except Cancelled:
        return
    except KernelcastError as error:
        ls.no_devices_because = error.message
        event("no device found", because=error.message)
        if isinstance(error, MeasureError):
            native_output("device", error.log)
        ls.window_log_message(types.LogMessageParams(type=types.MessageType.Info, message=error.message))
    finally:
        ls.discovered.set()


async def choose_device(ls: KernelcastServer, params: types.ExecuteCommandParams) -> str | None:
    """Argument: a device id, or `auto` for none in particular; without one the user is asked.

    Holds until the server ends; answers with the id. Raises CannotAsk.
    """
    (wanted,) = texts(params, 1)
    if not wanted:
        await ls.discovered.wait()
        wanted = await _asked(ls, ls.found_devices, _OTHER) or ""
    if wanted == _OTHER:
        wanted = await _asked(ls, _shipped(ls)) or ""
    if not wanted:
        return None
    ls.chosen_device = "" if wanted == _AUTO else wanted
    ls.analyse_all()
    return wanted


async def list_devices(ls: KernelcastServer, _params: types.ExecuteCommandParams) -> dict[str, Any]:
    """No arguments. This machine's devices, those calibrated here once, and those known from datasheets."""
    await ls.discovered.wait()
    here = {device.id for device in ls.found_devices}
    known = await asyncio.to_thread(device_work().known, ls.found_devices)
    return {
        "current": (await _current(ls, known)).id,
        "chosen": ls.chosen_device,
        "devices": [
            {
                "id": device.id,
                "name": shown_name(device.name),
                "platform": device.platform,
                "type": str(device.type),
                "here": device.id in here,
                "calibrated": device.calibrated,
            }
            for device in known
        ],
    }


async def _current(ls: KernelcastServer, known: Sequence[Device]) -> Device:
    """Return the one that the document looked at last is predicted for; without documents, the one that would be."""
    await ls.settled(ls.last_shown, SETTLE_S)
    wanted = (ls.chosen_device, ls.settings.everywhere.device)
    return ls.device or pick_device(wanted, ls.found_devices, (), known)[0]


async def _asked(ls: KernelcastServer, devices: Sequence[Device], *others: str) -> str | None:
    """Return one question: a device's id, one of the `others`, or None when the user turns away."""
    answers = {f"{shown_name(device.name)} ({device.id})": device.id for device in devices}
    answers |= {other: other for other in others}
    request = types.ShowMessageRequestParams(
        type=types.MessageType.Info,
        message="Which device are predictions and measurements for? The setting `kernelcast.device` keeps the choice.",
        actions=[types.MessageActionItem(title) for title in answers],
    )
    try:
        picked = await ls.window_show_message_request_async(request)
    except JsonRpcException as error:
        ids = ", ".join(device.id for device in devices) or "none"
        raise CannotAsk(
            f"This editor shows no questions. Devices: {ids}. Choose one by the setting `kernelcast.device`, or by "
            "`id` under `[device]` in kernelcast.toml."
        ) from error
    return answers.get(picked.title) if picked else None


def _shipped(ls: KernelcastServer) -> list[Device]:
    here = {device.name for device in ls.found_devices}
    return [device for device in device_work().shipped() if device.name not in here]


_ANSWER_S = 10.0  # for the learned model's answers, the loading of its weights included


async def compare_devices(ls: KernelcastServer, params: types.ExecuteCommandParams) -> dict[str, Any]:
    """Arguments: document, kernel, launch, and ids of devices joined by commas; without them those that are set.

    Answers with `devices`, as `kernelcast compare --devices --format json` has them, and `text`, a table of them; or
    with `{"error": {"code", "message"}}`, which the user has been shown.
    """
    uri, kernel, launch_name, named = texts(params, 4)
    try:
        return await _compared(ls, (uri, kernel, launch_name), tuple(filter(None, map(str.strip, named.split(",")))))
    except KernelcastError as error:
        ls.say(types.MessageType.Error, f"{kernel or 'The kernel'} was not compared: {error.message}")
        return error_answer(error)


async def _compared(ls: KernelcastServer, about: tuple[str, str, str], names: tuple[str, ...]) -> dict[str, Any]:
    await ls.discovered.wait()
    await ls.settled(about[0], SETTLE_S)
    snapshot = await ls.settled(about[0], _ANSWER_S, answered=True)
    if snapshot is None:
        raise KernelcastError("the document is not open")
    view = launch_of(snapshot, *about[1:])
    others = snapshot.analysis.compared
    if names:
        others, unknown = pick_others(names, snapshot.device, ls.found_devices, ())
        if unknown:
            raise KernelcastError(unknown_compared_message(unknown[0]))
    if not others:
        raise KernelcastError("name further devices, here or in the setting `kernelcast.compareDevices`")
    rows = (await ls.compared.now(snapshot, others)).get(view.slot, ())
    if not rows:
        problem = view.forecast.problem
        raise KernelcastError(problem.message if problem is not None else "its launch is not known")
    return {
        "kernel": view.slot.kernel,
        "launch": launch_title(view),
        "devices": [device_json(row) for row in rows],
        "text": "\n".join((f"{view.slot.kernel}: {launch_title(view)}", "", *devices_table(rows), "")),
    }
