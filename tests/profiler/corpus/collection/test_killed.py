"""A collection that is killed again and again loses no finished row, measures none twice and comes to its end."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from profiler.corpus.collection.collect import collect
from profiler.corpus.collection.plan import CollectPlan
from profiler.corpus.collection.store import CorpusStore, RowKey, is_floor
from profiler.corpus.kernel import CorpusKernel

KILLS = 20


def test_twenty_kills_lose_nothing_and_double_nothing(
    plan: CollectPlan, make_kernel: Callable[..., CorpusKernel], filled: Callable[..., Path]
) -> None:
    plan = replace(plan, builders=1)
    kernels = [make_kernel(f"k{at}") for at in range(30)]
    folder = filled(*kernels)
    chance = random.Random(1)
    seen: dict[RowKey, str] = {}
    for _ in range(KILLS):
        wanted = len(seen) + chance.choice([0, 0, 1, chance.randint(2, 9)])
        with _collecting(folder, plan) as collector:
            while len(_rows(folder)) < wanted:
                assert os.waitpid(collector, os.WNOHANG) == (0, 0), "it ended before it could be killed"
            os.killpg(collector, signal.SIGKILL)
        now = _rows(folder)
        assert seen.items() <= now.items()  # each is there as it was, to the moment at which it was measured
        seen = now
    collect(folder, plan)
    rows = _rows(folder)
    assert seen.items() <= rows.items()
    firsts = {
        RowKey(device.id, kernel.id, each.launch.key)
        for device in plan.devices
        for kernel in kernels
        for each in kernel.launches
    }
    assert rows.keys() == firsts | {RowKey(k.device, k.kernel_id, k.launch_key, 1) for k in firsts if is_floor(k)}
    store = CorpusStore(folder)
    assert store.failures() == []  # a kill is no kernel's fault
    assert {row.attempts for row in store.rows()} == {1}
    assert len(store.stints()) <= KILLS + 1
    store.close()
    finished = Counter(f"{key.device} {key.kernel_id} {key.launch_key}" for key in rows)
    timed = Counter((folder.parent / "timed.txt").read_text().splitlines())
    assert all(timed[line] >= times for line, times in finished.items())


@contextmanager
def _collecting(folder: Path, plan: CollectPlan) -> Iterator[int]:
    """The id of a process, and of its group, that collects; its device processes have groups of their own."""
    collector = os.fork()  # a new interpreter would spend most of this test's time on its imports
    if collector == 0:
        status = 1
        try:
            os.setsid()
            collect(folder, plan)
            status = 0
        finally:
            os._exit(status)
    try:
        _wait_until(lambda: os.getsid(collector) == collector)
        yield collector
    finally:
        os.waitpid(collector, 0)


def _wait_until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        time.sleep(0.001)


def _rows(folder: Path) -> dict[RowKey, str]:
    database = sqlite3.connect(f"file:{folder / 'corpus.sqlite3'}?mode=ro", uri=True, timeout=30)
    try:
        query = "SELECT device, kernel_id, launch_key, repeat, timing || stint FROM rows"
        return {RowKey(*key): text for *key, text in database.execute(query)}
    finally:
        database.close()
