"""Bytes and shorts are computed with in `int`; compilers bring that back to what the result needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from model.work.counts import OpKind

BYTES = "__global const uchar *restrict x, __global const short *restrict h, __global uchar *restrict y, int n"


@pytest.mark.parametrize(
    ("value", "element"),
    [
        ("x[g] ^ 0x0f", "i8"),
        ("x[g] > 7", "i8"),
        ("x[g] & x[g + 1]", "i8"),
        ("x[g] - x[g + 1]", "i16"),
        ("x[g] | 0x100", "i16"),
        ("h[g] & 3", "i16"),
        ("h[g] + x[g]", "i32"),
        ("x[g] ^ n", "i32"),
        ("x[g] << 9", "i32"),
    ],
)
def test_bytes_and_shorts_are_computed_with_in_as_few_bytes_as_the_result_needs(
    count: Callable[..., Any], value: str, element: str
) -> None:
    counted = count(f"__kernel void k({BYTES}) {{ int g = get_global_id(0); y[g] = {value}; }}", (64,), n=3)
    computed = {op.element for op in counted.counts.ops if op.kind is OpKind.INTEGER and op.count >= 64}
    index = {"i32"} if "g + 1" in value else set()
    assert computed == {element} | index
