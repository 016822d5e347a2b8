"""Background work: only the newest state is analysed, one job runs at a time, and a fault costs one answer."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from types import ModuleType

import pytest

from profiler.measurement import Cancelled
from server.analysis.request import AnalysisRequest
from server.analysis.scheduler import Scheduler
from server.client.settings import Settings
from server.device_work.jobs import Jobs, OnProgress
from server.documents import Document
from server.positions import IndexedText

PATIENCE_S = 60.0


def order(number: int, uri: str = "file:///a.cl") -> AnalysisRequest:
    return AnalysisRequest(number, Document(uri, number, IndexedText.of("")), Settings(), "", ())


class SlowAnalyzer:
    """Begins when told, and remembers what it was given."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []
        self.forgotten: list[str] = []
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def analyses(self, given: AnalysisRequest) -> Iterator[AnalysisRequest]:
        self.seen.append((given.document.uri, given.number))
        self.begun.set()
        assert self.go_on.wait(PATIENCE_S)
        if given.number < 0:
            raise ZeroDivisionError("a fault of ours")
        yield given

    def forget(self, uri: str) -> None:
        self.forgotten.append(uri)


@pytest.fixture
def analyzer(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowAnalyzer]:
    made = SlowAnalyzer()
    stand_in = ModuleType("server.analysis.analyzer")
    stand_in.Analyzer = lambda _timings, _samples: made  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "server.analysis.analyzer", stand_in)
    yield made
    made.go_on.set()


class Desk:
    """Where answers arrive."""

    def __init__(self) -> None:
        self.delivered: list[int] = []
        self.complaints: list[str] = []
        self.news = asyncio.Event()

    def deliver(self, answer: AnalysisRequest) -> None:
        self.delivered.append(answer.number)
        self.news.set()

    def complain(self, uri: str, reason: str) -> None:
        self.complaints.append(f"{uri}: {reason}")
        self.news.set()

    async def until(self, count: int) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while len(self.delivered) + len(self.complaints) < count:
                self.news.clear()
                await self.news.wait()


@pytest.mark.asyncio
async def test_states_that_were_overtaken_are_never_analysed(analyzer: SlowAnalyzer) -> None:
    desk = Desk()
    scheduler = Scheduler(desk.deliver, desk.complain)  # type: ignore[arg-type]
    scheduler.submit(order(1))
    scheduler.start()
    await asyncio.to_thread(analyzer.begun.wait, PATIENCE_S)
    for number in range(2, 50):
        scheduler.submit(order(number))
    analyzer.go_on.set()
    await desk.until(2)
    scheduler.stop()
    assert desk.delivered == [1, 49]


@pytest.mark.asyncio
async def test_the_document_being_typed_in_comes_first(analyzer: SlowAnalyzer) -> None:
    desk = Desk()
    scheduler = Scheduler(desk.deliver, desk.complain)  # type: ignore[arg-type]
    for number, name in enumerate("abc", 1):
        scheduler.submit(order(number, name))
    scheduler.submit(order(4, "a"))
    analyzer.go_on.set()
    scheduler.start()
    await desk.until(3)
    scheduler.stop()
    assert desk.delivered == [4, 3, 2]


@pytest.mark.asyncio
async def test_a_closed_document_is_not_analysed(analyzer: SlowAnalyzer) -> None:
    desk = Desk()
    scheduler = Scheduler(desk.deliver, desk.complain)  # type: ignore[arg-type]
    scheduler.submit(order(1, "closed"))
    scheduler.submit(order(2, "open"))
    scheduler.forget("closed")
    analyzer.go_on.set()
    scheduler.start()
    await desk.until(1)
    scheduler.stop()
    assert analyzer.seen == [("open", 2)]


@pytest.mark.asyncio
async def test_the_engine_forgets_what_was_closed_and_not_what_was_opened_again(analyzer: SlowAnalyzer) -> None:
    desk = Desk()
    scheduler = Scheduler(desk.deliver, desk.complain)  # type: ignore[arg-type]
    for number, name in enumerate(("file:///closed.cl", "file:///again.cl"), 1):
        scheduler.submit(order(number, name))
        scheduler.forget(name)
    scheduler.submit(order(3, "file:///again.cl"))
    analyzer.go_on.set()
    scheduler.start()
    await desk.until(1)
    scheduler.submit(order(4, "file:///other.cl"))
    await desk.until(2)
    while scheduler.has_work:
        await asyncio.sleep(0)
    scheduler.stop()
    assert analyzer.seen == [("file:///again.cl", 3), ("file:///other.cl", 4)]
    assert analyzer.forgotten == ["file:///closed.cl"]


@pytest.mark.asyncio
async def test_a_fault_of_ours_is_told_and_costs_one_answer_alone(analyzer: SlowAnalyzer) -> None:
    desk = Desk()
    scheduler = Scheduler(desk.deliver, desk.complain)  # type: ignore[arg-type]
    analyzer.go_on.set()
    scheduler.start()
    scheduler.submit(order(-1, "bad"))
    await desk.until(1)
    scheduler.submit(order(2, "good"))
    await desk.until(2)
    scheduler.stop()
    assert desk.complaints == ["bad: ZeroDivisionError: a fault of ours"]
    assert desk.delivered == [2]


def until_cancelled(_tell: OnProgress, cancel: threading.Event) -> None:
    assert cancel.wait(PATIENCE_S)
    raise Cancelled("cancelled")


@pytest.mark.asyncio
async def test_jobs_run_one_at_a_time_and_tell_how_far_they_are() -> None:
    jobs, running, most, told = Jobs(), [0], [0], []

    def work(tell: OnProgress, _cancel: threading.Event) -> int:
        running[0] += 1
        most[0] = max(most[0], running[0])
        tell(0.5, "half")
        running[0] -= 1
        return 7

    answers = await asyncio.gather(
        *(jobs.run(work, lambda *what: told.append(what), threading.Event()) for _ in range(5))
    )
    assert answers == [7] * 5
    assert most == [1]
    await asyncio.sleep(0)
    assert [each for each in told if each[0]] == [(0.5, "half")] * 5
    assert [text for share, text in told if not share] == ["waiting for its turn"] * 4
    jobs.close()


@pytest.mark.asyncio
async def test_cancelling_the_request_cancels_its_job() -> None:
    jobs, cancel = Jobs(), threading.Event()
    task = asyncio.ensure_future(jobs.run(until_cancelled, lambda *_: None, cancel))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancel.is_set()
    assert await jobs.run(lambda *_: "the next one", lambda *_: None, threading.Event()) == "the next one"
    jobs.close()


@pytest.mark.asyncio
async def test_closing_ends_the_running_job_and_those_that_wait() -> None:
    jobs = Jobs()
    tasks = [asyncio.ensure_future(jobs.run(until_cancelled, lambda *_: None, threading.Event())) for _ in range(3)]
    await asyncio.sleep(0)
    jobs.close()
    ends = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), PATIENCE_S)
    assert all(isinstance(end, Cancelled | asyncio.CancelledError) for end in ends)


@pytest.mark.asyncio
async def test_garbage_is_looked_for_when_nobody_types(analyzer: SlowAnalyzer, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = threading.Event()
    monkeypatch.setattr("server.gc_policy.IDLE_S", 0.01)
    monkeypatch.setattr("server.gc_policy.Collections.make", lambda _: looked.set())
    desk = Desk()
    scheduler = Scheduler(desk.deliver, desk.complain)  # type: ignore[arg-type]
    scheduler.submit(order(1))
    scheduler.start()
    await asyncio.to_thread(analyzer.begun.wait, PATIENCE_S)
    assert not looked.is_set()
    analyzer.go_on.set()
    assert await asyncio.to_thread(looked.wait, PATIENCE_S)
    scheduler.stop()
