"""After a measurement the driver is at hand: what its compiler made of the kernel is asked for, when nobody waits."""

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
_KNOWN_KEPT = 4096
QUIET_S = 2.0  # a measurement that follows at once must not meet a compiler


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
        self._waiting: dict[FactsKey, tuple[CompileRequest, Compile]] = {}
        self._known: LRUCache[tuple[FactsKey, str], None] = LRUCache(_KNOWN_KEPT)
        self._at_work = False

    def want(self, requests: Sequence[CompileRequest], work: Compile) -> None:
        """`work` is called for those of one source, its options and device at a time; once for each kernel."""
        for request in requests:
            key = key_of(request.kernel, request.launch, request.device_id)
            if (key, request.device_id) not in self._known:
                self._waiting[key] = request, work
        if self._waiting and not self._at_work:
            self._at_work = True
            self._spawn(self._compile_all())

    async def _compile_all(self) -> None:
        try:
            while self._waiting and not await self._leaves_within(QUIET_S):
                batch, work = self._next_batch()
                facts: Facts | None = {}
                with contextlib.suppress(KernelcastError):  # it was measured all the same: nothing is missing
                    facts = await self._jobs.run_aside(partial(_work, work, tuple(batch.values())))
                if self._jobs.is_closed:
                    return  # `exit` is still to come
                if facts is None:
                    continue
                device_id = next(iter(batch.values())).device_id
                self._learn(device_id, facts)
                for key in batch:
                    self._known[key, device_id] = None
                    self._waiting.pop(key, None)
        finally:
            self._at_work = False

    def _next_batch(self) -> tuple[dict[FactsKey, CompileRequest], Compile]:
        first, work = next(iter(self._waiting.values()))
        return {key: each for key, (each, _) in self._waiting.items() if _build(each) == _build(first)}, work

    async def _leaves_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._leaving.wait()
        return self._leaving.is_set()


def _work(work: Compile, batch: Sequence[CompileRequest], _on_progress: OnProgress, cancel: threading.Event) -> Facts:
    return work(batch, cancel)


def _build(request: CompileRequest) -> tuple[object, ...]:
    return request.source, request.path, request.launch.options, request.device_id
