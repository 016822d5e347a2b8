"""A buffer that a kernel reads and writes is put back before each run; others need not be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from profiler.changed_inputs import changed_inputs
from profiler.measure import measure
from profiler.measurement import MeasureRequest

MakeKernel = Callable[..., Kernel]
MakeRequest = Callable[..., MeasureRequest]
LAUNCH = Launch((64,), (8,), (), (("x", 64), ("y", 64)))


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        ("y[g] = x[g];", set()),
        ("y[g] += x[g];", {"y"}),
        ("y[g] = x[g]; x[g] = 0;", {"x"}),
        ("atomic_inc(y); x[g] = 1;", {"y"}),
        ("__global int* p = g ? x : y; *p += 1;", {"x", "y"}),
        ("__local int l[8]; l[0] = x[g]; l[0] += 1; y[g] = l[0];", set()),
    ],
)
def test_reads_and_writes_are_told_from_the_source(
    *, body: str, changed: set[str], make_kernel: MakeKernel, make_request: MakeRequest, types: Any
) -> None:
    source = f"__kernel void k(__global int* x, __global int* y) {{ int g = get_global_id(0); {body} }}"
    kernel = make_kernel("k", x=types.buffer(types.int), y=types.buffer(types.int))
    assert changed_inputs(make_request(source, kernel, LAUNCH)) == changed


def test_of_a_kernel_that_cannot_be_read_every_writable_buffer_is_taken_to_change(
    make_kernel: MakeKernel, make_request: MakeRequest, types: Any
) -> None:
    kernel = make_kernel("k", x=types.buffer(types.int, const=True), y=types.buffer(types.int))
    assert changed_inputs(make_request("not OpenCL at all", kernel, LAUNCH)) == {"y"}


@pytest.mark.device
@pytest.mark.parametrize("turns", [1, 1000])  # in trains, and one by one
def test_every_run_starts_from_the_same_contents(
    turns: int, make_kernel: MakeKernel, make_request: MakeRequest, types: Any
) -> None:
    # Each run that starts from what the last one left takes four times as long: thirty of them would never end.
    source = f"""__kernel void k(__global volatile int* x, __global int* y) {{
        int sum = 0;
        for (long i = 0; i < {turns} * (long)x[0]; ++i) sum += x[1];
        y[get_global_id(0)] = sum;
        if (get_global_id(0) == 0) x[0] = x[0] > 0x1fffffff ? 0x7fffffff : x[0] * 4 + 4;
    }}"""
    kernel = make_kernel("k", x=types.buffer(types.int), y=types.buffer(types.int))
    launch = Launch((1,), (1,), (), (("x", 64), ("y", 64)))
    assert measure(make_request(source, kernel, launch, repeats=40)).repeats == 40
