"""The thread that has work-items run: what is wanted now is run, and where that is not possible it says why."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from model.launch.launch import Launch
from model.samples import SampleKey, Samples
from model.work.walk.sample import Sample
from server.predictor import sampling as module
from server.predictor.messages import RunItems
from server.predictor.process import ProcessEnded
from server.predictor.sampling import MAX_CRASHES, Sampling


def wanted(*names: str) -> dict[SampleKey, RunItems]:
    launch = Launch((64,), (64,))
    return {SampleKey(name, (), launch.key): RunItems("", None, None, name, launch) for name in names}


def fake_process(monkeypatch: pytest.MonkeyPatch, answer: Callable[[str], Sample]) -> list[str]:
    """Kernels that were run, in their order; `answer` may raise."""
    ran: list[str] = []

    class Process:
        def __init__(self, _on_end: Callable[[], None]) -> None:
            pass

        def ask(self, order: RunItems, _limit_s: float, _is_stopped: Callable[[], bool]) -> Sequence[Any]:
            ran.append(order.kernel)
            return (answer(order.kernel),)

        def end(self) -> None:
            pass

        close = end

    monkeypatch.setattr(module, "PredictorProcess", Process)
    return ran


async def until_told(samples: Samples, orders: dict[SampleKey, RunItems]) -> list[Sample]:
    """What is known once all of it is told."""
    told = asyncio.Event()
    sampling = Sampling(samples, lambda _uri: told.set())
    sampling.start()
    sampling.ask("file:///k.cl", orders)
    async with asyncio.timeout(30):
        while not all(samples.of(key) for key in orders):
            await told.wait()
            told.clear()
    sampling.stop()
    return [found for key in orders if (found := samples.of(key)) is not None]


@pytest.mark.asyncio
async def test_what_was_run_is_known_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = fake_process(monkeypatch, lambda _: Sample(2048))
    found = await until_told(Samples(), wanted("a", "b"))
    assert ran == ["a", "b"]
    assert [sample.items for sample in found] == [2048, 2048]


@pytest.mark.asyncio
async def test_the_first_is_told_before_the_others_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    told = threading.Event()
    fake_process(monkeypatch, lambda kernel: Sample(2048 if kernel == "first" or told.wait(30) else 0))
    samples, orders = Samples(), wanted("first", "second")
    sampling = Sampling(samples, lambda _uri: told.set())
    sampling.start()
    sampling.ask("file:///k.cl", orders)
    assert await asyncio.to_thread(told.wait, 30)
    sampling.stop()
    first = samples.of(next(iter(orders)))
    assert first is not None
    assert first.items == 2048


@pytest.mark.asyncio
async def test_what_is_known_is_not_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = fake_process(monkeypatch, lambda _: Sample(2048))
    samples = Samples()
    orders = wanted("a", "b")
    samples.put(next(iter(orders)), Sample(1))
    await until_told(samples, orders)
    assert ran == ["b"]


@pytest.mark.asyncio
async def test_a_kernel_that_ends_the_process_twice_costs_its_own_sample_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(kernel: str) -> Sample:
        if kernel == "deadly":
            raise ProcessEnded("it was ended by SIGKILL")
        return Sample(2048)

    ran = fake_process(monkeypatch, answer)
    deadly, good = await until_told(Samples(), wanted("deadly", "good"))
    assert ran == ["deadly", "deadly", "good"]
    assert "SIGKILL" in (deadly.stopped or "")
    assert good.stopped is None


@pytest.mark.asyncio
async def test_a_process_that_never_starts_is_given_up_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(_: str) -> Sample:
        raise ProcessEnded("there is no memory")

    ran = fake_process(monkeypatch, answer)
    found = await until_told(Samples(), wanted("a", "b", "c"))
    assert len(ran) == MAX_CRASHES
    assert all("there is no memory" in (sample.stopped or "") for sample in found)
