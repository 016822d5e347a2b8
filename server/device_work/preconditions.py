"""Preconditions of device work: trust, a finished discovery, a device of this machine."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable
from typing import TYPE_CHECKING, TypeVar

from model.errors import KernelcastError
from profiler.measurement import Cancelled, DeviceGone
from server.client.progress import ProgressBar
from server.session import KernelcastServer

if TYPE_CHECKING:
    from model.device import Device
    from server.device_work.work import DeviceWork

Result = TypeVar("Result")


def must_be_trusted(ls: KernelcastServer) -> None:
    if not ls.trusted:
        raise KernelcastError("this workspace is not trusted, so nothing of it is run; trust it in the editor first")


async def wait_for_discovery(ls: KernelcastServer, bar: ProgressBar) -> None:
    if not ls.discovered.is_set():
        bar.report(0.0, "looking for devices")
        await unless_cancelled(ls.discovered.wait(), bar)


async def unless_cancelled(waiting: Awaitable[Result], bar: ProgressBar) -> Result:
    """Return the result of an await, or Cancelled as soon as the user presses the button."""
    task = asyncio.ensure_future(waiting)
    pressed = asyncio.ensure_future(bar.cancelled())
    try:
        await asyncio.wait({task, pressed}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise Cancelled("cancelled")
        return task.result()
    finally:
        task.cancel()
        pressed.cancel()


def device_here(ls: KernelcastServer, device_id: str, name: str = "") -> Device:
    found = next((device for device in ls.found_devices if device.id == device_id), None)
    if found is not None:
        return found
    if ls.no_devices_because:
        raise DeviceGone(ls.no_devices_because)
    here = ", ".join(device.id for device in ls.found_devices) or "none"
    raise DeviceGone(f"{name or device_id or 'the device'} is not in this machine; devices here: {here}")


def device_work() -> DeviceWork:
    """Load the device work at its first use: nothing of it is needed to answer `initialize`."""
    work: DeviceWork = importlib.import_module("server.device_work.work").DeviceWork()
    return work
