"""Show what other processes put into the store, such as a recording, soon and not only after the next edit."""

from __future__ import annotations

import asyncio
import contextlib
import importlib

from server.background import in_background
from server.session import KernelcastServer

LOOK_AGAIN_S = 10.0


async def show_store_news(ls: KernelcastServer) -> None:
    """Read the store again whenever another process has changed its files, until the server leaves."""
    database = await in_background(lambda: importlib.import_module("profiler.store.database"), "load the store")
    last = await in_background(database.files_of_store, "look at the store")
    while not ls.leaving.is_set():
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_AGAIN_S):
                await ls.leaving.wait()
        now = await in_background(database.files_of_store, "look at the store")
        # What this process measured and compiled is shown without the store.
        if not database.is_own_change(last, now) and not ls.leaving.is_set():
            ls.read_store_anew()
        last = now
