"""What alignment a kernel's buffers must have follows from the pointers that its source casts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from profiler.device_worker.guards.pointer_casts import widest_cast_bytes


@pytest.fixture
def width(make_kernel: Callable[..., Kernel], make_request: Callable[..., Any]) -> Callable[..., int]:
    return lambda source, path=None: widest_cast_bytes(make_request(source, make_kernel("k"), Launch((1,)), path=path))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x[i] = (float)(i * 2)", 1),
        ("vstore4(v, i, x)", 1),
        ("*(__global float4*)(x + i) = v", 16),
        ("((__global const double2 *)x)[i]", 16),
        ("(__global volatile uint3 * restrict)x", 16),
        ("(__global uchar*)x", 1),
        ("(__global float16*)x; (__global int*)x", 64),
        ("(__global struct Particle*)x", 128),
        ("(__global real_t*)x", 128),
        ("__global void* p = x", 128),
        ("// (__global float4*)x", 1),
    ],
)
def test_the_widest_cast_decides(width: Callable[..., int], expression: str, expected: int) -> None:
    assert width(f"__kernel void k(__global float x[]) {{ {expression}\n; }}") == expected


def test_only_what_the_kernel_runs_counts(width: Callable[..., int]) -> None:
    helper = "void fill(__global float* x) { *(__global float4*)x = 1; }\n"
    assert width(helper + "__kernel void k(__global float* x) { x[0] = 1; }") == 1
    assert width(helper + "__kernel void k(__global float* x) { fill(x); }") == 16


def test_casts_in_included_files_count(width: Callable[..., int], tmp_path: Path) -> None:
    (tmp_path / "load.h").write_text("#define LOAD(p) (*(const __global float8*)(p))\n")
    source = '#include "load.h"\n__kernel void k(__global float* x) { float8 v = LOAD(x); }'
    assert width(source, str(tmp_path / "k.cl")) == 32
