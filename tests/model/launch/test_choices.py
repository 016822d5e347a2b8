"""Candidates are launches that the kernel and the device allow, and no others."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.device import Device
from model.device_catalog import find_builtin
from model.launch.choices import combinations, local_sizes, names_of, refusal
from model.launch.conditions import parse_condition
from model.launch.expression import parse_expression
from model.launch.launch import Launch
from model.launch.spec import LaunchSpec
from model.launch.tuning import Tuning, parse_range
from model.opencl.kernel import Kernel
from model.opencl.options import BuildOptions
from model.opencl.program import read_program


def device() -> Device:
    found = find_builtin("generic-cpu")
    assert found is not None
    return replace(found, max_work_group_size=256, max_work_item_sizes=(256, 64, 8), local_mem_bytes=1024)


def kernel(attribute: str = "") -> Kernel:
    (found,) = read_program(f"__kernel {attribute} void k(__global int *x, int n) {{ x[n] = 1; }}").kernels
    return found


def picked(tuning: Tuning, spec: LaunchSpec | None = None) -> list[dict[str, str]]:
    return [
        dict(one.defines) | {f"{name}:": text for name, text in one.values}
        for one in combinations(tuning, spec or LaunchSpec(), kernel(), {"N": 64})
    ]


def test_values_are_combined_as_far_as_conditions_allow() -> None:
    tuning = Tuning(
        (parse_range("TILE", "8,16"), parse_range("PER", "1,32"), parse_range("local", "auto")),
        (parse_condition("PER <= TILE"), parse_condition("TILE <= local")),
    )
    assert picked(tuning) == [{"TILE": "8", "PER": "1"}, {"TILE": "16", "PER": "1"}]


def test_a_scalar_argument_gets_another_value_and_so_does_a_name_that_the_launch_gives_one() -> None:
    spec = LaunchSpec(values=(("PER", (parse_expression("4"),)),))
    assert picked(Tuning((parse_range("n", "8"), parse_range("PER", "2"))), spec) == [{"n:": "8", "PER:": "2"}]


def test_a_condition_that_a_word_cannot_answer_holds_for_none() -> None:
    tuning = Tuning((parse_range("T", "float,4"),), (parse_condition("T > 1"),))
    assert picked(tuning) == [{"T": "4"}]


@given(st.tuples(*[st.integers(1, 5000)] * 3), st.integers(1, 3))
def test_a_local_size_that_is_found_can_run(sizes: tuple[int, int, int], dimensions: int) -> None:
    launch = Launch(sizes[:dimensions])
    for local in local_sizes(launch, kernel(), device()):
        assert refusal(replace(launch, local_size=local), kernel(), device(), 0) == ""


def test_a_kernel_that_requires_a_local_size_has_one_candidate() -> None:
    required = kernel("__attribute__((reqd_work_group_size(8, 4, 1)))")
    assert list(local_sizes(Launch((64, 64)), required, device())) == [(8, 4)]
    assert "reqd_work_group_size" in refusal(Launch((64, 64), (8, 8)), required, device(), 0)


def test_uneven_groups_are_tried_where_the_program_allows_them() -> None:
    plain = Launch((100,))
    modern = replace(plain, options=BuildOptions(flags=("-cl-std=CL2.0",)))
    assert (64,) not in set(local_sizes(plain, kernel(), device()))
    assert (64,) in set(local_sizes(modern, kernel(), device()))


@pytest.mark.parametrize(
    ("local", "local_mem_bytes", "why"),
    [
        ((512, 1), 0, "larger work-groups"),
        ((1, 128), 0, "one dimension"),
        ((3, 1), 0, "does not divide"),
        ((8, 8), 2048, "local memory"),
    ],
)
def test_what_cannot_run_is_refused_with_the_reason(local: tuple[int, int], local_mem_bytes: int, why: str) -> None:
    assert why in refusal(Launch((1024, 1024), local), kernel(), device(), local_mem_bytes)


def test_conditions_see_the_group_that_the_driver_would_choose() -> None:
    names = names_of(Launch((64, 4), scalars=(("n", 5),)), LaunchSpec(), kernel(), device())
    assert names["global"] == 256
    assert names["n"] == 5
    assert names["local"] == prod((names["local.x"], names["local.y"]))
    assert names["device.local_mem_bytes"] == 1024
