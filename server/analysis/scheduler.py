"""The one background thread that analyses documents: always the newest state, nothing twice, nothing on the loop."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from model.samples import Samples
from server import gc_policy
from server.analysis.request import AnalysisRequest
from server.log.events import document_name
from server.log.timings import Timings
from server.snapshot import Analysis

if TYPE_CHECKING:
    from server.analysis.analyzer import Analyzer

logger = logging.getLogger(__name__)


class Scheduler:
    """Owns the thread, and through it the engine, which must not be shared.

    `on_result` and `on_error` are called on the event loop.
    """

    def __init__(
        self,
        on_result: Callable[[Analysis], None],
        on_error: Callable[[str, str], None],
        timings: Timings | None = None,
        samples: Samples | None = None,
    ) -> None:
        self._on_result = on_result
        self._samples = samples
        self._timings = timings or Timings()
        self._on_error = on_error
        self._waiting: dict[str, AnalysisRequest] = {}
        self._closed: set[str] = set()  # documents that the engine still holds something of
        self._wake = threading.Condition()
        self._stopped = False
        self._searches = gc_policy.Collections()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread from the event loop, once `initialize` is answered: it loads the engine first."""
        if self._thread is None:
            work = (asyncio.get_running_loop(),)
            self._thread = threading.Thread(target=self._work, args=work, name="analysis", daemon=True)
            self._thread.start()

    def submit(self, request: AnalysisRequest) -> None:
        """Analyse this state next; an older one of the same document that still waits is dropped."""
        with self._wake:
            self._waiting.pop(request.document.uri, None)
            self._waiting[request.document.uri] = request
            self._closed.discard(request.document.uri)
            self._wake.notify()

    def forget(self, uri: str) -> None:
        """Drop what is kept of a document that was closed."""
        with self._wake:
            self._waiting.pop(uri, None)
            self._closed.add(uri)
            self._wake.notify()

    @property
    def has_work(self) -> bool:
        """Whether anything waits."""
        with self._wake:
            return bool(self._waiting or self._closed)

    def stop(self) -> None:
        """Stop after the analysis under way, without waiting for it."""
        with self._wake:
            self._stopped = True
            self._wake.notify()

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            analyzer: Analyzer = importlib.import_module("server.analysis.analyzer").Analyzer(
                self._timings, self._samples
            )
        except ImportError as error:
            logger.exception("the engine cannot be loaded")
            self._call(loop, self._on_error, "", f"{error}; `kernelcast doctor` says what is missing")
            return
        while (found := self._next()) is not None:
            if isinstance(found, str):
                analyzer.forget(found)
                self._searches.worked()
                continue
            request, uri = found, found.document.uri
            try:
                for analysis in analyzer.analyses(request):
                    self._call(loop, self._on_result, analysis)
                    if self._is_outdated(uri):
                        break
            except Exception as error:
                # A fault of ours must cost one answer, not all later ones; it is logged whole and told to the user.
                logger.exception("the analysis of %s failed", document_name(uri))
                self._call(loop, self._on_error, uri, f"{type(error).__name__}: {error}")
            self._searches.worked(0 if request.document.serial else len(request.document.text.value))

    def _is_outdated(self, uri: str) -> bool:
        """Return whether the document has changed, or is closed: what remains of its analysis would be of no use."""
        with self._wake:
            return self._stopped or uri in self._waiting or uri in self._closed

    def _next(self) -> AnalysisRequest | str | None:
        """Return what to analyse, or a closed document when there is nothing to do; None at the end."""
        while not self._wait():
            self._searches.make()
        with self._wake:
            if self._stopped:
                return None
            # The document asked for last is the one that is being typed in.
            return self._waiting.popitem()[1] if self._waiting else self._closed.pop()

    def _wait(self) -> bool:
        """Wait for something to do; return False if there was nothing for a while, after something."""
        with self._wake:
            return self._wake.wait_for(
                lambda: bool(self._waiting or self._closed) or self._stopped, self._searches.due_s
            )

    def _call(self, loop: asyncio.AbstractEventLoop, callback: Callable[..., None], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the server is leaving
            loop.call_soon_threadsafe(callback, *arguments)
