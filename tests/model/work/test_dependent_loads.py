"""Loads of which each must wait for the one before: lists, trees, searches; and those that need not."""

from __future__ import annotations

import pytest

from model.opencl.program import read_program
from model.work.analyse import analyse
from model.work.regions.enclosing_scopes import accesses_in

HEAD = (
    "kernel void k(global const int *a, global const int *b, global const int *c, global const float *x,\n"
    "              global int *out, int n) {\n  int i = get_global_id(0);\n"
)


def waits(body: str) -> dict[str, tuple[float, int]]:
    """Return by buffer which part of its loads waits, and for how many operations besides."""
    program = read_program(f"{HEAD}{body}\n}}")
    work = analyse(program, program.kernels[0])
    return {a.buffer: (a.waits_share, a.waits_ops) for a in accesses_in(work.root) if a.waits_share}


def test_a_list_waits_for_its_next_and_not_for_what_it_adds_up() -> None:
    assert waits("int at = a[i], s = 0; while (at >= 0) { s += b[at]; at = c[at]; } out[i] = s;") == {"c": (1, 0)}


def test_a_search_waits_for_what_it_compares() -> None:
    found = waits(
        "int low = 0, high = n; while (low < high) { int m = (low + high) / 2;"
        " if (a[m] < i) low = m + 1; else high = m; } out[i] = low;"
    )
    assert found.keys() == {"a"}
    assert found["a"][0] == 1
    assert found["a"][1] >= 4  # sum, half, comparison, choice


def test_the_sides_of_a_tree_wait_together() -> None:
    found = waits(
        "int at = 0; for (int l = 0; l < n; l++) { if (x[at] < 3.0f) at = b[at]; else at = c[at]; } out[i] = at;"
    )
    assert {name: share for name, (share, _) in found.items()} == {"x": 0.5, "b": 0.5, "c": 0.5}


def test_two_loads_one_behind_the_other_wait_twice() -> None:
    found = waits("int at = i; for (int l = 0; l < n; l++) at = a[b[at]]; out[i] = at;")
    assert {name: share for name, (share, _) in found.items()} == {"a": 1, "b": 1}


@pytest.mark.parametrize(
    "body",
    [
        "int s = 0; for (int j = a[i]; j < a[i + 1]; j++) s += b[c[j]]; out[i] = s;",  # a row of a sparse matrix
        "int s = 0, at = i; for (int l = 0; l < n; l++) { at = (at * 1103 + 7) & 255; s += a[at]; } out[i] = s;",
        "int s = 0; for (int l = 0; l < n; l++) s += a[l]; out[i] = b[s];",
        "int s = 0; for (int l = 0; l < n; l++) { s += a[l]; out[l] = b[s]; }",  # only sums wait for each other
    ],
)
def test_what_is_known_before_waits_for_nothing(body: str) -> None:
    assert waits(body) == {}
