"""Nested code is read as deeply as people and macros write it."""

from __future__ import annotations

import pytest

from model.opencl.program import read_program
from model.work.analyse import analyse
from model.work.work import Work

NESTED = {
    "100 ifs in each other": "if (n > 0) { " * 100 + "out[0] = n; " + "} " * 100,
    "100 else ifs": "if (n == 0) out[0] = 0; " + "".join(f"else if (n == {i}) out[0] = {i}; " for i in range(1, 101)),
    "250 blocks": "{ " * 250 + "out[0] = n; " + "} " * 250,
    "400 sums in parentheses": "out[0] = " + "(n + " * 400 + "n" + ")" * 400 + ";",
    "900 parentheses": "out[0] = " + "(" * 900 + "n" + ")" * 900 + ";",
}


def _work(body: str) -> Work:
    program = read_program(f"kernel void k(global int *out, int n) {{ {body} }}")
    return analyse(program, program.kernels[0])


@pytest.mark.parametrize("body", NESTED.values(), ids=NESTED)
def test_deeply_nested_code_is_analysed(body: str) -> None:
    work = _work(body)
    assert not work.unknowns
    assert any(access.is_store for access in work.accesses())
