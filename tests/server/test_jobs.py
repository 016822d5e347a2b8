"""Device work that gives way to other work, or that nobody can wait for any more."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest

from profiler.measurement import Cancelled
from server.device_work.jobs import Jobs, OnProgress

PATIENCE_S = 60.0


@pytest.mark.asyncio
async def test_a_job_that_comes_when_the_server_is_leaving_is_cancelled() -> None:
    jobs = Jobs()
    jobs.close()
    with pytest.raises(Cancelled):
        await jobs.run(lambda *_: 1, lambda *_: None, threading.Event())
    assert await jobs.run_aside(lambda *_: 1) is None


def patient_work(jobs: Jobs, begun: threading.Event, log: list[str]) -> Callable[[OnProgress, threading.Event], str]:
    """Work in many steps, which gives way between two of them; ends once it has given way, or is cancelled."""

    def work(_tell: OnProgress, cancel: threading.Event) -> str:
        log.append("learn")
        begun.set()
        while not (jobs.is_wanted or cancel.is_set()):
            cancel.wait(0.001)
        jobs.give_way()
        log.append("go on")
        return "learned"

    return work


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Jobs]:
    monkeypatch.setattr("server.device_work.jobs.SETTLE_S", 0.01)
    made = Jobs()
    yield made
    made.close()


@pytest.mark.asyncio
async def test_a_measurement_comes_before_the_end_of_what_is_learned_in_the_background(jobs: Jobs) -> None:
    log: list[str] = []
    begun = threading.Event()
    learning = asyncio.ensure_future(
        jobs.run(patient_work(jobs, begun, log), lambda *_: None, threading.Event(), is_patient=True)
    )
    await asyncio.to_thread(begun.wait, PATIENCE_S)
    threads: list[str] = []

    def measure(_tell: OnProgress, _cancel: threading.Event) -> str:
        threads.append(threading.current_thread().name)
        log.append("measure")
        return "measured"

    assert await jobs.run(measure, lambda *_: None, threading.Event()) == "measured"
    assert not learning.done() or log.index("measure") < log.index("go on")
    assert await asyncio.wait_for(learning, PATIENCE_S) == "learned"
    assert log == ["learn", "measure", "go on"]
    assert threads[0].startswith("device"), "in the one thread that uses devices"


@pytest.mark.asyncio
async def test_a_measurement_that_fails_or_is_cancelled_does_not_end_what_gave_way_to_it(jobs: Jobs) -> None:
    def fail(_tell: OnProgress, _cancel: threading.Event) -> None:
        raise Cancelled("cancelled")

    begun = threading.Event()
    learning = asyncio.ensure_future(
        jobs.run(patient_work(jobs, begun, []), lambda *_: None, threading.Event(), is_patient=True)
    )
    await asyncio.to_thread(begun.wait, PATIENCE_S)
    with pytest.raises(Cancelled):
        await jobs.run(fail, lambda *_: None, threading.Event())
    assert await asyncio.wait_for(learning, PATIENCE_S) == "learned"


@pytest.mark.asyncio
async def test_a_patient_job_begins_after_those_that_came_later_and_gives_way_to_no_patient_one(jobs: Jobs) -> None:
    log: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def step(name: str) -> Callable[[OnProgress, threading.Event], None]:
        def work(_tell: OnProgress, _cancel: threading.Event) -> None:
            log.append(name)
            begun.set()
            assert go_on.wait(PATIENCE_S)

        return work

    first = asyncio.ensure_future(jobs.run(step("first"), lambda *_: None, threading.Event()))
    await asyncio.to_thread(begun.wait, PATIENCE_S)
    patient = asyncio.ensure_future(jobs.run(step("patient"), lambda *_: None, threading.Event(), is_patient=True))
    await asyncio.sleep(0)
    assert not jobs.is_wanted
    later = asyncio.ensure_future(jobs.run(step("later"), lambda *_: None, threading.Event()))
    await asyncio.sleep(0)
    assert jobs.is_wanted
    go_on.set()
    await asyncio.wait_for(asyncio.gather(first, patient, later), PATIENCE_S)
    assert log == ["first", "later", "patient"]


@pytest.mark.asyncio
async def test_closing_ends_what_gave_way_and_what_waits(jobs: Jobs) -> None:
    begun, cancel = threading.Event(), threading.Event()

    def measure(_tell: OnProgress, own: threading.Event) -> None:
        begun.set()
        assert own.wait(PATIENCE_S)
        raise Cancelled("cancelled")

    learning = asyncio.ensure_future(
        jobs.run(patient_work(jobs, threading.Event(), []), lambda *_: None, cancel, is_patient=True)
    )
    measuring = [asyncio.ensure_future(jobs.run(measure, lambda *_: None, threading.Event())) for _ in range(2)]
    await asyncio.to_thread(begun.wait, PATIENCE_S)
    jobs.close()
    assert cancel.is_set()
    ends = await asyncio.wait_for(asyncio.gather(learning, *measuring, return_exceptions=True), PATIENCE_S)
    assert all(end == "learned" or isinstance(end, Cancelled | asyncio.CancelledError) for end in ends)
