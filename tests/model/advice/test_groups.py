"""Advice on how many work-groups there are, and how large: with its figure, and not where it would be wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from model.advice.advice import Advice, AdviceCode
from model.device_catalog import find_builtin
from model.engine import Engine
from tests.model.advice.fixing import changed_lines, fixed, fixes

Advise = Callable[..., list[Advice]]
GPU, WIDE_GPU, CPU = "nvidia-a100-pcie-40gb", "amd-instinct-mi210", "generic-cpu"

POWERS = """__kernel void powers(__global float *x, const int rounds)
{
    const size_t i = get_global_id(0) + get_global_size(0) * get_global_id(1);
    float a = x[i], b = 1.0f;
    for (int k = 0; k < rounds; ++k) {
        a = a * 1.0001f + 0.5f;
        b = b * a + a;
    }
    x[i] = a + b;
}
"""


def powers(launch: str, rounds: int = 20000) -> str:
    return f"// kernelcast: {launch} rounds={rounds}\n{POWERS}"


def test_four_groups_leave_most_of_a_gpu_idle(advise: Advise) -> None:
    (found,) = advise(powers("global=4096 local=1024 x=4096"), GPU, AdviceCode.TOO_FEW_GROUPS)
    assert found.line is None
    assert "4 work-groups of 1024 work-items cannot use more than 4 of the 108 compute units" in found.message
    assert "104 stay idle" in found.message
    assert "groups of 32 or fewer" in found.message
    assert found.gain_us
    assert not advise(powers("global=4096 local=32 x=4096"), GPU, AdviceCode.TOO_FEW_GROUPS)


def test_too_little_work_is_not_blamed_on_the_size_of_the_groups(advise: Advise) -> None:
    (found,) = advise(powers("global=512 local=128 x=512"), GPU, AdviceCode.TOO_FEW_GROUPS)
    assert found.message.endswith("the same work spread over more work-items would use them all")


@pytest.mark.parametrize(
    "launch",
    [
        "global=1048576 local=256 x=1048576",  # enough of them
        "global=27648 local=256 x=27648",  # one for each unit
        "global=4096 x=4096",  # the driver chooses how many
    ],
)
def test_nothing_is_said_of_groups_that_are_enough_or_that_the_driver_chooses(advise: Advise, launch: str) -> None:
    assert not advise(powers(launch), GPU, AdviceCode.TOO_FEW_GROUPS)


def test_a_launch_that_is_over_at_once_needs_no_more_groups(advise: Advise) -> None:
    assert not advise(powers("global=1024 local=256 x=1024", rounds=10), GPU, AdviceCode.TOO_FEW_GROUPS)


def test_an_assumed_global_size_says_nothing_of_the_number_of_groups(advise: Advise) -> None:
    assert not advise("// kernelcast: local=64 rounds=20000\n" + POWERS, GPU, AdviceCode.TOO_FEW_GROUPS)


def test_two_groups_leave_cores_idle(advise: Advise) -> None:
    (found,) = advise(powers("global=512 local=256 x=512"), CPU, AdviceCode.TOO_FEW_GROUPS)
    assert "2 of the 8 compute units" in found.message
    assert "groups of 64 or fewer" in found.message


@pytest.mark.parametrize(("rounds", "is_said"), [(400, False), (4000, True)])
def test_no_core_is_woken_for_some_microseconds(advise: Advise, rounds: int, is_said: bool) -> None:
    text = powers("global=512 local=256 x=512", rounds)
    device = find_builtin(CPU)
    assert device is not None
    (forecast,) = Engine().forecast(text, None, device).forecasts
    assert forecast.prediction is not None
    assert forecast.prediction.runtime_us.p50 > 50
    assert (forecast.prediction.runtime_us.p50 > 100) is is_said
    assert bool(advise(text, CPU, AdviceCode.TOO_FEW_GROUPS)) is is_said


def test_groups_of_48_leave_a_quarter_of_the_lanes_empty(advise: Advise) -> None:
    (found,) = advise(powers("global=480000 local=48 x=480000"), GPU, AdviceCode.LOCAL_SIZE_MULTIPLE)
    assert "48 work-items fill 1.5 times the 32 lanes" in found.message
    assert "25 % of the lanes stay empty" in found.message
    assert "32 or 64 would fill them" in found.message


@pytest.mark.parametrize("local", ["64", "256", "96", "(16, 16)", "(8, 4)", "250"])
def test_groups_that_fill_their_lanes_or_nearly_so_are_left_alone(advise: Advise, local: str) -> None:
    size = "(192000, 4)" if local == "(8, 4)" else "(48000, 16)" if "(" in local else "480000"
    assert not advise(powers(f"global={size} local={local} x=768000"), GPU, AdviceCode.LOCAL_SIZE_MULTIPLE)


def test_32_is_full_on_one_device_and_half_empty_on_another(advise: Advise) -> None:
    text = powers("global=480000 local=32 x=480000")
    assert not advise(text, GPU, AdviceCode.LOCAL_SIZE_MULTIPLE)
    (found,) = advise(text, WIDE_GPU, AdviceCode.LOCAL_SIZE_MULTIPLE)
    assert "50 % of the lanes" in found.message


def test_larger_groups_are_not_advised_where_they_would_leave_units_idle(advise: Advise) -> None:
    assert not advise(powers("global=1728 local=16 x=1728", 200000), GPU, AdviceCode.LOCAL_SIZE_MULTIPLE)


def test_a_required_size_counts_as_given(advise: Advise) -> None:
    text = powers("global=480000 x=480000").replace(
        "__kernel void", "__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void"
    )
    (found,) = advise(text, GPU, AdviceCode.LOCAL_SIZE_MULTIPLE)
    assert "work-groups of 16 work-items" in found.message


WIDE = """// kernelcast: global=(4096, 4096) local=LOCAL in=4096*4096 out=4096*4096
__kernel void soften(__global const float *restrict in, __global float *restrict out)
{
    const size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    out[i] = sqrt(exp(in[i])) * 0.5f + sin(in[i]);
}
"""


@pytest.mark.parametrize(("local", "percent"), [("(1, 64)", 88), ("(2, 32)", 75), ("(4, 16)", 50)])
def test_a_group_that_stands_upright_leaves_the_vectors_of_a_cpu_empty(
    advise: Advise, local: str, percent: int
) -> None:
    (found,) = advise(WIDE.replace("LOCAL", local), CPU, AdviceCode.LOCAL_SIZE_MULTIPLE)
    assert f"{percent} % of the vector stays empty" in found.message


@pytest.mark.parametrize("local", ["(64, 1)", "(8, 8)", "(12, 4)", "(1, 1)"])
def test_a_group_as_wide_as_a_vector_suits_a_cpu(advise: Advise, local: str) -> None:
    assert not advise(WIDE.replace("LOCAL", local).replace("4096", "3072"), CPU, AdviceCode.LOCAL_SIZE_MULTIPLE)


def test_fewer_units_need_fewer_groups(advise: Advise) -> None:
    gpu = find_builtin(GPU)
    assert gpu is not None
    text = powers("global=16384 local=1024 x=16384")
    assert advise(text, gpu, AdviceCode.TOO_FEW_GROUPS)
    small = replace(gpu, compute_units=16, rates=replace(gpu.rates, groups_to_fill=64))
    assert not advise(text, small, AdviceCode.TOO_FEW_GROUPS)


CHANNELS = """// kernelcast: global=(1024, 1024, C) w=1024 C=3 x=3145728
kernel void brighten(global float *x, int w, int C)
{
    int i = get_global_id(0), j = get_global_id(1), c = get_global_id(2);
    x[(j * w + i) * C + c] += 1.0f;
}
"""


def test_groups_are_widened_where_intels_runtime_chooses_those_of_a_few_channels() -> None:
    """Measured with version 2026.22: 11.7 ms as it chooses, 1.4 ms in groups of 64."""
    cpu, code, many = find_builtin(CPU), AdviceCode.LOCAL_SIZE_MULTIPLE, CHANNELS.replace("C=3", "C=256")
    assert cpu is not None
    intels = replace(cpu, platform="Intel(R) OpenCL")
    ((_, line),) = changed_lines(CHANNELS, fixed(CHANNELS, code, intels))
    assert "local=(32, 1, 1)" in line
    assert not fixes(many.replace("3145728", "268435456"), code, intels)
    assert not fixes(CHANNELS, code)
