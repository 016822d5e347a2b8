"""workspace/inlayHint/refresh, only when the text that the user sees has changed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from server.session import KernelcastServer

Labels = tuple[tuple[str, str], ...]

_ANSWER_S = 5.0


class HintRefresh:
    """Remembers what each document's hints last said to the client; one request under way at most."""

    def __init__(self, server: KernelcastServer) -> None:
        self._server = server
        self._told: dict[str, Labels] = {}
        self._asking: Counter[str] = Counter()
        self._under_way = False
        self._again = False

    @contextmanager
    def asked(self, uri: str) -> Iterator[None]:
        """While the client waits for an answer that will hold the newest text, telling it to ask is of no use."""
        self._asking[uri] += 1
        try:
            yield
        finally:
            self._asking[uri] -= 1

    def answered(self, uri: str, labels: Labels) -> None:
        """The client has asked for the hints and got these."""
        self._told[uri] = labels

    def forget(self, uri: str) -> None:
        self._told.pop(uri, None)

    def offer(self, uri: str, labels: Labels) -> None:
        """These would be shown now: tell the client to ask again if they differ from what it has."""
        if self._asking[uri] or labels == self._told.get(uri, ()):
            return
        self._told[uri] = labels
        if not self._server.supports.hint_refresh:
            return
        if self._under_way:
            self._again = True
        else:
            self._under_way = True
            self._server.spawn(self._ask())

    async def _ask(self) -> None:
        try:
            while True:
                self._again = False
                try:
                    await asyncio.wait_for(self._server.workspace_inlay_hint_refresh_async(None), _ANSWER_S)
                except (TimeoutError, JsonRpcException):
                    return  # the client will ask again by itself at the next edit
                if not self._again:
                    return
        finally:
            self._under_way = False
