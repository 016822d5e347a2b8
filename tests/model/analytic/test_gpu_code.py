"""What a compiler says of registers, spills and arrays counts in predictions for GPUs, instead of estimates."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.account import Times
from model.analytic.launch_times import launch_times
from model.compiled import CodeSource, CompiledFacts
from model.compiled_occupancy import Limiter, OfflineFacts, offline_facts
from model.device import Device
from model.engine import Engine
from model.forecast import Forecast
from model.known_devices import find_builtin_by_name
from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from model.prediction import Prediction

WALK = """// kernelcast: global=1048576 local=256 n=200 next=1048576 out=1048576 fill.next=randint:0:1048576
kernel void walk(global const int *next, global int *out, int n) {
    int j = get_global_id(0);
    for (int i = 0; i < n; i++) j = next[j];
    out[get_global_id(0)] = j; }"""
TABLE = """// kernelcast: global=1048576 local=256 in=1048576 out=1048576
kernel void tables(global const int *in, global float *out) {
    float t[64];
    for (int k = 0; k < 64; k++) t[k] = k * 0.5f;
    float s = 0;
    for (int k = 0; k < 200; k++) s += t[(in[get_global_id(0)] + k) & 63];
    out[get_global_id(0)] = s; }"""
TILE = """// kernelcast: global=65536 local=256 tile=40960 x=65536
kernel void tiles(global float *x, local float *tile) {
    tile[get_local_id(0)] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[get_global_id(0)] = tile[255 - get_local_id(0)]; }"""
MADE = CompiledFacts(
    "k", "print", "", None, "sm_80", "Ampere (sm_80)", "clang", "", CodeSource.PTX, registers=32, spill_bytes=0,
    private_mem_bytes=0, local_mem_bytes=0,
)  # fmt: skip


def gpu() -> Device:
    found = find_builtin_by_name("NVIDIA A100-PCIE-40GB")
    assert found is not None
    return found


def forecast_of(text: str) -> Forecast:
    (forecast,) = Engine().forecast(text, None, gpu()).forecasts
    assert forecast.prediction is not None, forecast.problem
    return forecast


def code_of(forecast: Forecast, facts: CompiledFacts) -> OfflineFacts:
    assert forecast.launch is not None
    code = offline_facts(facts, forecast.kernel, forecast.launch)
    assert code is not None
    return code


def times_of(forecast: Forecast, facts: CompiledFacts) -> Times:
    assert forecast.prediction is not None
    return launch_times(forecast.prediction.work, gpu(), code_of(forecast, facts))


def time_of(times: Times, resource: str) -> float:
    return next(time_us for name, _, time_us in times.resources if name == resource)


def test_many_registers_leave_few_groups_to_hide_latency() -> None:
    walk = forecast_of(WALK)
    few, many = (times_of(walk, replace(MADE, registers=registers)) for registers in (32, 255))
    assert many.total_us > 2 * few.total_us
    # 255 registers: one group of 256 work-items in an SM, and eight with 32.
    rounds = [time_of(each, "operations that wait for each other") for each in (few, many)]
    assert rounds[1] / rounds[0] == pytest.approx(8)


def test_spilled_bytes_take_time_and_many_pass_beyond_the_cores_cache() -> None:
    walk = forecast_of(WALK)
    none, few, many = (
        time_of(times_of(walk, replace(MADE, spill_bytes=size, private_mem_bytes=size)), "private memory")
        for size in (0, 16, 1600)
    )
    assert none == 0 < few
    assert many > 200 * few


@pytest.mark.parametrize(("private_bytes", "is_free"), [(0, True), (256, False)])
def test_the_compiler_says_whether_registers_hold_an_array(private_bytes: int, *, is_free: bool) -> None:
    times = times_of(forecast_of(TABLE), replace(MADE, private_mem_bytes=private_bytes))
    assert (time_of(times, "private memory") == 0) is is_free


def test_local_arguments_of_the_launch_take_room_beside_the_kernels_own_arrays() -> None:
    code = code_of(forecast_of(TILE), replace(MADE, local_mem_bytes=1024))
    assert code.local_mem_bytes == 40960 + 1024
    assert (code.occupancy.groups, code.occupancy.limiter) == (3, Limiter.LOCAL_MEMORY)


def test_intels_registers_of_a_thread_are_shared_by_its_work_items_and_spills_take_time() -> None:
    arc = find_builtin_by_name("Intel(R) Arc(TM) A770 Graphics")
    assert arc is not None
    (walk,) = Engine().forecast(WALK, None, arc).forecasts
    assert walk.prediction is not None
    made = replace(MADE, device_id="dg2-g10", source=CodeSource.ZEBIN, registers=128, sub_group_size=32)
    spilled = replace(made, sub_group_size=8, spill_bytes=1024, private_mem_bytes=1024)
    codes = [code_of(walk, each) for each in (made, spilled)]
    assert [(each.registers, each.occupancy.percent) for each in codes] == [(32, 100.0), (128, 100.0)]
    # A thread of 8 work-items holds a quarter of what one of 32 holds.
    assert [each.occupancy.groups for each in codes] == [16, 4]
    private = [time_of(launch_times(walk.prediction.work, arc, each), "private memory") for each in codes]
    assert private[0] == 0 < private[1]


def test_nothing_is_known_without_registers_or_without_the_limits_of_the_cores() -> None:
    walk = forecast_of(WALK)
    assert walk.launch is not None
    assert offline_facts(replace(MADE, registers=None), walk.kernel, walk.launch) is None
    own = replace(MADE, device_id="nvidia-a100-pcie-40gb")  # by the device's own driver
    assert offline_facts(own, walk.kernel, walk.launch) is None
    assert offline_facts(own, walk.kernel, walk.launch, gpu()) == code_of(walk, MADE)


def test_when_the_code_becomes_known_the_kernel_is_predicted_anew_and_not_analysed_anew() -> None:
    known: list[OfflineFacts] = []

    def code(_kernel: Kernel, _launch: Launch, _device: Device) -> OfflineFacts | None:
        return known[-1] if known else None

    engine = Engine(code_of=code)

    def ask() -> tuple[Forecast, Prediction]:
        (forecast,) = engine.forecast(WALK, None, gpu()).forecasts
        assert forecast.prediction is not None
        return forecast, forecast.prediction

    before, estimated = ask()
    known.append(code_of(before, replace(MADE, registers=255)))
    after, exact = ask()
    assert after.work is before.work
    assert (estimated.code, exact.code) == (None, known[0])
    assert exact.runtime_us.p50 > 2 * estimated.runtime_us.p50
    assert ask()[0] is after  # nothing new: nothing is done
