"""Branches whose data are the same for all work-items of a group do not diverge, and processors predict them."""

from __future__ import annotations

import pytest

from model.launch.launch import Fill, Launch
from model.observing import count_observed
from model.opencl.program import read_program
from model.work.analyse import analyse
from model.work.work_counts import WorkCounts

LENGTH, ITEMS = 64, 4096
INTERPRETER = """kernel void k(constant int *code, global const int *own, global float *x, int n) {
    size_t i = get_global_id(0); float a = x[i];
    int mine[4]; for (int p = 0; p < 4; p++) mine[p] = own[i + p];
    for (int p = 0; p < n; p++) {
        switch (DATA) {
        case 0: a += 1.0f; break;
        default: a = sqrt(a) * x[i];
        }
    }
    x[i] = a; }"""


def counted(data: str) -> WorkCounts:
    program = read_program(INTERPRETER.replace("DATA", data))
    fills = (("code", Fill("randint", (0, 2))), ("own", Fill("randint", (0, 2))))
    buffers = (("code", LENGTH), ("own", ITEMS + LENGTH), ("x", ITEMS))
    launch = Launch((ITEMS,), (64,), scalars=(("n", LENGTH),), buffers=buffers, fills=fills)
    return count_observed(program, program.kernels[0], analyse(program, program.kernels[0]), launch)


def surprises(data: str) -> float:
    return sum(part.surprises for part in counted(data).contexts)


@pytest.mark.parametrize("data", ["code[p]", "code[p] ^ 1", "code[get_group_id(0) & 63]"])
def test_a_program_that_all_interpret_is_foreseen(data: str) -> None:
    assert surprises(data) == 0
    assert counted(data).facts.branches
    assert all(branch.warps_diverging == branch.groups_diverging == 0 for branch in counted(data).facts.branches)


@pytest.mark.parametrize("data", ["own[i + p]", "code[(i + p) & 63]", "mine[p & 3]"])
def test_data_of_its_own_surprise_each(data: str) -> None:
    assert surprises(data) > 0.1 * ITEMS * LENGTH
