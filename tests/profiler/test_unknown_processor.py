"""PoCL builds on processors that its compiler does not know."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.device_worker.unknown_processor import is_old, nearest_known, processor_facts
from profiler.process.worker import run_job

JOBS = """
import ctypes
import numpy
import pyopencl as cl
from profiler.device_worker import unknown_processor
from profiler.device_worker.probing import opencl_devices

def as_if_it_were_unknown(reporter):
    library = ctypes.CDLL(next(iter(unknown_processor.pocl_libraries())))
    library.pocl_get_llvm_cpu_name.restype = ctypes.c_char_p
    unknown_processor.UNKNOWN = library.pocl_get_llvm_cpu_name()
    facts = {**unknown_processor.processor_facts(), "vendor_id": "OfTomorrow", "cpu family": "99"}
    facts["flags"] = " ".join(flag for flag in facts["flags"].split() if flag != "sse4a")  # not to be znver3
    unknown_processor.processor_facts = lambda: facts
    pocl = next(device for device in opencl_devices() if device.platform.name == "Portable Computing Language")
    context = cl.Context([pocl])
    program = cl.Program(context, "kernel void twice(global float *x) { x[get_global_id(0)] *= 2.0f; }").build()
    queue, x = cl.CommandQueue(context), numpy.arange(64, dtype=numpy.float32)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=x)
    program.twice(queue, (64,), None, buffer)
    cl.enqueue_copy(queue, x, buffer)
    return pocl.version, x.tolist()
"""
ZEN_5 = {"vendor_id": "AuthenticAMD", "cpu family": "26"}
_ZEN_FLAGS = "avx2 fma f16c bmi1 bmi2 abm movbe popcnt sse4a adx sha_ni vaes vpclmulqdq clzero"


@pytest.mark.device
def test_kernels_run_on_an_unknown_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "unknown_jobs.py").write_text(JOBS)
    monkeypatch.syspath_prepend(str(tmp_path))
    version, doubled = run_job("unknown_jobs:as_if_it_were_unknown", (), returns=tuple)
    assert version.endswith(nearest_known(set(processor_facts()["flags"].split()) - {"sse4a"}))
    assert doubled == [2.0 * index for index in range(64)]


@pytest.mark.parametrize(
    ("facts", "old"),
    [
        (ZEN_5, False),
        ({"vendor_id": "AuthenticAMD", "cpu family": "25"}, True),
        ({"vendor_id": "GenuineIntel", "cpu family": "6"}, True),
        ({"vendor_id": "GenuineIntel", "cpu family": "19"}, False),
        ({"vendor_id": "HygonGenuine", "cpu family": "24"}, False),
        ({}, True),
    ],
)
def test_processors_of_the_tables_are_left_alone(facts: Mapping[str, str], old: bool) -> None:
    assert is_old(facts) is old


@given(st.sets(st.sampled_from(_ZEN_FLAGS.split())))
def test_code_uses_only_instructions_that_are_there(flags: set[str]) -> None:
    name = nearest_known(flags)
    assert (name == "znver3") == (flags == set(_ZEN_FLAGS.split()))
    assert name != "haswell" or {"avx2", "fma", "bmi2"} <= flags
