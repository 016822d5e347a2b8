"""Structs behind pointers: members and arrays in them, whatever branches and loops lie between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from model.opencl.program import read_program
from model.work.analyse import analyse

Count = Callable[..., Any]

CONTEXT = """
typedef struct { uint h[4]; int length; float4 mean; } context_t;
typedef struct { int tag; context_t inner; context_t outer; } pair_t;
void step(uint *digest) { digest[0] = digest[1]; }
void update(context_t *c, int n) { if (n > 3) { c->length += n; step(c->h); } }
"""


def kernel(body: str) -> str:
    return f"{CONTEXT} kernel void k(global float *x, int n) {{ int g = get_global_id(0); {body} }}"


@pytest.mark.parametrize(
    "body",
    [
        "context_t c; for (int i = 0; i < n; ++i) update(&c, i); x[g] = c.h[0] + c.length;",
        "pair_t p; update(&p.inner, n); update(&p.outer, n); x[g] = p.inner.h[1] + p.outer.length;",
        "pair_t p; pair_t *q = &p; update(&q->outer, n); x[g] = q->outer.h[g & 3];",
        "context_t a, b; a = b; if (n > 2) { a = b; step(a.h); } else step(b.h); x[g] = a.h[0];",
        "context_t c; int *p = &c.length; *p = n; *p += 2; x[g] = c.length;",
        "context_t c; float4 *m = &c.mean; *m = (float4)(1.0f); m->x += n; x[g] = c.mean.x;",
        "context_t c[3]; for (int i = 0; i < 3; ++i) update(&c[i], n); x[g] = c[1].h[2];",
        "context_t c; uint *w = (uint *)&c; w[n] = 1; x[g] = c.length + w[2];",
    ],
)
def test_members_reached_through_pointers_are_understood(body: str) -> None:
    program = read_program(kernel(body))
    assert analyse(program, program.kernel("k")).unknowns == ()


def test_a_member_written_through_a_pointer_bounds_a_loop(count: Count) -> None:
    text = kernel("pair_t p; int *end = &p.outer.length; *end = n; p.inner.length = 3; "
                  "for (int i = 0; i < p.outer.length; ++i) x[g + i] = 1.0f;")  # fmt: skip
    assert count(text, (64,), n=11).counts.global_store_bytes == pytest.approx(64 * 11 * 4)


def test_arrays_of_two_structs_are_two_arrays(count: Count) -> None:
    text = kernel("context_t a, b; a.h[1] = n; b.h[1] = 2 * n; step(a.h); step(b.h); "
                  "for (uint i = 0; i < a.h[0]; ++i) x[g + i] = 1.0f; "
                  "for (uint i = 0; i < b.h[0]; ++i) x[g + i] = 1.0f;")  # fmt: skip
    assert count(text, (64,), n=11).counts.global_store_bytes == pytest.approx(64 * 33 * 4)
