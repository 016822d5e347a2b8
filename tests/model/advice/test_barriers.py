"""A barrier that part of a group never comes to is a fault, and only what is sure is called one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from model.advice.advice import Advice, AdviceCode

Advise = Callable[..., list[Advice]]
GPU, CPU = "nvidia-a100-pcie-40gb", "generic-cpu"


def kernel(body: str, launch: str = "global=1024 local=64 x=1024 n=1024") -> str:
    comment = f"// kernelcast: {launch}\n" if launch else "\n"
    return f"""{comment}__kernel void fold(__global float *x, const int n, __local float *part)
{{
    const int i = get_global_id(0), lane = get_local_id(0);
    part[lane] = x[i];
    {body}
    x[i] = part[lane];
}}
"""


BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"


@pytest.mark.parametrize("device", [GPU, CPU])
@pytest.mark.parametrize(
    "body",
    [
        f"if (lane < 16) {BARRIER}",
        f"if (lane % 2 == 0) {{ part[lane] += 1.0f; {BARRIER} }}",
        f"if (lane == 0) {{ x[0] = 1.0f; }} else {{ {BARRIER} }}",
        f"for (int k = 0; k < lane; ++k) {BARRIER}",
    ],
)
def test_a_barrier_that_some_lanes_never_reach_is_told_as_a_fault(advise: Advise, body: str, device: str) -> None:
    (found,) = advise(kernel(body, "global=1024 local=64 x=1024 n=1024 part=256"), device, AdviceCode.DIVERGENT_BARRIER)
    assert found.is_fault
    assert found.line == 5
    assert "not all 64 work-items" in found.message
    assert f"`{body[:9]}" in found.message


def test_an_early_return_divides_the_last_group(advise: Advise) -> None:
    text = kernel(f"if (i >= n) return;\n    {BARRIER}", "global=1024 local=64 x=1024 n=1000 part=256")
    (found,) = advise(text, GPU, AdviceCode.DIVERGENT_BARRIER)
    assert found.line == 6
    assert "`if (i >= n) return;`" in found.message


@pytest.mark.parametrize(
    "body",
    [
        BARRIER,
        f"if (i >= n) return;\n    {BARRIER}",  # n is the global size: nobody returns
        f"if (n > 5) {BARRIER}",
        f"if (get_group_id(0) == 3) {BARRIER}",
        f"for (int k = 32; k > 0; k /= 2) {{ if (lane < k) part[lane] += part[lane + k]; {BARRIER} }}",
        f"for (int k = get_group_id(0); k < n; k += 16) {BARRIER}",
        f"if (x[i] > 0.5f) {BARRIER}",  # the data decide: it may well be the same for all
        f"if (x[0] > 0.5f) {BARRIER}",
        f"if (lane >= 0) {BARRIER}",
        f"if (lane < 64) {BARRIER}",
    ],
)
def test_barriers_that_all_may_reach_are_left_alone(advise: Advise, body: str) -> None:
    text = kernel(body, "global=1024 local=64 x=1024 n=1024 part=256")
    assert not advise(text, GPU, AdviceCode.DIVERGENT_BARRIER)


def test_a_guard_is_not_blamed_for_a_launch_that_was_assumed(advise: Advise) -> None:
    assert not advise(kernel(f"if (i >= n) return;\n    {BARRIER}", ""), GPU, AdviceCode.DIVERGENT_BARRIER)


def test_local_ids_divide_a_group_whatever_the_launch(advise: Advise) -> None:
    (found,) = advise(kernel(f"if (lane < 2) {BARRIER}", ""), GPU, AdviceCode.DIVERGENT_BARRIER)
    assert found.is_fault


def test_a_kernel_that_cannot_be_read_is_not_judged(advise: Advise) -> None:
    assert not advise(kernel(f"if (lane < 2 {{ {BARRIER}"), GPU)
