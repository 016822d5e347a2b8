"""Waits for the editor's process to end, so that a server never outlives an editor that crashed."""

from __future__ import annotations

import asyncio
import os
import sys

from server.client.streams import is_alive

_POLL_S = 2.0


async def parent_gone(process_id: int, *, was_seen: bool = False) -> None:
    """Return once that process has ended.

    Never returns for one that cannot be seen from the start, unless it `was_seen` before. Editors in another container
    send ids that mean nothing here; there the end of stdin has to do.
    """
    if not is_alive(process_id):
        if was_seen:
            return
        await asyncio.Event().wait()
    if sys.platform == "linux":
        try:
            handle = os.pidfd_open(process_id)
        except OSError:  # an old kernel, or it ended just now
            await _poll(process_id)
        else:
            await _readable(handle)
    else:
        await _poll(process_id)


async def _readable(handle: int) -> None:
    """Wait until a process handle is readable, which it becomes when its process ends."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(handle, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)


async def _poll(process_id: int) -> None:
    while is_alive(process_id):
        await asyncio.sleep(_POLL_S)
