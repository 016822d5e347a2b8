"""What a fault must leave as it was: answers, processes, files, and what the store holds."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

import psutil

from profiler.store import FILE_NAME
from tests.e2e.editor import Editor

MARK = "KERNELCAST_FAULTS_MARK"
GONE_S = 20.0  # for what was killed to be gone
_BETWEEN_S = 0.05


@dataclass
class Answers:
    """Of a client that asks for hints all the time."""

    asked: int = 0
    longest_s: float = 0.0
    missing: int = 0


@asynccontextmanager
async def hints_throughout(editor: Editor, name: str) -> AsyncIterator[Answers]:
    """Ask for the hints of a document without pause while the block runs, editing it now and then."""
    answers = Answers()
    is_over = asyncio.Event()

    async def ask() -> None:
        while not is_over.is_set() or answers.asked == 0:
            begin = time.monotonic()
            hints = await editor.hints(name)
            answers.longest_s = max(answers.longest_s, time.monotonic() - begin)
            answers.asked += 1
            answers.missing += not hints
            # Back and forth: texts that were never seen fill the caches, which is no growth to be held against a fault.
            if answers.asked % 20 == 10:
                editor.edit(name, 0, 0, " ")
            elif answers.asked % 20 == 0:
                editor.edit(name, 0, 0, "", end=(0, 1))
            await asyncio.sleep(_BETWEEN_S)

    await editor.wait_for_hint(name)
    asking = asyncio.ensure_future(ask())
    try:
        yield answers
    finally:
        is_over.set()
        await asking


def processes(mark: str) -> list[psutil.Process]:
    """All that a server with this mark in its environment started, wherever they are by now, and itself."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                found.append(process)
        except psutil.Error:
            continue
    return found


async def wait_until_alone(mark: str, server: int | None, temporary: Path) -> list[str]:
    """What is left beside the server after a while, of processes and of temporary files; nothing, if all is well."""
    deadline = time.monotonic() + GONE_S
    while True:
        left = [each for each in processes(mark) if each.pid != server]
        if server is not None:
            known = {each.pid for each in left}
            left += [each for each in psutil.Process(server).children(recursive=True) if each.pid not in known]
        told = [f"process {_told(each)}" for each in left] + [f"file {each}" for each in _files_below(temporary)]
        if not told or time.monotonic() > deadline:
            return told
        await asyncio.sleep(_BETWEEN_S)


def _files_below(folder: Path) -> list[str]:
    """Others may be removing them."""
    return sorted(os.path.join(at, name) for at, folders, names in os.walk(folder) for name in (*folders, *names))


@dataclass(frozen=True)
class Kept:
    """What the store holds, read without Kernelcast."""

    measurements: tuple[tuple[int, str], ...]
    profiles: int
    integrity: str


def kept(data: Path) -> Kept:
    if not (data / FILE_NAME).exists():
        return Kept((), 0, "ok")
    with closing(sqlite3.connect(data / FILE_NAME, timeout=GONE_S)) as database:
        rows = database.execute("SELECT id, measurement FROM measurements ORDER BY id").fetchall()
        profiles = database.execute("SELECT count(*) FROM profiles").fetchone()[0]
        integrity = database.execute("PRAGMA integrity_check").fetchone()[0]
    return Kept(tuple(rows), profiles, integrity)


@dataclass(frozen=True)
class Held:
    """What the server holds of the system."""

    files: int
    threads: int
    memory_mb: float


def held(server: int) -> Held:
    process = psutil.Process(server)
    with process.oneshot():
        return Held(process.num_fds(), process.num_threads(), process.memory_info().rss / 1e6)


def _told(process: psutil.Process) -> str:
    try:
        return f"{process.pid} ({process.status()}): {' '.join(process.cmdline())[-120:]}"
    except psutil.Error:
        return f"{process.pid} (gone meanwhile)"


def environment_of(home: Path, mark: str) -> dict[str, str]:
    """Of a server whose files all lie below `home`."""
    for name in ("tmp", "cache"):
        (home / name).mkdir(exist_ok=True)
    own = {"TMPDIR": str(home / "tmp"), "XDG_CACHE_HOME": str(home / "cache"), MARK: mark}
    return {**{key: value for key, value in os.environ.items() if key != "POCL_CACHE_DIR"}, **own}
