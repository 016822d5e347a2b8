"""Work off the event loop: its result, its failure, and an end that nobody has to wait for."""

from __future__ import annotations

import asyncio
import threading

import pytest

from server.background import in_background

pytestmark = pytest.mark.asyncio


async def test_the_result_comes_back_from_another_thread() -> None:
    assert await in_background(lambda: threading.current_thread().name, "a page") == "a page"


async def test_a_failure_is_raised_where_it_is_awaited() -> None:
    with pytest.raises(ZeroDivisionError):
        await in_background(lambda: 1 // 0, "a page")


async def test_the_loop_goes_on_and_a_cancelled_request_harms_nothing() -> None:
    release, done = threading.Event(), threading.Event()

    def work() -> None:
        release.wait()
        done.set()

    task = asyncio.ensure_future(in_background(work, "a page"))
    await asyncio.sleep(0)
    assert [t.daemon for t in threading.enumerate() if t.name == "a page"] == [True]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    release.set()
    assert done.wait(60)
    await asyncio.sleep(0)
