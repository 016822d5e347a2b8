"""A day's typing in one file costs no more memory than the file is worth."""

from __future__ import annotations

import gc
import tracemalloc

from model.opencl.options import BuildOptions
from model.opencl.program import Program, read_program

BODY = "".join(f"  s += a[{number}] * {number}.5f;\n" for number in range(60))
FILE = "__kernel void sum(__global float *a) {{\n  float s = {typed}.0f;\n" + BODY + "  a[0] = s;\n}}\n"


def typed(program: Program | None, first: int, last: int) -> Program:
    for number in range(first, last):
        program = read_program(FILE.replace("{typed}", str(number)), None, BuildOptions(), program)
    assert program is not None
    return program


def held_bytes() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def test_what_was_typed_and_overwritten_is_let_go() -> None:
    tracemalloc.start()
    try:
        program = typed(None, 1000, 1040)
        early = held_bytes()
        program = typed(program, 1040, 1240)
        assert held_bytes() < 1.2 * early
    finally:
        tracemalloc.stop()
    assert program.kernel("sum")


def test_what_is_undone_is_read_from_memory() -> None:
    program = typed(None, 1000, 1001)
    functions = dict(program.functions)
    program = typed(program, 1001, 1003)
    assert typed(program, 1000, 1001).functions["sum"].item is functions["sum"].item
