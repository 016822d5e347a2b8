"""What compilers make of kernels is asked for when nobody waits: of the driver's after a measurement, of the offline
ones for a GPU that is not here."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache

from model.compiled import CompiledFacts, FactsKey, key_of
from model.errors import KernelcastError
from server.device_work.jobs import Jobs, OnProgress

if TYPE_CHECKING:
    from profiler.compiling import CompileRequest

Facts = Mapping[FactsKey, CompiledFacts]
Compile = Callable[[Sequence["CompileRequest"], threading.Event], Facts]
Done = Callable[[KernelcastError | None], None]  # hears why a build failed, or that it did not
_KNOWN_KEPT = 4096
_FAILED_KEPT = 64  # whole texts
QUIET_S = 2.0  # a measurement that follows at once must not meet a compiler


def _ignored(_failed: KernelcastError | None) -> None:
    return


class LaterCompiles:
    """Owns the kernels that wait to be compiled. They give way to all other device work, and wait again then."""

    def __init__(
        self,
        jobs: Jobs,
        learn: Callable[[str, Facts], None],
        spawn: Callable[[Coroutine[Any, Any, object]], None],
        leaving: asyncio.Event,
    ) -> None:
        self._jobs, self._learn, self._spawn, self._leaving = jobs, learn, spawn, leaving
        self._waiting: dict[FactsKey, tuple[CompileRequest, Compile, Done]] = {}
        self._known: LRUCache[tuple[FactsKey, str], None] = LRUCache(_KNOWN_KEPT)
        self._failed: LRUCache[tuple[object, ...], KernelcastError] = LRUCache(_FAILED_KEPT)
        self._at_work = False

    def want(self, requests: Sequence[CompileRequest], work: Compile, done: Done = _ignored) -> None:
        """Compile requests of one source, its options and device, each kernel once, and a build that fails once.

        `done` is called now where nothing is left to do.
        """
        failed = self._failed.get(_build(requests[0])) if requests else None
        keys = {key_of(each.kernel, each.launch, each.device_id): each for each in requests}
        missing = {key: each for key, each in keys.items() if (key, each.device_id) not in self._known}
        if failed is not None or not missing:
            done(failed)
            return
        self._waiting.update({key: (each, work, done) for key, each in missing.items()})
        if not self._at_work:
            self._at_work = True
            self._spawn(self._compile_all())

    async def _compile_all(self) -> None:
        try:
            while self._waiting and not await self._leaves_within(QUIET_S):
                batch, work = self._next_batch()
                facts: Facts | None = {}
                failed: KernelcastError | None = None
                try:
                    facts = await self._jobs.run_aside(partial(_work, work, tuple(batch.values())))
                except KernelcastError as error:  # predictions and measurements do without
                    failed = error
                if self._jobs.is_closed:
                    return  # `exit` is still to come
                if facts is None:
                    continue
                self._end(batch, facts, failed)
        finally:
            self._at_work = False

    def _end(self, batch: Mapping[FactsKey, CompileRequest], facts: Facts, failed: KernelcastError | None) -> None:
        first = next(iter(batch.values()))
        if failed is not None:
            self._failed[_build(first)] = failed
        else:
            self._known.update({(key, first.device_id): None for key in batch})
            self._learn(first.device_id, facts)
        ended = [self._waiting.pop(key)[2] for key, each in batch.items() if self._waiting.get(key, (None,))[0] is each]
        for done in dict.fromkeys(ended):
            done(failed)

    def _next_batch(self) -> tuple[dict[FactsKey, CompileRequest], Compile]:
        first, work, _ = next(iter(self._waiting.values()))
        return {key: each for key, (each, _, _) in self._waiting.items() if _build(each) == _build(first)}, work

    async def _leaves_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._leaving.wait()
        return self._leaving.is_set()


def _work(work: Compile, batch: Sequence[CompileRequest], _on_progress: OnProgress, cancel: threading.Event) -> Facts:
    return work(batch, cancel)


def _build(request: CompileRequest) -> tuple[object, ...]:
    return request.source, request.path, request.launch.options, request.device_id
