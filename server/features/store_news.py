"""What other processes put into the store, such as a recording, is shown soon, and not only after the next edit."""

from __future__ import annotations

import asyncio
import contextlib

from server.background import in_background
from server.session import KernelcastServer

LOOK_AGAIN_S = 10.0


async def show_store_news(ls: KernelcastServer) -> None:
    """Read the store again whenever its files have changed, until the server leaves."""
    await ls.needed.wait()
    last = await in_background(_files, "look at the store")
    while not ls.leaving.is_set():
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_AGAIN_S):
                await ls.leaving.wait()
        now = await in_background(_files, "look at the store")
        if now != last and not ls.leaving.is_set():
            last = now
            ls.read_store_anew()


def _files() -> object:
    from server.analysis.store_cache import files_of_store  # noqa: PLC0415 - it brings the engine along, which takes time

    return files_of_store()
