"""Command `kernelcast.compareDevices`: a launch on several devices, predicted, as a table."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from model.errors import KernelcastError
from server.analysis.devices import pick_others, unknown_compared_message
from server.device_work.measuring import launch_of
from server.features.arguments import error_answer, texts
from server.session import SETTLE_S, KernelcastServer
from server.text.devices import device_json, devices_table
from server.text.hint import launch_title

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
