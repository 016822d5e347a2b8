"""initialize, initialized, shutdown: read what the client can do, then start what may take longer.

What other processes put into the store, such as a recording, is shown soon and not only after the next edit.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from collections.abc import Mapping

from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder

from model.version import VERSION
from server.background import in_background
from server.client.capabilities import read_capabilities
from server.client.parent import parent_gone
from server.client.trust import Trust
from server.features import configuration
from server.features.devices import discover_devices
from server.log.events import event
from server.session import KernelcastServer

FIRST_ANALYSIS_S = 5.0  # after which devices are looked for beside it


def initialize(ls: KernelcastServer, params: types.InitializeParams) -> None:
    """Take in the client's capabilities and options. Must be fast: the editor waits for the answer."""
    ls.supports = read_capabilities(params.capabilities)
    ls.encoding = ServerCapabilitiesBuilder.choose_position_encoding(params.capabilities)
    ls.client_name = _name_of(params.client_info)
    options = params.initialization_options
    if isinstance(options, Mapping):
        ls.trust = Trust.said(options.get("trusted"))
        chosen = options.get("device")
        ls.chosen_device = chosen if isinstance(chosen, str) else ""
        given = options.get(configuration.SECTION, options.get("settings"))
        configuration.apply_settings(ls, given)
    event("initialized", client=ls.client_name, trust=ls.trust.name.lower(), version=VERSION)
    if params.process_id is not None:
        ls.spawn(_leave_with(ls, params.process_id))


async def initialized(ls: KernelcastServer, _params: types.InitializedParams) -> None:
    ls.spawn(_begin_when_needed(ls))
    await configuration.register_interests(ls)  # first: no change may fall between asking and being told
    if ls.supports.configuration:
        await configuration.fetch_settings(ls)


async def _begin_when_needed(ls: KernelcastServer) -> None:
    """Start the background threads at the first document that may hold a kernel, or the first command.

    What looks for devices and into the store loads modules for as long as the first analysis takes, and Python runs one
    thread at a time: the hints come first.
    """
    await ls.needed.wait()
    ls.scheduler.start()
    ls.learned.start()
    ls.sampling.start()
    first = next((document.uri for document in ls.documents if ls.awaits(document.uri)), None)
    if first is not None:
        await ls.settled(first, FIRST_ANALYSIS_S, any_kernels=True)
    ls.spawn(show_store_news(ls))
    await discover_devices(ls)


async def shutdown(ls: KernelcastServer, *_: object) -> None:
    """End measurements here and not at `exit`, which some clients never send."""
    ls.close()


async def _leave_with(ls: KernelcastServer, process_id: int) -> None:
    await parent_gone(process_id, was_seen=process_id == ls.seen_editor)
    ls.leaving.set()


def _name_of(client: types.ClientInfo | None) -> str:
    return f"{client.name} {client.version or ''}".strip() if client else "an editor that does not say its name"


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
