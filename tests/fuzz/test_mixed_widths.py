"""Operands of different widths, however they came about, have an answer."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.device_catalog import find_builtin
from model.engine import Engine
from model.faults import InternalError
from tests.fuzz.mixed_widths import mixed_widths

_HEAD = "__kernel void k(__global {0} *p, __global float *x) {{ int i = get_global_id(0); {1} }}"


def _problems(text: str) -> list[str]:
    device = find_builtin("generic-gpu")
    assert device is not None
    answer = Engine().forecast(text, None, device)
    assert len(answer.forecasts) == 1
    return [f.problem.message for f in answer.forecasts if f.problem is not None]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("float4", "p[0] = (float4)(1); float3 v = ((__global float3 *)p)[0]; p[1].xyz = v * v + v;"),
        ("float3", "p[0] = (float3)(1); float4 q = ((__global float4 *)p)[0]; q = q * q + q; x[i] = q.w;"),
        ("char16", "p[0] = (char16)(1); float4 q = ((__global float4 *)p)[0]; x[i] = (q == q).w ? q.x : 1;"),
        ("float4", "float4 v = p[i]; v += p; v = v * p + v; x[i] = v.w;"),
        ("float4", "float4 v = (i > 3) ? p[i] : p; x[i] = v.w < p;"),
        ("uchar4", "p[i].s01234567 = (uchar8)(1); x[i] = p[i].x;"),
    ],
)  # fmt: skip
def test_memory_read_as_another_vector_and_pointers_among_vectors_are_answered(kind: str, body: str) -> None:
    assert _problems(_HEAD.format(kind, body)) == []


@given(seed=st.integers(0, 1 << 32))
@settings(max_examples=25)
def test_no_mixture_of_widths_is_a_surprise(seed: int) -> None:
    device = find_builtin("generic-gpu")
    assert device is not None
    answer = Engine().forecast(mixed_widths(Random(seed)), None, device)
    problems = [*answer.problems, *(f.problem for f in answer.forecasts if f.problem is not None)]
    assert [p.message for p in problems if p.code == InternalError.code] == []
