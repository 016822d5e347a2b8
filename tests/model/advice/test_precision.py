"""Advice to take a native function: where it is faster for sure, and where there is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from model.advice.advice import Advice, AdviceCode
from model.device import ProfileSource
from model.device_catalog import find_builtin

Advise = Callable[..., list[Advice]]
GPU, CPU = "nvidia-a100-pcie-40gb", "generic-cpu"


def decay(expression: str, launch: str = "", kind: str = "float") -> str:
    return f"""// kernelcast: global=4194304 local=256 x=4194304 {launch}
__kernel void decay(__global {kind} *x)
{{
    const size_t i = get_global_id(0);
    const {kind} a = x[i];
    {kind} sum = 0;
    for (int k = 1; k <= 64; ++k)
        sum += {expression};
    x[i] = sum;
}}
"""


def test_exponentials_that_take_most_of_the_time_are_named_with_what_they_would_save(advise: Advise) -> None:
    (found,) = advise(decay("exp(-a * k)"), GPU, AdviceCode.PRECISE_FUNCTION)
    assert "`exp`" in found.message
    assert "`native_exp`" in found.message
    assert "4 times as long" in found.message
    assert found.line == 7
    assert found.gain_us
    assert not advise(decay("native_exp(-a * k)"), GPU, AdviceCode.PRECISE_FUNCTION)


def test_two_functions_of_a_line_are_named_together(advise: Advise) -> None:
    (found,) = advise(decay("sin(a * k) + cos(a + k)"), GPU, AdviceCode.PRECISE_FUNCTION)
    assert "`sin` and `cos`" in found.message or "`cos` and `sin`" in found.message


def test_a_macro_is_seen_through(advise: Advise) -> None:
    text = "#define LIGHT(v) exp2(v)\n" + decay("LIGHT(a * k)")
    (found,) = advise(text, GPU, AdviceCode.PRECISE_FUNCTION)
    assert "`native_exp2`" in found.message
    assert found.line == 8


@pytest.mark.parametrize(
    "expression",
    [
        "erf(a * k)",  # no native form
        "pow(a, k)",  # native_powr takes no negative base
        "a * k",
        "sqrt(a * k)",
    ],
)
def test_functions_without_a_native_form_are_left_alone(advise: Advise, expression: str) -> None:
    assert not advise(decay(expression), GPU, AdviceCode.PRECISE_FUNCTION)


def test_doubles_have_no_native_functions(advise: Advise) -> None:
    assert not advise(decay("exp(-a * k)", kind="double"), GPU, AdviceCode.PRECISE_FUNCTION)


@pytest.mark.parametrize("option", ["-cl-fast-relaxed-math", "-cl-unsafe-math-optimizations"])
def test_options_that_let_the_compiler_choose_leave_nothing_to_advise(advise: Advise, option: str) -> None:
    assert not advise(decay("exp(-a * k)", option), GPU, AdviceCode.PRECISE_FUNCTION)


def test_one_exponential_beside_the_memory_it_waits_for_is_no_matter(advise: Advise) -> None:
    assert not advise(decay("exp(-a * k)").replace("k <= 64", "k <= 1"), GPU, AdviceCode.PRECISE_FUNCTION)


def test_native_functions_of_cpus_are_not_known_to_be_faster(advise: Advise) -> None:
    cpu = find_builtin(CPU)
    assert cpu is not None
    for device in (cpu, replace(cpu, source=ProfileSource.CALIBRATED)):
        assert not advise(decay("exp(-a * k)"), device, AdviceCode.PRECISE_FUNCTION)


def test_a_gpu_that_computes_both_alike_is_told_nothing(advise: Advise) -> None:
    gpu = find_builtin(GPU)
    assert gpu is not None
    alike = replace(gpu, rates=replace(gpu.rates, native_gop_s=gpu.rates.special_gop_s))
    assert not advise(decay("exp(-a * k)"), alike, AdviceCode.PRECISE_FUNCTION)
