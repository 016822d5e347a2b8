"""The predictor process: it answers beside the server, comes back when it dies, and is given up when it dies again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from model.learned.learned import WEIGHTS_VARIABLE
from model.learned.lessons import Lesson, Lessons, packed
from model.learned.question import ANALYTIC_FACT_NAMES, Question
from server.predictor import client as client_module
from server.predictor import process as process_module
from server.predictor.client import ModelClient

pytestmark = pytest.mark.asyncio

PATIENCE_S = 60.0
URI = "file:///a.cl"
ASKED = Question("scale", ("kernel",), (1.0,), (2.0,) * len(ANALYTIC_FACT_NAMES), (3.0,), None, 10.0, 1.0, 0.0, "cpu")

# A model that does what a question's kernel is called. Its folder has a file for each time it was loaded.
FICKLE = """
import os, pathlib, signal, sys, time
from model.learned.question import Answer
from model.prediction import Quantiles

class Fickle:
    def answer(self, questions):
        for each in questions:
            if each.kernel == "dies":
                os.kill(os.getpid(), signal.SIGKILL)
            if each.kernel == "raises":
                raise ValueError("a fault of ours")
            if each.kernel == "chats":
                print("a chatty library", flush=True)
                os.write(1, b"a chatty driver")
            if each.kernel == "grows":
                bytearray(64 << 30)
            while each.kernel == "hangs":
                time.sleep(60)
        return [Answer(Quantiles(q.total_us, q.total_us * 2, q.total_us * 4), 0.5) for q in questions]

def load(folder, description):
    (folder / f"loaded by {os.getpid()}").touch()
    if (folder / "broken").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return Fickle()
"""
BOOT = (
    "import sys; sys.path[:] = [*sys.argv[1:], {folder!r}]; from model.learned import learned; "
    "learned._READERS['fickle'] = 'fickle'; from server.predictor.child import main; main()"
)


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "fickle.py").write_text(FICKLE)
    (tmp_path / "model.json").write_text(json.dumps({"kind": "fickle"}))
    monkeypatch.setenv(WEIGHTS_VARIABLE, str(tmp_path))
    monkeypatch.setattr(process_module, "BOOT", BOOT.format(folder=str(tmp_path)))
    return tmp_path


class Reader:
    """Somebody who asks, and hears the news."""

    def __init__(self, idle_s: float = PATIENCE_S) -> None:
        self.heard: list[str] = []
        self._news = asyncio.Event()
        self.learned = ModelClient(self._hear, idle_s=idle_s)
        self.learned.start()

    def _hear(self, uri: str) -> None:
        self.heard.append(uri)
        self._news.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                self._news.clear()
                await self._news.wait()

    async def answer(self, *questions: Question, lessons: dict[str, Lessons] | None = None) -> list[float]:
        """As soon as all are known."""
        taught = lessons or {}
        self.learned.ask(URI, questions, taught)
        await self.until(lambda: all(self.learned.known(each, taught) for each in questions))
        found = (self.learned.known(each, taught) for each in questions)
        return [answer.runtime_us.p50 for answer in found if answer]


@pytest_asyncio.fixture
async def reader(weights: Path) -> AsyncIterator[Reader]:
    assert weights.exists()
    made = Reader()
    yield made
    made.learned.stop()


def named(kernel: str, total_us: float = 10.0) -> Question:
    return replace(ASKED, kernel=kernel, total_us=total_us)


def processes(weights: Path) -> list[psutil.Process]:
    """The predictor processes that are alive."""
    children = [each for each in psutil.Process().children() if each.status() != psutil.STATUS_ZOMBIE]
    return [each for each in children if str(weights) in " ".join(each.cmdline())]


def loads(weights: Path) -> int:
    return len(list(weights.glob("loaded by *")))


async def test_no_weights_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WEIGHTS_VARIABLE, str(tmp_path / "nowhere"))
    reader = Reader()
    assert not reader.learned.is_there
    assert not reader.learned.awaits(ASKED, {})
    reader.learned.ask(URI, [ASKED], {})
    assert reader.learned.now([ASKED], {}, PATIENCE_S) == [None]
    assert reader.learned.problem == ""
    reader.learned.stop()


async def test_nothing_is_started_before_the_first_question(weights: Path, reader: Reader) -> None:
    assert reader.learned.awaits(ASKED, {})
    assert loads(weights) == 0
    assert await reader.answer(ASKED, named("other", 7.0)) == [20.0, 14.0]
    assert loads(weights) == 1
    assert reader.heard == [URI]


async def test_what_libraries_print_reaches_nobody(reader: Reader) -> None:
    assert await reader.answer(named("chats")) == [20.0]
    assert await reader.answer(named("afterwards")) == [20.0]


async def test_a_process_that_is_killed_comes_back_and_what_it_said_is_remembered(
    weights: Path, reader: Reader
) -> None:
    await reader.answer(ASKED)
    (first,) = processes(weights)
    first.kill()
    assert reader.learned.known(ASKED, {}) is not None
    assert await reader.answer(named("new")) == [20.0]
    (second,) = processes(weights)
    assert second.pid != first.pid
    assert reader.learned.problem == ""


async def test_a_process_that_nobody_asks_leaves_and_is_back_when_it_is_asked(weights: Path) -> None:
    reader = Reader(idle_s=0.02)
    lessons = {"cpu": Lessons.of(Lesson(packed(named(f"kernel {n}")), 200.0) for n in range(20))}
    before = await reader.answer(ASKED, lessons=lessons)
    async with asyncio.timeout(PATIENCE_S):
        while processes(weights):
            await asyncio.sleep(0.01)
    assert loads(weights) == 1
    assert reader.learned.is_there
    assert reader.learned.known(ASKED, lessons) is not None, "what it said is remembered"
    assert await reader.answer(named("new"), lessons=lessons) == before, "the new one is taught as the first was"
    assert loads(weights) == 2
    assert reader.learned.problem == ""
    reader.learned.stop()


async def test_a_question_that_kills_is_given_up_and_costs_no_other_its_answer(reader: Reader) -> None:
    others = [named(f"kernel {number}", float(number)) for number in range(1, 6)]
    reader.learned.ask(URI, [*others[:2], named("dies"), *others[2:]], {})
    await reader.until(lambda: not reader.learned.awaits(named("dies"), {}))
    assert await reader.answer(*others) == [2.0, 4.0, 6.0, 8.0, 10.0]
    assert reader.learned.known(named("dies"), {}) is None
    assert reader.learned.is_there


async def test_a_fault_of_the_model_is_a_death_like_any_other(reader: Reader) -> None:
    reader.learned.ask(URI, [named("raises")], {})
    await reader.until(lambda: not reader.learned.awaits(named("raises"), {}))
    assert await reader.answer(named("good")) == [20.0]


async def test_a_model_that_takes_all_memory_is_ended_before_the_machine_has_none(reader: Reader) -> None:
    reader.learned.ask(URI, [named("grows")], {})
    await reader.until(lambda: not reader.learned.awaits(named("grows"), {}))
    assert await reader.answer(named("good")) == [20.0]


async def test_a_model_that_hangs_is_ended(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    await reader.answer(ASKED)
    monkeypatch.setattr(client_module, "LIMIT_S", 0.2)
    reader.learned.ask(URI, [named("hangs")], {})
    await reader.until(lambda: not reader.learned.awaits(named("hangs"), {}))


async def test_a_process_that_dies_again_and_again_is_given_up_with_a_reason(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "RESTART_AFTER_S", (0.0, 0.0))
    (weights / "broken").touch()
    reader = Reader()
    reader.learned.ask(URI, [named(f"kernel {number}") for number in range(9)], {})
    await reader.until(lambda: "" in reader.heard)
    assert not reader.learned.is_there
    assert not reader.learned.awaits(named("kernel 0"), {})
    assert "3 times in a row" in reader.learned.problem
    assert "SIGKILL" in reader.learned.problem
    assert loads(weights) == 3
    assert reader.learned.now([named("later")], {}, PATIENCE_S) == [None]


async def test_weights_that_cannot_be_used_are_a_reason_and_no_death(weights: Path) -> None:
    (weights / "model.json").write_text("{}")
    reader = Reader()
    reader.learned.ask(URI, [ASKED], {})
    await reader.until(lambda: "" in reader.heard)
    assert "damaged" in reader.learned.problem


async def test_lessons_change_what_is_said_at_once(reader: Reader) -> None:
    lessons = {"cpu": Lessons.of(Lesson(packed(named(f"kernel {n}")), 200.0) for n in range(20))}
    before = await reader.answer(ASKED)
    after = await reader.answer(ASKED, lessons=lessons)
    assert before == [20.0]
    assert after[0] > 100.0
    for process in psutil.Process().children():
        process.kill()
    assert await reader.answer(named("new"), lessons=lessons) == after, "a new process is taught anew"


async def test_whoever_can_wait_gets_the_answers(reader: Reader) -> None:
    found = await asyncio.to_thread(reader.learned.now, [ASKED, named("dies")], {}, PATIENCE_S)
    assert [answer.runtime_us.p50 if answer else None for answer in found] == [20.0, None]
    assert URI not in reader.heard


async def test_the_process_ends_with_the_server_however_that_ends(weights: Path) -> None:
    script = (
        "import asyncio, os, sys; from server.predictor import process; "
        f"process.BOOT = {process_module.BOOT!r}; "
        "from tests_question import ASKED; from server.predictor.client import ModelClient; "
        "learned = ModelClient(print); print(len(learned.now([ASKED], {}, 60)), flush=True); sys.stdin.read()"
    )
    (weights / "tests_question.py").write_text(f"from model.learned.question import Question\nASKED = {ASKED!r}\n")
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(weights)},
    )  # fmt: skip
    assert server.stdout is not None
    assert await asyncio.wait_for(server.stdout.readline(), PATIENCE_S) == b"1\n"
    (child,) = psutil.Process(server.pid).children()
    server.send_signal(signal.SIGKILL)
    await server.wait()
    await asyncio.to_thread(psutil.wait_procs, [child], PATIENCE_S)
    assert not child.is_running()
