"""A process that is killed while it writes leaves no lock, no half row, and loses nothing that it had kept."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from profiler.store import Store

WRITER = """
import sys
sys.path[:] = sys.argv[2:]
from dataclasses import replace
from profiler.measurement import Measurement
from profiler.store import Store, StoredMeasurement

store = Store.open(sys.argv[1])
m = Measurement(
    kernel="scale", kernel_fingerprint="f", launch_key="l", launch="64 / 8", device_id="pocl", device_name="A CPU",
    driver="3.1", median_us=10.0, p10_us=9.0, p90_us=12.0, ci95_us=(9.5, 10.5), repeats=20, batches=6,
    batch_spread_percent=1.5, local_size=(8,), load_average=0.1, measured_at="2026-01-01T00:00:00+00:00",
    notes=("long enough for several pages",) * 400,
)
first = len(store.everything())
for number in range(first, first + 1000, 2):
    two = [StoredMeasurement(replace(m, repeats=n), None, "k.cl::scale") for n in (number, number + 1)]
    store.add(*two)
    print(number + 2, flush=True)
"""


@pytest.mark.parametrize("seed", range(6))
def test_a_writer_that_is_killed_harms_nothing(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "store.sqlite3"
    moments = random.Random(seed)
    for _ in range(2):
        kept = _write_and_be_killed(path, after=moments.randrange(8))
        found = Store.open(path).everything()
        assert [each.measurement.repeats for each in found] == list(range(len(found)))
        assert len(found) % 2 == 0  # both of a call, or none
        assert len(found) >= kept
        with closing(sqlite3.connect(path, timeout=0)) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            database.execute("BEGIN IMMEDIATE")  # nobody holds it


def _write_and_be_killed(path: Path, *, after: int) -> int:
    """How many rows it had said were kept; killed somewhere in the middle of its next ones."""
    with subprocess.Popen(
        [sys.executable, "-I", "-c", WRITER, str(path), *sys.path], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        said = [writer.stdout.readline() for _ in range(after)]
        writer.kill()
        said += writer.stdout.readlines()
    return int(said[-1]) if said else 0
