"""Command `kernelcast.debugInformation`: what to paste into a report about a fault."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from server.client.settings import OPTIONS
from server.session import KernelcastServer

if TYPE_CHECKING:
    from server.debug_information import ServerFacts

_DISCOVERY_S = 5.0


async def debug_information(ls: KernelcastServer, _params: types.ExecuteCommandParams) -> str:
    """No arguments. Does not wait for long: a driver that hangs is worth telling."""

    def gather() -> str:
        module = importlib.import_module("server.debug_information")  # loads the engine
        facts: ServerFacts = module.ServerFacts(
            client=ls.client_name,
            encoding=str(getattr(ls.encoding, "value", ls.encoding)),
            folder=Path(ls.workspace.root_path or Path.cwd()),
            trust=ls.trust.in_words,
            documents=len(ls.documents),
            device=device.name if device else "none yet",
            chosen=ls.chosen_device,
            settings={option.name: option.of(ls.settings.everywhere) for option in OPTIONS},
            found=ls.found_devices,
            no_devices_because=ls.no_devices_because,
            timings=ls.timings.facts(),
        )
        told: str = module.debug_information(facts)
        return told

    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DISCOVERY_S):
            await ls.discovered.wait()
    device = ls.device
    return await asyncio.to_thread(gather)
