"""A collection that is killed again and again loses no finished row, measures none twice and comes to its end."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from profiler.corpus.collection.plan import CollectPlan
from profiler.corpus.collection.store import CorpusStore, RowKey, is_floor
from profiler.corpus.kernel import CorpusKernel

COLLECTOR = Path(__file__).parent / "collector.py"
KILLS = 20


def test_twenty_kills_lose_nothing_and_double_nothing(
    plan: CollectPlan, make_kernel: Callable[..., CorpusKernel], filled: Callable[..., Path]
) -> None:
    kernels = [make_kernel(f"k{at}") for at in range(45)]
    folder = filled(*kernels)
    chance = random.Random(1)
    seen: dict[RowKey, str] = {}
    for _ in range(KILLS):
        wanted = len(seen) + chance.randint(0, 9)
        collector = _start(folder)
        while len(_rows(folder)) < wanted and collector.poll() is None:
            pass
        assert collector.poll() is None, "it ended before it could be killed"
        os.killpg(collector.pid, signal.SIGKILL)
        collector.wait()
        now = _rows(folder)
        assert seen.items() <= now.items()  # each is there as it was, to the moment at which it was measured
        seen = now
    assert _start(folder).wait(60) == 0
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
    # What was being timed at a kill is timed once more, and nothing else: one launch for each device's process.
    timed = Counter((folder.parent / "timed.txt").read_text().splitlines())
    doubled = sum(timed.values()) - len(rows)
    assert doubled <= KILLS * 60


def _start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, str(COLLECTOR), str(folder)], start_new_session=True)


def _rows(folder: Path) -> dict[RowKey, str]:
    database = sqlite3.connect(f"file:{folder / 'corpus.sqlite3'}?mode=ro", uri=True, timeout=30)
    try:
        query = "SELECT device, kernel_id, launch_key, repeat, timing || stint FROM rows"
        return {RowKey(*key): text for *key, text in database.execute(query)}
    finally:
        database.close()
