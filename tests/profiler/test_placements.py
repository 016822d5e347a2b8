"""Buffers in several places hold the same, and what a kernel changed is put back before it runs again."""

from __future__ import annotations

from pathlib import Path

import pytest

from profiler.process.worker import run_job

pytestmark = [pytest.mark.device, pytest.mark.usefixtures("nothing_left_behind")]

JOBS = '''
import numpy as np
import pyopencl as cl
from profiler.device_worker.memory import placements
from profiler.device_worker.memory.placements import Placements
from profiler.device_worker.probing import open_device

SOURCE = """__kernel void k(__global int* sum, __global const int* x, __global int* seen, int by) {
    seen[0] = sum[0];
    sum[0] += by * x[0];
}"""

def _made(share=0.5):
    placements.MOST_OF_DEVICE = share
    queue = cl.CommandQueue(cl.Context([open_device("pocl")]))
    kernel = cl.Program(queue.context, SOURCE).build().k
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(queue.context, flags, hostbuf=np.full(64, value, np.int32)) for value in (5, 7, 0)]
    return queue, Placements(kernel, queue, ((1,), (1,)), [*buffers, np.int32(2)], (0,)), buffers

def _seen(queue, made):
    """What one launch found in `sum` when it began."""
    made.enqueue().wait()
    found = np.zeros(64, np.int32)
    cl.enqueue_copy(queue, found, made._kernel_values()[2]).wait()
    return int(found[0])

def run_restored(reporter):
    queue, made, _ = _made()
    made._kernel_values = lambda: made._sets[made._bound]
    made.grow(4)
    found = []
    for batch in range(6):
        made.begin_batch()
        for train in (1, 1, 4, 2):
            made.restore(train)
            found += [_seen(queue, made) for _ in range(train)]
    return made.is_restored, made.longest_train, sorted(set(found))

def run_without_room(reporter):
    queue, made, _ = _made(share=0.0)
    made._kernel_values = lambda: made._sets[made._bound]
    made.grow(4)
    made.begin_batch()
    made.restore(1)
    return made.is_restored, made.longest_train, [_seen(queue, made) for _ in range(3)]
'''


@pytest.fixture(autouse=True)
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "placement_jobs.py").write_text(JOBS)
    monkeypatch.syspath_prepend(str(tmp_path))


def test_every_launch_finds_the_contents_of_the_beginning() -> None:
    assert run_job("placement_jobs:run_restored", returns=tuple) == (True, 4, [5])


def test_where_there_is_no_room_for_a_copy_the_kernel_runs_on_and_says_so() -> None:
    assert run_job("placement_jobs:run_without_room", returns=tuple) == (False, None, [5, 19, 33])
