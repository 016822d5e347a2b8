"""Functions that were not calibrated are priced as each runtime's library has them; exact conversions call some."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.costs import Costs, costs_of
from model.device import Device
from model.function_times import Library, function_times
from model.opencl.builtins import BUILTINS
from model.work.counts import OpCount, OpKind
from model.work.features.vectorization_contexts import Context
from tests.model.conftest import Count
from tests.model.test_costs_of_cpus import costs

POCL, INTELS = "Portable Computing Language", "Intel(R) OpenCL"


def known(device: Device, platform: str, **changed: float) -> Costs:
    made = costs_of(replace(device, platform=platform, rates=replace(device.rates, costs=costs(**changed))))
    assert made is not None
    return made


def call_ns(prices: Costs, function: str, kind: OpKind = OpKind.SPECIAL, width: int = 1, element: str = "f32") -> float:
    return prices.op_ns(OpCount(kind, element, 1.0, width, function), Context.STRAIGHT, 0.0)


@pytest.mark.parametrize(("platform", "least", "most"), [(POCL, 12, 18), (INTELS, 9, 14)])
def test_a_function_takes_as_much_longer_than_exp_as_the_library_has_it(
    cpu: Device, platform: str, least: float, most: float
) -> None:
    prices = known(cpu, platform)
    assert least < call_ns(prices, "erfc") / call_ns(prices, "exp") < most


def test_another_runtime_is_priced_by_a_function_like_it(cpu: Device) -> None:
    prices = known(cpu, "Some Other Platform")
    assert call_ns(prices, "erfc") == call_ns(prices, "exp")


def test_what_was_measured_counts(cpu: Device) -> None:
    assert call_ns(known(cpu, POCL, call__cbrt=7.0), "cbrt") == 7.0


def test_a_function_like_one_that_was_measured_follows_it(cpu: Device) -> None:
    slow, fast = known(cpu, POCL, call__erf=8.0), known(cpu, POCL, call__erf=4.0)
    assert call_ns(slow, "erfc") == pytest.approx(2 * call_ns(fast, "erfc"))


def test_a_vector_is_as_much_dearer_as_the_common_functions(cpu: Device) -> None:
    prices = known(cpu, POCL)
    four, one = (call_ns(prices, "erfc", width=width) for width in (4, 1))
    assert four / one == pytest.approx(call_ns(prices, "exp", width=4) / call_ns(prices, "exp"))


def test_what_one_takes_says_nothing_of_vectors_on_intels_runtime(cpu: Device) -> None:
    prices = known(cpu, INTELS)
    assert call_ns(prices, "erfc", width=4) == call_ns(prices, "exp", width=4)


def test_rotating_a_vector_is_cheap_on_intels_runtime(cpu: Device) -> None:
    prices = known(cpu, INTELS)
    rotated = call_ns(prices, "rotate", OpKind.INTEGER, width=4, element="i32")
    assert rotated < 0.1 * call_ns(prices, "exp", width=4)


@pytest.mark.parametrize("library", [Library.POCL, Library.INTELS])
def test_every_function_is_one_of_opencl_c_and_takes_time(library: Library) -> None:
    times = function_times(library)
    assert set(times) - BUILTINS.keys() == {"rounded", "saturate", "saturate_char"}
    assert all(one > 0 for one, _ in times.values())
    assert times["exp"].one == 1


@pytest.mark.parametrize(
    ("conversion", "functions"),
    [
        ("convert_uchar", set()),
        ("convert_uchar_sat", {"saturate_char"}),
        ("convert_short_sat", {"saturate"}),
        ("convert_int_rte", {"rounded"}),
        ("convert_int_rtz", set()),
        ("convert_uchar_sat_rte", {"rounded", "saturate_char"}),
    ],
)
def test_exact_conversions_of_floats_call_functions(count: Count, conversion: str, functions: set[str]) -> None:
    text = f"kernel void k(global float *v, global int *o) {{ int i = get_global_id(0); o[i] = {conversion}(v[i]); }}"
    counted = count(text, (64,), (64,), buffers={"v": 64, "o": 64})
    assert {op.function for op in counted.counts.ops} - {""} == functions


def test_integers_saturate_by_a_minimum_and_a_maximum(count: Count) -> None:
    def integers(conversion: str) -> float:
        text = f"kernel void k(global int *v) {{ int i = get_global_id(0); v[i] = {conversion}(v[i]); }}"
        ops = count(text, (64,), (64,), buffers={"v": 64}).counts.ops
        return sum(op.count for op in ops if op.kind is OpKind.INTEGER) / 64

    assert integers("convert_uchar_sat") == integers("convert_uchar") + 2


def test_an_index_that_saturates_is_followed(count: Count) -> None:
    text = """kernel void k(global const float *v, global float *o) {
        int i = get_global_id(0); o[i] = v[convert_int_sat_rte(i * 2.0f)]; }"""
    assert count(text, (64,), (64,), buffers={"v": 128, "o": 64}).access("v").footprint_bytes == 64 * 4
