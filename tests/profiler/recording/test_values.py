"""The bytes of an argument are read as the numbers that they were packed from."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.opencl.kernel import Kernel
from model.opencl.program import read_program
from profiler.packing import Unreadable, pack_by_value, unpack_by_value

SOURCE = """
typedef struct { char c; float3 v; double d; struct { short s; ulong u; } inner; int many[3]; } P;
kernel void k(global int *x, P p, int n, uchar16 b, float f, half2 h) { x[0] = n; }
"""


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return read_program(SOURCE).kernels[0]


@given(data=st.data())
def test_packed_values_are_read_back(kernel: Kernel, data: st.DataObject) -> None:
    given = {
        "p.c": data.draw(st.integers(-128, 127)),
        **{f"p.v.{lane}": float(data.draw(st.integers(-99, 99))) for lane in "xyz"},
        "p.d": data.draw(st.floats(allow_nan=False, allow_infinity=False)),
        "p.inner.s": data.draw(st.integers(-(2**15), 2**15 - 1)),
        "p.inner.u": data.draw(st.integers(0, 2**64 - 1)),
        "p.many": data.draw(st.integers(-(2**31), 2**31 - 1)),
    }
    parameter = kernel.parameter("p")
    assert parameter is not None
    assert dict(unpack_by_value("p", parameter.type, pack_by_value(parameter, given))) == given


def test_values_of_another_size_are_none(kernel: Kernel) -> None:
    parameter = kernel.parameter("n")
    assert parameter is not None
    with pytest.raises(Unreadable, match="`n` is a int of 4 bytes, and the program passed 8"):
        unpack_by_value("n", parameter.type, bytes(8))


def test_what_is_no_number_is_told(kernel: Kernel) -> None:
    parameter = kernel.parameter("f")
    assert parameter is not None
    with pytest.raises(Unreadable, match="`f` is nan"):
        unpack_by_value("f", parameter.type, struct.pack("<f", float("nan")))
