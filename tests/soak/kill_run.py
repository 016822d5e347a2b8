"""An editor in which somebody types and measures, while one process after the other is killed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import sqlite3
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from pygls.exceptions import JsonRpcException

from profiler.store import FILE_NAME
from tests.bench.generate import generate_file
from tests.e2e.editor import PATIENCE_S, Editor, started
from tests.faults.watching import environment_of, wait_until_alone
from tests.soak.tree import SERVER, tree
from tests.soak.typing_run import KERNEL
from tests.soak.typist import Typist, position

EDITOR = "editor"
TYPED, MEASURED = "typed.cl", "measured.cl"
SETTINGS = {"device": "pocl", "measure": {"budgetS": 0.05, "timeLimitS": 60}}
KILLED = ("crashed", "out_of_resources", "build_failed", "measure")  # codes of measurements whose process was killed
FAILED = (JsonRpcException, OSError, RuntimeError, TimeoutError, pytest.fail.Exception)  # requests, and patience
LONGEST_WAIT_S = 2.5  # until the next kill: a measurement begins and ends within it
SHORT = """// kernelcast: global=1024 local=64 n=1024
__kernel void short_{number}(__global const float *a, __global float *b, int n) {{
  int i = get_global_id(0);
  if (i < n) b[i] = a[i] * {number}.0f;
}}
"""


@dataclass(frozen=True)
class Kill:
    """One, and what was seen until all was well again."""

    number: int
    role: str
    until_well_s: float
    hints: int
    measured: int
    refused: int  # measurements that were answered with a named failure
    problems: tuple[str, ...]


@dataclass
class Desk:
    """What one editor's user did and saw since the last kill."""

    editor: Editor
    hints: int = 0
    measured: int = 0
    refused: int = 0
    problems: list[str] = field(default_factory=list)
    is_over: bool = False  # the server was killed: what is not answered now never will be
    is_left: bool = False  # nobody types or measures here any more

    def give_up(self, why: str) -> None:
        if not self.is_over:
            self.problems.append(why[:300])
            self.is_left = True


class KillRun:
    """Owns a home with its store, and a server at a time."""

    def __init__(self, kernelcast: str, home: Path, seed: int, environment: dict[str, str] | None = None) -> None:
        self._kernelcast, self._home, self._seed = kernelcast, home, seed
        self._environment = environment or {}
        self._unique = 0
        self._files: set[str] = set()  # left by the last server
        self._measured: set[str] = set()  # kernels whose measurement was answered, by whichever server

    async def kill(self, numbers: list[int], tell: Callable[[Kill], None]) -> None:
        """Those numbered so; a server that is left, or the last one, is told to leave."""
        left = list(numbers)
        while left:
            mark = uuid.uuid4().hex
            kill: Kill | None = None
            async with self._at_work(mark) as (desk, bystander):
                await self._is_well(desk)
                while left and not desk.is_left and (kill is None or kill.role not in (SERVER, EDITOR)):
                    if kill is not None:
                        tell(kill)
                    kill = await self._one(left.pop(0), desk, bystander, mark)
                desk.is_over = True
                if kill is not None and kill.role not in (SERVER, EDITOR):
                    desk.problems += [] if await desk.editor.leave() == 0 else ["it did not leave with status 0"]
            alone = await wait_until_alone(mark, None, self._home / "tmp")
            if kill is not None:
                tell(replace(kill, problems=(*kill.problems, *desk.problems, *self._left(alone), *self._lost())))

    @asynccontextmanager
    async def _at_work(self, mark: str) -> AsyncIterator[tuple[Desk, asyncio.subprocess.Process]]:
        """A fresh server whose user types and measures all the time. The other process is the editor, to servers."""
        environment = {**environment_of(self._home, mark), **self._environment}
        bystander = await asyncio.create_subprocess_exec("sleep", "infinity")
        try:
            async with started(
                self._kernelcast, self._home, settings=SETTINGS, environment=environment, process_id=bystander.pid
            ) as editor:
                desk = Desk(editor)
                tasks = [asyncio.ensure_future(work(desk)) for work in (self._type, self._measure)]
                try:
                    yield desk, bystander
                finally:
                    desk.is_over = True
                    for task in tasks:
                        task.cancel()
                        with contextlib.suppress(asyncio.CancelledError):
                            await task
        finally:
            if bystander.returncode is None:
                bystander.kill()
                await bystander.wait()

    async def _one(self, number: int, desk: Desk, bystander: asyncio.subprocess.Process, mark: str) -> Kill:
        chance = random.Random(f"{self._seed} {number}")
        desk.hints = desk.measured = desk.refused = 0
        await asyncio.sleep(chance.uniform(0, LONGEST_WAIT_S))
        alive = tree(mark, desk.editor.server.pid)
        role = chance.choice(sorted([*alive, EDITOR]))
        begin = time.monotonic()
        desk.is_over = role in (SERVER, EDITOR)
        if role == EDITOR:
            bystander.kill()
        else:
            with contextlib.suppress(psutil.NoSuchProcess):
                chance.choice(alive[role]).kill()
        if desk.is_over:
            await asyncio.wait_for(desk.editor.server.wait(), PATIENCE_S)
        else:
            await self._is_well(desk)
        seconds = time.monotonic() - begin
        problems = (*desk.problems, *self._lost())
        desk.problems.clear()
        return Kill(number, role, seconds, desk.hints, desk.measured, desk.refused, problems)

    async def _is_well(self, desk: Desk) -> None:
        """A document that nobody has seen before has a hint by the learned model, and a kernel can be measured."""
        measured = desk.measured
        self._unique += 1
        name = "probe.cl"
        desk.editor.open(name, SHORT.format(number=1_000_000 + self._unique))
        try:
            await desk.editor.wait_for_hint(name, lambda label: label.startswith("≈"))
            async with asyncio.timeout(PATIENCE_S):
                while desk.measured == measured and not desk.problems:
                    await asyncio.sleep(0.02)
        except (TimeoutError, pytest.fail.Exception) as error:
            desk.problems.append(f"not well again: {error or 'nothing is measured'}"[:300])
        desk.editor.close(name)

    async def _type(self, desk: Desk) -> None:
        typist = Typist(generate_file(160, 4, self._seed), random.Random(self._seed))
        desk.editor.open(TYPED, typist.text)
        try:
            await desk.editor.wait_for_hint(TYPED)
            while not desk.is_over:
                before = typist.text
                change = typist.next()
                start, end = position(before, change.start), position(before, change.end)
                desk.editor.edit(TYPED, *start, change.text, end)
                if await desk.editor.hints(TYPED):
                    desk.hints += 1
                elif KERNEL in typist.text:
                    desk.problems.append("a text with kernels had no hint")
                await asyncio.sleep(0.05)
        except FAILED as error:
            desk.give_up(f"while typing: {type(error).__name__} {error}")

    async def _measure(self, desk: Desk) -> None:
        try:
            while not desk.is_over:
                self._unique += 1
                desk.editor.open(MEASURED, SHORT.format(number=self._unique))
                kernel = f"short_{self._unique}"
                answer = await desk.editor.measure(MEASURED, kernel)
                desk.editor.close(MEASURED)
                self._take(desk, kernel, answer)
        except FAILED as error:
            desk.give_up(f"while measuring: {type(error).__name__} {error}")

    def _take(self, desk: Desk, kernel: str, answer: dict[str, Any]) -> None:
        if "error" not in answer:
            desk.measured += 1
            self._measured.add(kernel)
            return
        desk.refused += 1
        if answer["error"]["code"] not in KILLED:
            desk.problems.append(f"a measurement ended so: {answer['error']}"[:300])

    def _left(self, found: list[str]) -> list[str]:
        """Of what is there without a server. A file may be left by one that was killed as it made it: then the next one
        removes it."""
        files = {each for each in found if each.startswith("file ")}
        wrong = sorted(files & self._files) + [each for each in found if each not in files]
        self._files = files
        return [f"left after the server: {each}" for each in wrong]

    def _lost(self) -> list[str]:
        """What was reported as measured, and is not in the store."""
        if not self._measured:
            return []
        with closing(sqlite3.connect(self._home / "data" / FILE_NAME, timeout=PATIENCE_S)) as database:
            rows = database.execute("SELECT measurement FROM measurements").fetchall()
        lost = self._measured - {json.loads(text)["kernel"] for (text,) in rows}
        self._measured -= lost
        return [f"the measurement of {kernel} is lost" for kernel in sorted(lost)]
