"""workspace/inlayHint/refresh, when the text that the user sees has changed, until the client has asked again.

And workspace/codeLens/refresh, once when what lenses offer has changed: they say nothing that must not be missed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from pygls.exceptions import JsonRpcException

Labels = tuple[tuple[str, str], ...]

_ANSWER_S = 5.0
# VS Code loses a refresh that reaches it before it has taken in the answer to its first request for a document, and
# then shows what that answer held until the next edit. So who does not ask is told again, and left alone in the end:
# nobody may be looking at the document.
_AGAIN_AFTER_S = (0.5, 2.0, 8.0)


class Supported(Protocol):
    @property
    def hint_refresh(self) -> bool: ...

    @property
    def lens_refresh(self) -> bool: ...


class Client(Protocol):
    """The part of the server's session that refreshes need."""

    @property
    def supports(self) -> Supported: ...

    def spawn(self, work: Coroutine[Any, Any, None]) -> object: ...

    async def workspace_inlay_hint_refresh_async(self, params: None) -> None: ...

    async def workspace_code_lens_refresh_async(self, params: None) -> None: ...


class LensRefresh:
    """Remembers whether each document's lenses are shown, and whether they offer to run kernels."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._told: dict[str, tuple[bool, bool]] = {}

    def offer(self, uri: str, *, shown: bool, runs: bool) -> None:
        """Have the client ask for lenses again if these differ from the last ones."""
        before = self._told.get(uri, (False, False))
        self._told[uri] = (shown, shown and runs)
        if self._told[uri] != before and self._client.supports.lens_refresh:
            self._client.spawn(self._tell())

    def forget(self, uri: str) -> None:
        self._told.pop(uri, None)

    async def _tell(self) -> None:
        with suppress(JsonRpcException):  # the client refuses; it will ask by itself at the next edit
            await self._client.workspace_code_lens_refresh_async(None)


class HintRefresh:
    """Remembers what each document's hints last said to the client; one request under way at most."""

    def __init__(self, client: Client, again_after_s: tuple[float, ...] = _AGAIN_AFTER_S) -> None:
        self._client = client
        self._again_after_s = again_after_s
        self._told: dict[str, Labels] = {}
        self._offered: dict[str, Labels] = {}
        self._awaited: set[str] = set()  # documents whose client has not come for what was offered
        self._asking: Counter[str] = Counter()
        self._under_way = False
        self._news = asyncio.Event()

    @contextmanager
    def asked(self, uri: str) -> Iterator[None]:
        """Mark a request as pending: it will be answered from the newest text, so no refresh is needed."""
        self._asking[uri] += 1
        try:
            yield
        finally:
            self._asking[uri] -= 1
            if not self._asking[uri]:
                del self._asking[uri]
            if uri in self._awaited and not self._asking[uri]:
                self._tell()  # the request was cancelled

    def answered(self, uri: str, labels: Labels) -> None:
        """Note that the client asked for the hints and got these: nothing offered before counts any more."""
        self._told[uri] = labels
        self._let_be(uri)

    def forget(self, uri: str) -> None:
        self._told.pop(uri, None)
        self._let_be(uri)

    def _let_be(self, uri: str) -> None:
        self._offered.pop(uri, None)
        self._awaited.discard(uri)
        if not self._awaited:
            self._news.set()

    def offer(self, uri: str, labels: Labels) -> None:
        """Tell the client to ask again if these hints, which would be shown now, differ from what it has."""
        if not self._client.supports.hint_refresh or labels == self._offered.get(uri):
            return
        if labels == self._told.get(uri, ()):
            self._let_be(uri)
            return
        self._offered[uri] = labels
        self._awaited.add(uri)
        if not self._asking[uri]:
            self._tell()

    def _tell(self) -> None:
        self._news.set()
        if not self._under_way:
            self._under_way = True
            self._client.spawn(self._keep_telling())

    async def _keep_telling(self) -> None:
        """Repeat refreshes until nothing is awaited, or the client has been told often enough."""
        pauses = iter(self._again_after_s)
        try:
            while self._awaited:
                self._news.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(_ANSWER_S):
                        await self._client.workspace_inlay_hint_refresh_async(None)
                if not self._news.is_set():
                    pause_s = next(pauses, None)
                    if pause_s is None:
                        return
                    with suppress(TimeoutError):
                        async with asyncio.timeout(pause_s):
                            await self._news.wait()
                if self._news.is_set():
                    pauses = iter(self._again_after_s)
        except JsonRpcException:
            pass  # the client refuses; it will ask by itself at the next edit
        finally:
            self._awaited.clear()
            self._under_way = False
