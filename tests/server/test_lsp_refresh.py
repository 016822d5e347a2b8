"""A client is told to ask for hints again when they have changed, until it has asked; and then left alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pygls.exceptions import JsonRpcInternalError

from server.client.refresh import HintRefresh, LensRefresh
from server.session import KernelcastServer

pytestmark = pytest.mark.asyncio

URI = "file:///scale.cl"
OLD, NEW = (("scale", "~ 1 ms"),), (("scale", "~ 2 ms"),)
SOON_S, NEVER_S = 0.01, 60.0


class Client:
    """Counts what it is told; `on_refresh` is what it does then."""

    def __init__(self, again_after_s: tuple[float, ...] = (NEVER_S,)) -> None:
        self.told = 0
        self.on_refresh: Callable[[], None] = lambda: None
        self.answer: asyncio.Future[None] | None = None  # to what it is told; at once, if there is none
        self.tasks: list[asyncio.Task[Any]] = []
        server = SimpleNamespace(
            supports=SimpleNamespace(hint_refresh=True),
            spawn=self._spawn,
            workspace_inlay_hint_refresh_async=self._tell,
        )
        self.refresh = HintRefresh(cast(KernelcastServer, server), again_after_s)

    def _spawn(self, work: Coroutine[Any, Any, object]) -> None:
        self.tasks.append(asyncio.get_running_loop().create_task(work))

    async def _tell(self, _: object) -> None:
        self.told += 1
        self.on_refresh()
        if self.answer is not None:
            await self.answer

    def ask(self, labels: tuple[tuple[str, str], ...]) -> None:
        with self.refresh.asked(URI):
            self.refresh.answered(URI, labels)

    async def left_alone(self) -> None:
        async with asyncio.timeout(NEVER_S / 2):
            await asyncio.gather(*self.tasks)


async def test_a_client_that_comes_at_once_is_told_once() -> None:
    client = Client()
    client.on_refresh = lambda: client.ask(NEW)
    client.refresh.offer(URI, NEW)
    await client.left_alone()
    assert client.told == 1


async def test_a_client_that_lost_a_refresh_is_told_again() -> None:
    client = Client((SOON_S, NEVER_S))
    client.on_refresh = lambda: client.ask(NEW) if client.told == 2 else None
    client.refresh.offer(URI, NEW)
    await client.left_alone()
    assert client.told == 2


async def test_a_client_that_looks_elsewhere_is_left_alone_in_the_end() -> None:
    client = Client((SOON_S, SOON_S))
    client.refresh.offer(URI, NEW)
    await client.left_alone()
    assert client.told == 3
    client.refresh.offer(URI, NEW)
    await client.left_alone()
    assert client.told == 3, "the same was offered again"


async def test_what_the_client_has_is_not_offered() -> None:
    client = Client()
    client.ask(OLD)
    client.refresh.offer(URI, OLD)
    assert client.tasks == []


async def test_nothing_is_told_while_the_client_waits_for_an_answer() -> None:
    client = Client()
    with client.refresh.asked(URI):
        client.refresh.offer(URI, NEW)
        client.refresh.answered(URI, NEW)
    assert client.tasks == []


async def test_a_cancelled_request_is_made_up_for() -> None:
    client = Client()
    client.on_refresh = lambda: client.ask(NEW)
    begun = asyncio.Event()

    async def request() -> None:
        with client.refresh.asked(URI):
            client.refresh.offer(URI, NEW)
            begun.set()
            await asyncio.Event().wait()

    waiting = asyncio.create_task(request())
    await begun.wait()
    assert client.tasks == []
    waiting.cancel()
    await asyncio.wait([waiting])
    await client.left_alone()
    assert client.told == 1


async def test_a_client_that_came_is_left_alone_whatever_it_got() -> None:
    """Settings may change between an offer and the answer; telling such a client again would never end."""
    client = Client((SOON_S, SOON_S))
    client.on_refresh = lambda: client.ask(OLD)
    client.refresh.offer(URI, NEW)
    await client.left_alone()
    assert client.told == 1


async def test_what_was_offered_once_is_told_again_if_the_client_got_something_else() -> None:
    client = Client()
    client.on_refresh = lambda: client.ask(OLD if client.told == 1 else NEW)
    for told in (1, 2):
        client.refresh.offer(URI, NEW)
        await client.left_alone()
        assert client.told == told


async def test_what_changes_meanwhile_is_told_at_once() -> None:
    client = Client()

    def look() -> None:
        if client.told == 1:
            client.refresh.offer(URI, NEW)
        else:
            client.ask(NEW)

    client.on_refresh = look
    client.refresh.offer(URI, OLD)
    await client.left_alone()
    assert client.told == 2


async def test_a_document_that_is_closed_is_not_waited_for() -> None:
    client = Client()
    client.on_refresh = lambda: client.refresh.forget(URI)
    client.refresh.offer(URI, NEW)
    await client.left_alone()
    assert client.told == 1


async def test_a_client_that_refuses_is_left_alone() -> None:
    client = Client()

    def refuse() -> None:
        raise JsonRpcInternalError("no such method")

    client.on_refresh = refuse
    client.refresh.offer(URI, NEW)
    await client.left_alone()
    assert client.told == 1


async def test_a_server_that_leaves_in_the_moment_of_an_answer_tells_nobody_any_more() -> None:
    client = Client()
    client.answer = asyncio.get_running_loop().create_future()
    client.refresh.offer(URI, NEW)
    while not client.told:
        await asyncio.sleep(0)
    client.answer.set_result(None)
    await asyncio.sleep(0)
    (telling,) = client.tasks
    telling.cancel()
    for _ in range(20):
        await asyncio.sleep(0)
    assert telling.cancelled()
    assert client.told == 1


async def test_lenses_are_asked_for_again_only_when_they_offer_something_else() -> None:
    asked: list[None] = []
    tasks: list[asyncio.Task[None]] = []

    async def tell(params: None) -> None:
        asked.append(params)

    client = SimpleNamespace(
        supports=SimpleNamespace(lens_refresh=True),
        spawn=lambda work: tasks.append(asyncio.get_running_loop().create_task(work)),
        workspace_code_lens_refresh_async=tell,
    )
    refresh = LensRefresh(client)  # type: ignore[arg-type]
    counts = []
    for shown, runs in [(False, True), (True, True), (True, True), (True, False), (False, False)]:
        refresh.offer("file:///a.cl", shown=shown, runs=runs)
        await asyncio.gather(*tasks)
        counts.append(len(asked))
    assert counts == [0, 1, 1, 2, 3]
