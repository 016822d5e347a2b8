"""Fixes of the kernels that somebody looks at, found in the background and kept until the document changes."""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING

from cachetools import LRUCache

from server.background import in_background
from server.launch_view import LaunchView, Slot
from server.snapshot import Snapshot

if TYPE_CHECKING:
    from server.analysis.fix_gains import PredictedFix
    from server.analysis.fix_search import FixSearch
    from server.predictor.client import ModelClient

_KEPT = 32
_ANSWER_S = 10.0  # for the learned model, the loading of its weights included
_Key = tuple[str, int, int, Slot, str]


class KnownFixes:
    """Owns the search, one kernel at a time. For the event loop alone."""

    def __init__(self, learned: ModelClient) -> None:
        self._learned = learned
        self._search: FixSearch | None = None
        self._one_at_a_time = asyncio.Lock()
        self._found: LRUCache[_Key, asyncio.Task[tuple[PredictedFix, ...]]] = LRUCache(_KEPT)

    async def of(self, snapshot: Snapshot, view: LaunchView, patience_s: float | None) -> tuple[PredictedFix, ...]:
        """Return the fixes of a launch; none if they are not known in time, or of an older text.

        They are searched for all the same, and known the next time. Without `patience_s` they are waited for.
        """
        if not snapshot.is_current or view.forecast.prediction is None:
            return ()
        document, analysis = snapshot.document, snapshot.analysis
        key = (document.uri, document.opening, analysis.number, view.slot, analysis.device.id)
        task = self._found.get(key)
        if task is None or task.cancelled() or (task.done() and task.exception() is not None):
            task = self._found[key] = asyncio.get_running_loop().create_task(self._searched(snapshot, view))
        await asyncio.wait([task], timeout=patience_s)
        return task.result() if task.done() and not task.cancelled() and task.exception() is None else ()

    async def _searched(self, snapshot: Snapshot, view: LaunchView) -> tuple[PredictedFix, ...]:
        async with self._one_at_a_time:
            return await in_background(lambda: self._fixes(snapshot, view), "fixes")

    def _fixes(self, snapshot: Snapshot, view: LaunchView) -> tuple[PredictedFix, ...]:
        if self._search is None:
            loaded = importlib.import_module("server.analysis.fix_search")
            self._search = loaded.FixSearch(lambda asked, lessons: self._learned.now(asked, lessons, _ANSWER_S))
        return self._search.fixes(snapshot, view)
