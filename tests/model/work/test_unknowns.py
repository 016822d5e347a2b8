"""What cannot be read is named, with its line; what can be read is not."""

from __future__ import annotations

import pytest

from model.opencl.program import read_program
from model.work.analyse import analyse
from model.work.execution.unknowns import Unknown, UnknownKind


def unknowns(body: str, before: str = "") -> list[tuple[UnknownKind, str]]:
    return [
        (unknown.kind, unknown.name)
        for unknown in unknowns_of(f"{before}\nkernel void k(global float *a, int n) {{\n{body}\n}}")
    ]


def unknowns_of(text: str) -> tuple[Unknown, ...]:
    program = read_program(text)
    return analyse(program, program.kernel("k")).unknowns


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a[0] = blur(a[1]);", (UnknownKind.FUNCTION, "blur")),
        ("a[n] = a[SIZE];", (UnknownKind.NAME, "SIZE")),
        ("pixel_t p; a[0] = 1.0f;", (UnknownKind.TYPE, "pixel_t")),
        ("struct { int x; } s; s.x = n; a[s.y] = 1.0f;", (UnknownKind.MEMBER, "y")),
        ("while (n) { while (n) { goto end; } } end: a[0] = 1.0f;", (UnknownKind.GOTO, "")),
        ("float t[WIDTH]; t[0] = a[0]; a[1] = t[0];", (UnknownKind.LENGTH, "t")),
    ],
)
def test_what_nothing_declares_is_named(body: str, expected: tuple[UnknownKind, str]) -> None:
    assert expected in unknowns(body)


def test_an_unknown_stands_on_its_line() -> None:
    text = "kernel void k(global float *a) {\n  a[0] = 1.0f;\n  a[1] = blur(a[0]);\n}"
    assert unknowns_of(text) == (Unknown(2, UnknownKind.FUNCTION, "blur"),)


@pytest.mark.parametrize(
    "body",
    [
        "a[0] = ({ float t = a[1]; t * t + 1.0f; });",
        'printf("%d\\n", n);',
        "for (int i = 0; i < n; ++i) a[i] = fma(a[i], 2.0f, (float)(i));",
        "struct part { float4 v; int k; }; local struct part t[8]; t[n].v.x = a[n]; a[0] = t[1].v.x;",
        "union both { float f; uint u; } b; b.f = a[0]; a[1] = b.u;",
        "enum { SIDE = 4 }; const int rows = SIDE / 2; float t[rows][rows + 1]; t[1][n] = a[0]; a[n] = t[1][0];",
        'float s = 0; _Pragma("unroll 4") for (int i = 0; i < 16; ++i) s += a[i]; a[n] = s;',
        "const last = n - 1; if (__builtin_expect(last > 3, 0)) a[last] = 1.0f;",
        "uint q = n; uint r = (uint)(q) - q * 3; a[r] = (a[0] * (float)(q)) + a[1];",
        "float x = a[0], y = a[1]; a[2] = (cos(x * y)) + (sin(x * y));",
        "global uint (*rows)[4] = (global uint (*)[4])a; a[n] = rows[1][2];",
        "a[n] = get_work_dim() == CLK_UNORM_INT8 || n == CLK_RGBA;",
        "float4 v = vload4(0, a); v.xyz = v.zyx; vstore4(v, 0, a);",
    ],
)
def test_what_is_plain_opencl_c_is_not_unknown(body: str) -> None:
    assert unknowns(body) == []


def test_syntax_errors_inside_a_helper_count_where_it_is_called() -> None:
    helper = "float half_of(float x) { return x * ; }"
    assert (UnknownKind.SYNTAX, "half_of") in unknowns("a[0] = half_of(a[1]);", helper)
    assert unknowns("a[0] = a[1];", helper) == []
