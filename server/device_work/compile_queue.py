"""Compiling kernels in the background, to learn what compilers make of them.

The driver's compiler runs after a measurement or a pause in typing, the offline ones for a GPU that is not here.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache

from model.compiled import CompiledFacts, FactsKey, key_of
from model.errors import KernelcastError
from server.device_work.jobs import Jobs, OnProgress

if TYPE_CHECKING:
    from profiler.compiling import CompileRequest

Facts = Mapping[FactsKey, CompiledFacts]
Outcomes = Mapping[FactsKey, CompiledFacts | KernelcastError]
Compile = Callable[[Sequence["CompileRequest"], threading.Event], Outcomes]
Failures = Mapping[FactsKey, KernelcastError]
Done = Callable[[Failures], None]  # hears which kernels could not be compiled
TextOf = Callable[["CompileRequest"], str]  # what of the text a kernel rests on
_Place = tuple[FactsKey, str]  # a kernel on a device
_KNOWN_KEPT = 4096
_FAILED_KEPT = 256  # with whole texts
_OF_THE_KERNEL = frozenset({"crashed", "timed_out"})  # others may lie in the rest of the text, or in the machine
QUIET_S = 2.0  # a measurement that follows at once must not meet a compiler


def _ignored(_failures: Failures) -> None:
    return


def _all_of_it(request: CompileRequest) -> str:
    return request.source


@dataclass(frozen=True, slots=True)
class _Order:
    request: CompileRequest
    work: Compile
    tell: Callable[[], None]  # the same object for all that is wanted together
    owner: str
    text_of: TextOf


class CompileQueue:
    """Owns the kernels that wait to be compiled. They give way to all other device work, and wait again then."""

    def __init__(
        self,
        jobs: Jobs,
        learn: Callable[[str, Facts], None],
        spawn: Callable[[Coroutine[Any, Any, object]], None],
        leaving: asyncio.Event,
    ) -> None:
        self._jobs, self._learn, self._spawn, self._leaving = jobs, learn, spawn, leaving
        self._waiting: dict[_Place, _Order] = {}
        self._batch: dict[_Place, _Order] = {}  # what is being compiled
        self._known: LRUCache[_Place, None] = LRUCache(_KNOWN_KEPT)
        self._failed: LRUCache[tuple[object, ...], KernelcastError] = LRUCache(_FAILED_KEPT)
        self._crashed: LRUCache[_Place, tuple[str, KernelcastError]] = LRUCache(_FAILED_KEPT)
        self._at_work = False

    def want(
        self,
        requests: Sequence[CompileRequest],
        work: Compile,
        done: Done = _ignored,
        *,
        owner: str = "",
        text_of: TextOf = _all_of_it,
    ) -> None:
        """Compile requests of one source, its options and device, each kernel once.

        What fails is not tried again until the text changes; a kernel with which the compiler crashes or hangs, until
        its `text_of` does. `done` is called now where nothing is left to do. An `owner` may `keep_only` some.
        """
        tell = partial(self._tell, tuple(requests), done, text_of)
        places = {_place(each): each for each in requests}
        missing = {
            place: each
            for place, each in places.items()
            if place not in self._known and self._failure(each, text_of) is None
        }
        if not missing:
            tell()
            return
        self._waiting.update({place: _Order(each, work, tell, owner, text_of) for place, each in missing.items()})
        if not self._at_work:
            self._at_work = True
            self._spawn(self._compile_all())

    def keep_only(self, owner: str, sources: Collection[str], device_id: str = "") -> None:
        """Give up what is wanted by `owner` of other texts or for other devices, even if it is being compiled."""
        gone = [
            place
            for place, order in self._waiting.items()
            if order.owner == owner and (order.request.source not in sources or order.request.device_id != device_id)
        ]
        for place in gone:
            del self._waiting[place]
        if gone and self._batch and not any(self._is_wanted(*each) for each in self._batch.items()):
            self._jobs.give_up_aside()

    async def _compile_all(self) -> None:
        try:
            while self._waiting and not await self._leaves_within(QUIET_S):
                if not self._waiting:
                    return  # given up meanwhile
                self._batch = self._next_batch()
                work = next(iter(self._batch.values())).work
                requests = tuple(order.request for order in self._batch.values())
                outcomes: Outcomes | None
                try:
                    outcomes = await self._jobs.run_aside(partial(_work, work, requests))
                except KernelcastError as error:  # predictions and measurements do without
                    outcomes = dict.fromkeys((key for key, _ in self._batch), error)
                if self._jobs.is_closed:
                    return  # `exit` is still to come
                if outcomes is not None:
                    self._end(outcomes)
                self._batch = {}
        finally:
            self._batch = {}
            self._at_work = False

    def _end(self, outcomes: Outcomes) -> None:
        facts: dict[FactsKey, CompiledFacts] = {}
        for (key, device_id), order in self._batch.items():
            outcome = outcomes.get(key)
            if isinstance(outcome, KernelcastError):
                if outcome.code in _OF_THE_KERNEL:
                    self._crashed[key, device_id] = order.text_of(order.request), outcome
                else:
                    self._failed[(key, *_build(order.request))] = outcome
                continue
            self._known[key, device_id] = None
            if outcome is not None:
                facts[key] = outcome
        if facts:
            self._learn(next(iter(self._batch))[1], facts)
        ended = [self._waiting.pop(place).tell for place, order in self._batch.items() if self._is_wanted(place, order)]
        for tell in dict.fromkeys(ended):
            tell()

    def _tell(self, requests: Sequence[CompileRequest], done: Done, text_of: TextOf) -> None:
        found = {_place(each)[0]: self._failure(each, text_of) for each in requests}
        done({key: failure for key, failure in found.items() if failure is not None})

    def _failure(self, request: CompileRequest, text_of: TextOf) -> KernelcastError | None:
        key, device_id = _place(request)
        crashed = self._crashed.get((key, device_id))
        if crashed is not None and crashed[0] == text_of(request):
            return crashed[1]
        return self._failed.get((key, *_build(request)))

    def _is_wanted(self, place: _Place, order: _Order) -> bool:
        return self._waiting.get(place) is order

    def _next_batch(self) -> dict[_Place, _Order]:
        build = _build(next(iter(self._waiting.values())).request)
        return {place: order for place, order in self._waiting.items() if _build(order.request) == build}

    async def _leaves_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._leaving.wait()
        return self._leaving.is_set()


def _work(
    work: Compile, batch: Sequence[CompileRequest], _on_progress: OnProgress, cancel: threading.Event
) -> Outcomes:
    return work(batch, cancel)


def _place(request: CompileRequest) -> _Place:
    return key_of(request.kernel, request.launch, request.device_id), request.device_id


def _build(request: CompileRequest) -> tuple[object, ...]:
    return request.source, request.path, request.launch.options, request.device_id
