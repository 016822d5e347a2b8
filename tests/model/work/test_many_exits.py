"""Work-items that leave by one of many ways, which data choose, take no more visits than a few for each way."""

from __future__ import annotations

import pytest

from model.launch.launch import Launch
from model.opencl.program import read_program
from model.work.analyse import analyse


@pytest.mark.parametrize("ways", [6, 8])
def test_pairs_of_kinds_with_a_return_each_are_walked_in_few_visits(ways: int) -> None:
    exits = "".join(f"if (a == {way} && b == {way + 1}) {{ out[i] = x * {way}.5f; return; }}\n" for way in range(ways))
    text = (
        "kernel void k(global const int4 *p, global const int *s, global float *out, int n) {"
        "int i = get_global_id(0); float x = out[i];\nif (i < n) { int a = s[p[i].x]; int b = s[p[i].y];\n"
        f"{exits} out[i] = 1.0f; }}\n out[n] = x / 3.0f; }}"
    )
    program = read_program(text)
    buffers = (("p", 4096), ("s", 4096), ("out", 8192))
    walk = analyse(program, program.kernels[0]).walk(Launch((4096,), (64,), scalars=(("n", 4000),), buffers=buffers))
    assert walk.visits < 20_000


SEARCH = "int found = -1; for (int j = 0; j < n; ++j) { if (s[j] == s[i + n]) { SET break; } } "


def stores(body: str) -> float:
    text = f"kernel void k(global const int *s, global float *out, int n) {{ int i = get_global_id(0); {body} }}"
    program = read_program(text)
    launch = Launch((4096,), (64,), scalars=(("n", 500),), buffers=(("s", 8192), ("out", 8192)))
    found = analyse(program, program.kernels[0]).count(launch)
    return sum(access.count for access in found.accesses if access.is_store)


@pytest.mark.parametrize("value", ["1", "j", "s[j]"])
@pytest.mark.parametrize("condition", ["found >= 0", "found != -1", "found < 0"])
def test_what_a_search_has_set_before_it_broke_off_is_not_what_it_began_with(value: str, condition: str) -> None:
    search = SEARCH.replace("SET", f"found = {value};")
    assert 0 < stores(f"{search} if ({condition}) out[i] = 1.0f;") < 4096


def test_what_a_search_leaves_alone_is_what_it_was() -> None:
    search = SEARCH.replace("SET", "")
    assert stores(f"{search} if (found >= 0) out[i] = 1.0f;") == 0
    assert stores(f"{search} if (found < 0) out[i] = 1.0f;") == 4096
