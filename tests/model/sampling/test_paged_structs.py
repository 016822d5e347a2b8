"""Structs that work-items read: pages hold the bytes that a measurement writes, in whichever order they are made."""

from __future__ import annotations

import numpy as np
import pytest

from model.contents.buffer import buffer_contents
from model.launch.launch import Fill, Launch
from model.opencl.program import read_program
from model.opencl.types import PointerType
from model.sampling.arguments import segment_of_buffer
from model.sampling.memory import Paged

LENGTH = 64
STRUCTS = {
    "odd": "typedef struct { float a[299]; int n; uchar c; } S;",
    "a power of two": "typedef struct { int n[256]; float a[254]; double d; } S;",
    "small": "typedef struct { float a; uchar c[605]; } S;",
}


@pytest.mark.parametrize("kind", STRUCTS)
@pytest.mark.parametrize("step", [1, 3])
def test_pages_hold_what_is_written(kind: str, step: int) -> None:
    program = read_program(f"{STRUCTS[kind]} __kernel void k(__global S *s) {{ S x = s[0]; s[1] = x; }}")
    (parameter,) = program.kernels[0].parameters
    assert isinstance(parameter.type, PointerType)
    fill = Fill("uniform", (0, 99))
    launch = Launch((LENGTH,), None, buffers=(("s", LENGTH),), fills=(("s", fill),))
    segment = segment_of_buffer(parameter, launch)
    assert isinstance(segment, Paged)
    contents = buffer_contents("s", parameter.type.pointee, LENGTH, {"": fill}, LENGTH)
    written = np.zeros(contents.size_bytes, np.uint8)
    contents.write(written)
    first = np.arange(0, contents.size_bytes - segment.page_bytes, segment.page_bytes)[::step]
    rows = segment.make(first, segment.page_bytes).reshape(len(first), -1)
    for begin, row in zip(first, rows, strict=True):
        assert row.tobytes() == written[begin : begin + segment.page_bytes].tobytes()
