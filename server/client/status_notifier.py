"""The notification `kernelcast/status`: told when it changed, never in a flood, only to clients that ask for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any

from server.client.status import Status

METHOD = "kernelcast/status"
PAUSE_S = 0.2  # between two that differ in nothing but their revision: typing makes one at every keystroke


class StatusNotifier:
    """Owns what was last told of each document.

    `look` gives a document's status, or None while nothing is known of it; `tell` sends one.
    """

    def __init__(self, look: Callable[[str], Status | None], tell: Callable[[dict[str, Any]], None]) -> None:
        self._look = look
        self._tell = tell
        self._revisions = count(1)
        self._revision: dict[str, int] = {}
        self._told: dict[str, tuple[int, Status]] = {}
        self._told_at_s: dict[str, float] = {}
        self._later: dict[str, asyncio.TimerHandle] = {}

    def shown_anew(self, uri: str) -> None:
        """Send a new status: an analysis or a measurement of the document came in."""
        self._revision[uri] = next(self._revisions)
        self._offer(uri)

    def look_again(self) -> None:
        """Look at all documents again."""
        for uri in list(self._revision):
            self._offer(uri)

    def forget(self, uri: str) -> None:
        """Drop what is kept of a document that was closed."""
        for kept in (self._revision, self._told, self._told_at_s):
            kept.pop(uri, None)
        if later := self._later.pop(uri, None):
            later.cancel()

    def _offer(self, uri: str) -> None:
        status = self._look(uri)
        if status is None:
            return
        revision, told = self._told.get(uri, (0, None))
        if (self._revision[uri], status) == (revision, told):
            return
        loop = asyncio.get_running_loop()
        left_s = self._told_at_s.get(uri, -PAUSE_S) + PAUSE_S - loop.time()
        if status == told and left_s > 0:
            if uri not in self._later:
                self._later[uri] = loop.call_later(left_s, self._now, uri)
            return
        if later := self._later.pop(uri, None):
            later.cancel()
        self._told[uri] = self._revision[uri], status
        self._told_at_s[uri] = loop.time()
        self._tell(status.as_json(uri, self._revision[uri]))

    def _now(self, uri: str) -> None:
        self._later.pop(uri, None)
        self._told_at_s.pop(uri, None)
        self._offer(uri)
