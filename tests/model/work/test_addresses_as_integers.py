"""Pointers that are cast to integers and back, as compilers from other languages to OpenCL C generate them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.opencl.program import read_program
from model.work.analyse import analyse
from model.work.counts import AccessCount
from model.work.execution.unknowns import UnknownKind

Count = Callable[..., Any]
PLAIN = "kernel void k(global float *out, global const uchar *in, int n) { size_t g = get_global_id(0); BODY }"


def accesses(count: Count, body: str) -> list[AccessCount]:
    counts = count(PLAIN.replace("BODY", body), (64,), n=8).counts
    return sorted(counts.accesses, key=lambda each: (each.buffer, each.is_store))


@pytest.mark.parametrize(
    ("body", "as_pointers"),
    [
        (
            "ulong to = (ulong) out + 4 * g, from = (ulong) in + 4 * g;"
            "*((global float *) to) = *((global const float *) from);",
            "out[g] = ((global const float *) in)[g];",
        ),
        (
            "long a = (long) out; long b = a + (g << 2); *(global float *) b = 1.0f;",
            "out[g] = 1.0f;",
        ),
        (
            "float s = 0; ulong at = (ulong) in + 4 * g;"
            "for (int i = 0; i < n; ++i) { s += *((global const float *) at); at += 4096; } out[g] = s;",
            "float s = 0; global const float *at = (global const float *) in + g;"
            "for (int i = 0; i < n; ++i) { s += *at; at += 1024; } out[g] = s;",
        ),
        (
            "uintptr_t end = (uintptr_t) out + 4096; end -= 4 * g; *(global float *) end = 2.0f;",
            "(out + 1024 - g)[0] = 2.0f;",
        ),
    ],
)
def test_they_lead_where_pointers_would(count: Count, body: str, as_pointers: str) -> None:
    def told(each: AccessCount) -> tuple[object, ...]:
        return each.buffer, each.is_store, each.pattern, each.count, each.stride_bytes, each.footprint_bytes

    assert [told(each) for each in accesses(count, body)] == [told(each) for each in accesses(count, as_pointers)]


@given(st.lists(st.sampled_from(["+ 16", "- 4", "+ 4 * g", "+ (long) n", "+ (ulong) 8"]), max_size=6))
def test_whatever_is_added_they_lead_into_the_same_buffer(steps: list[str]) -> None:
    body = f"ulong a = (ulong) in {' '.join(steps)}; out[g] = *((global const float *) a);"
    program = read_program(PLAIN.replace("BODY", body))
    work = analyse(program, program.kernel("k"))
    assert work.unknowns == ()


@pytest.mark.parametrize(
    "body",
    [
        "out[g] = *((global const float *) ((ulong) n << 20));",
        "out[g] = *((global const float *) (((ulong) in) ^ n));",
        "out[g] = *((global const float *) (ulong) (uint) (ulong) in);",
    ],
)
def test_what_no_pointer_was_leads_somewhere_in_the_memory_that_it_says_and_that_is_told(body: str) -> None:
    program = read_program(PLAIN.replace("BODY", body))
    work = analyse(program, program.kernel("k"))
    assert [unknown.kind for unknown in work.unknowns] == [UnknownKind.POINTER]
    told = [each for each in work.assumptions if "pointer" in each.text]
    assert told
    assert told[0].is_guess
    assert told[0].spread > 1


def test_a_cast_says_which_memory_a_lost_pointer_leads_into(count: Count) -> None:
    counts = count(PLAIN.replace("BODY", "out[g] = *((global const float *) ((ulong) n << 20));"), (64,), n=8).counts
    assert {each.space for each in counts.accesses} == {"global"}
