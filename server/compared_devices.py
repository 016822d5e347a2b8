"""Open documents' launches on further devices, predicted when typing pauses, after the main device's predictions.

Hovers and hints show what is known. The last rows of a launch stay until there are new ones, as hints do.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from lsprotocol import types

from server.analysis.devices import unknown_compared_message
from server.background import in_background
from server.client.status import unknown_device_message
from server.launch_view import Rows, Slot
from server.log.events import document_name, event
from server.snapshot import Analysis, Snapshot

if TYPE_CHECKING:
    from model.device import Device
    from server.analysis.device_search import DeviceSearch
    from server.predictor.client import ModelClient

logger = logging.getLogger(__name__)

PAUSE_S = 0.2  # without a keystroke
_ANSWER_S = 10.0  # for the learned model, the loading of its weights included
_NONE: Mapping[Slot, Rows] = {}  # always the same, so that views of it are


class Server(Protocol):
    """What is needed of the server."""

    learned: ModelClient
    found_devices: tuple[Device, ...]

    def spawn(self, work: Coroutine[Any, Any, object]) -> None: ...
    def snapshot(self, uri: str) -> Snapshot | None: ...
    def show(self, uri: str) -> None: ...
    def say_once(self, kind: types.MessageType, message: str) -> None: ...


class ComparedDevices:
    """Owns the search, one document at a time. For the event loop alone."""

    def __init__(self, server: Server, requested: Mapping[str, int]) -> None:
        self._server = server
        self._requested = requested  # the number of each document's newest analysis that was ordered
        self._search: DeviceSearch | None = None
        self._one_at_a_time = asyncio.Lock()
        self._rows: dict[str, Mapping[Slot, Rows]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def rows(self, uri: str) -> Mapping[Slot, Rows]:
        """Return what is known of a document's launches."""
        return self._rows.get(uri, _NONE)

    def forget(self, uri: str) -> None:
        """Drop what is kept of a document that was closed."""
        self._rows.pop(uri, None)
        if timer := self._timers.pop(uri, None):
            timer.cancel()

    def follow(self, analysis: Analysis) -> None:
        """Predict a document's launches on its further devices, unless another analysis comes first."""
        uri = analysis.document.uri
        if timer := self._timers.pop(uri, None):
            timer.cancel()
        wanted = [analysis.device.id, *(each.id for each in analysis.compared)]
        shown = next(iter(self.rows(uri).values()), ())
        if shown and [row.device.id for row in shown] != wanted:
            del self._rows[uri]
        if analysis.compared and not analysis.unanswered:  # else another analysis is to come, with the answers
            loop = asyncio.get_running_loop()
            self._timers[uri] = loop.call_later(PAUSE_S, lambda: self._server.spawn(self._look(analysis)))

    async def now(self, snapshot: Snapshot, others: tuple[Device, ...]) -> Mapping[Slot, Rows]:
        """Return the rows of a document's launches on these devices, whatever is set."""
        async with self._one_at_a_time:
            return await in_background(lambda: self._loaded().rows(snapshot, others), "devices") or _NONE

    async def _look(self, analysis: Analysis) -> None:
        uri = analysis.document.uri
        async with self._one_at_a_time:
            snapshot = self._server.snapshot(uri)
            if snapshot is None or not self._is_newest(analysis):
                return
            try:
                found = await in_background(
                    lambda: self._loaded().rows(snapshot, analysis.compared, lambda: not self._is_newest(analysis)),
                    "devices",
                )
            except Exception:
                # A fault of ours must cost these rows and nothing else; it is logged whole.
                logger.exception("%s could not be predicted for further devices", document_name(uri))
                return
        if found is not None and self._is_newest(analysis):
            self._rows[uri] = found
            event("compared", document=document_name(uri), devices=[each.id for each in analysis.compared])
            self._server.show(uri)

    def _is_newest(self, analysis: Analysis) -> bool:
        """Return whether nothing newer was asked for. Called in the thread, too: it only looks up a number."""
        return self._requested.get(analysis.document.uri) == analysis.number

    def _loaded(self) -> DeviceSearch:
        if self._search is None:
            loaded: Any = importlib.import_module("server.analysis.device_search")
            learned = self._server.learned
            self._search = loaded.DeviceSearch(lambda asked, lessons: learned.now(asked, lessons, _ANSWER_S))
        return self._search


def tell_unknown(server: Server, analysis: Analysis) -> None:
    """Warn once about each unknown device in the settings; those in `kernelcast.toml` have diagnostics."""
    if analysis.unknown_device:
        server.say_once(types.MessageType.Warning, unknown_device_message(analysis, server.found_devices))
    if analysis.compared_line is None:
        for name in analysis.unknown_compared:
            message = f"Setting `kernelcast.compareDevices`: {unknown_compared_message(name)}."
            server.say_once(types.MessageType.Warning, message)
