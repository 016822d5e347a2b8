"""Where a device has no guard pages, a launch is proved elsewhere first, and by canaries if there is nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from model.launch.launch import Launch
from model.opencl.program import read_program
from profiler.device_worker.guards.oclgrind import find_oclgrind, invalid_accesses
from profiler.measurement import MeasureRequest, OutOfBounds
from profiler.process.worker import run_job

pytestmark = pytest.mark.usefixtures("nothing_left_behind")
needs_oclgrind = pytest.mark.skipif(find_oclgrind() is None, reason="Oclgrind is not installed: make oracle-packages")

SOURCE = """__kernel void shifted(__global const float* x, __global float* y, int by) {
    int i = get_global_id(0);
    float seen = x[i + by];
    y[i] = seen;
}
__kernel void in_fours(__global float* y) { int i = get_global_id(0); vstore4(vload4(i, y), i, y + 1); }
__kernel void own(__global float* y, __local float* mine) {
    int i = get_local_id(0);
    mine[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = mine[63 - i];
}
__kernel void wild(__global const float* x, __global float* y) { *(__global float*)(ulong)get_global_id(0) = y[0]; }
__kernel void zeroes(__global float* y, int by) { y[(int)get_global_id(0) + by] = 0; }
"""
JOBS = """
from profiler.device_worker import probing
from profiler.device_worker.guards import proof
from profiler.device_worker.guards.cross_device_check import prove_elsewhere
from profiler.device_worker.guards.elsewhere_jobs import trial_of
from profiler.measurement import OutOfBounds

def by_canaries(requests, reporter):
    # The word for each, or what is wrong.
    device = probing.open_device("pocl")
    return tuple(_word(device, request, reporter) for request in requests)

def _word(device, request, reporter):
    trial, phase = trial_of(device, request, reporter)
    try:
        return proof.by_canaries(trial, reporter, phase)
    except OutOfBounds as error:
        return error.message

def elsewhere(request, reporter):
    return prove_elsewhere(request, reporter)
"""
N = 1000


def request(kernel: str, launch: Launch) -> MeasureRequest:
    return MeasureRequest(SOURCE, None, read_program(SOURCE).kernel(kernel), launch, "a-gpu")


def shifted(by: int, *, x: int = N, y: int = N) -> Launch:
    return Launch((N,), (8,), (("by", by),), (("x", x), ("y", y)))


@pytest.fixture(autouse=True)
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bounds_jobs.py").write_text(JOBS)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.device
def test_a_launch_for_a_gpu_is_proved_on_the_processor() -> None:
    assert run_job("bounds_jobs:elsewhere", (request("shifted", shifted(0)),), returns=str) == "guard pages"
    with pytest.raises(OutOfBounds, match=re.escape("`x[1000]` is read past its end on line 3")):
        run_job("bounds_jobs:elsewhere", (request("shifted", shifted(1)),), returns=str)


@pytest.mark.device
def test_a_launch_that_crashes_on_the_processor_is_not_run_on_the_gpu() -> None:
    launch = Launch((8,), (8,), (), (("x", N), ("y", N)))
    with pytest.raises(OutOfBounds, match=r"kernel `wild` crashed \(SIGSEGV\): it writes at a null pointer"):
        run_job("bounds_jobs:elsewhere", (request("wild", launch),), returns=str)


@needs_oclgrind
@pytest.mark.parametrize(
    ("kernel", "launch", "sentence"),
    [
        ("shifted", shifted(1), "`x[1000]` is read past its end on line 3: buffer `x` has 1000 elements; give it more"),
        ("shifted", shifted(-1), "`x[-1]` is read in front of its beginning on line 3"),
        ("shifted", shifted(0, y=N - 1), "`y[999]` is written past its end on line 4"),
        ("in_fours", Launch((N // 4,), None, (), (("y", N),)), "`y[1000]` is written past its end on line 6"),
        (
            "own",
            Launch((64,), (64,), (), (("y", 64),), local_bytes=(("mine", 252),)),
            "kernel `own`: local memory is written outside of what was declared on line 9; guard the index",
        ),
    ],
)
def test_oclgrind_names_the_element_too(kernel: str, launch: Launch, sentence: str) -> None:
    with pytest.raises(OutOfBounds, match=re.escape(sentence)):
        run_job("profiler.device_worker.guards.elsewhere_jobs:under_oclgrind", (request(kernel, launch),), returns=str)


@needs_oclgrind
def test_oclgrind_has_nothing_to_say_of_a_kernel_that_stays_inside() -> None:
    job = (request("shifted", shifted(0)),)
    assert run_job("profiler.device_worker.guards.elsewhere_jobs:under_oclgrind", job, returns=str) == "oclgrind"


@pytest.mark.device
def test_canaries_live_where_nothing_is_left_and_notice_stores_even_of_zeros() -> None:
    launches = (Launch((N,), (8,), (("by", by),), (("y", N),)) for by in (0, 1, -1))
    requests = tuple(request("zeroes", launch) for launch in launches)
    inside, behind, in_front = run_job("bounds_jobs:by_canaries", (requests,), returns=tuple)
    assert inside == "canaries"
    assert behind.startswith("`y[1000]` is written past")
    assert in_front.startswith("`y[-1]` is written in front")


LOG = """
Invalid read of size 4 at global memory address 0x2000000000028
\tKernel: k
\tEntity: Global(9,0,0) Local(9,0,0) Group(0,0,0)
\t  %1 = load float, float addrspace(1)* %arrayidx8, align 4
\tAt line 5 (column 9) of my k.cl:
\t  y[i] = x[i+n];

Invalid write of size 16 at local memory address 0x30
\tKernel: k
\tEntity: Global(1,0,0) Local(1,0,0) Group(0,0,0)
\t  store <4 x float> %1
\tDebugging information not available.

"""


def test_oclgrinds_reports_are_read_with_their_lines() -> None:
    first, second = invalid_accesses(LOG)
    assert (first.is_store, first.size_bytes, first.space, first.line, first.file) == (False, 4, "global", 5, "my k.cl")
    assert first.address == (2 << 48) + 40
    assert (second.is_store, second.size_bytes, second.space, second.line) == (True, 16, "local", None)
