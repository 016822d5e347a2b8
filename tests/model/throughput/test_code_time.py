"""The analytical model's answer where a CPU's machine code is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.compiled import CodeRegion, CompiledFacts, CompiledLoop, InstructionCount, LoopCode
from model.device import Device, ProfileSource
from model.engine import Engine
from model.forecast import Forecast
from model.prediction import Basis, Prediction
from model.predictor import Predictor
from model.throughput.cpu_code import CpuCode
from tests.model.test_costs_of_cpus import costs

TEXT = """// kernelcast: global=1048576 local=64 n=100 x=1048576 y=1048576
kernel void sum(global const float *x, global float *y, int n) {
    size_t i = get_global_id(0);
    float s = 0;
    for (int j = 0; j < n; j++)
        s += x[j] * x[i];
    y[i] = s;
}"""


def code(instructions: int, *, line: int = 5, chain: float = 1.0) -> CpuCode:
    """A scalar loop of so many instructions."""
    mix = (InstructionCount("fma", "f32", 1, 1), InstructionCount("load", "f32", 1, 1))
    profile = (
        LoopCode(None, 1, False, None, 0.0, ()),
        LoopCode(0, 1, False, None, 1.0, ()),
        LoopCode(1, 1, False, None, chain, ()),
    )
    loops = (CompiledLoop(None, 1, 9, 1, 0.0), CompiledLoop(4, 2, 9, 1, 0.0))
    regions = (
        CodeRegion(1, line + 1, 2, (InstructionCount("store", "f32", 1, 1),)), CodeRegion(2, line, instructions, mix),
    )  # fmt: skip
    return CpuCode(
        CompiledFacts(
            "sum", "", "", (64,), "pocl", "", "", "", profile=profile, regions=regions, loops=loops,
            microarchitecture="zen 3", kernel_lines=(1, 7),
        )
    )  # fmt: skip


@pytest.fixture
def calibrated(cpu: Device) -> Device:
    return replace(
        cpu, source=ProfileSource.CALIBRATED, measured_at="2026-01-01T00:00:00+00:00", noise_percent=1.0,
        rates=replace(cpu.rates, costs=costs(), groups_to_fill=1),
    )  # fmt: skip


def forecast(device: Device, text: str = TEXT) -> Forecast:
    (found,) = Engine().forecast(text, None, device).forecasts
    return found


def predict(device: Device, known: CpuCode | None, text: str = TEXT) -> Prediction:
    own = forecast(device, text)
    assert own.work is not None
    assert own.launch is not None
    return Predictor().predict(own.work, own.launch, device, known)


def test_more_instructions_take_longer(calibrated: Device) -> None:
    few, many = (predict(calibrated, code(n)).runtime_us.p50 for n in (60, 240))
    assert 1.5 < many / few <= 2.05, "the answer lies halfway between what source and code tell"


def test_a_long_loop_waits_for_the_round_before(calibrated: Device) -> None:
    assert predict(calibrated, code(6, chain=40)).runtime_us.p50 > 1.5 * predict(calibrated, code(6)).runtime_us.p50


def test_the_answer_stays_analytical_with_the_account_of_the_source(calibrated: Device) -> None:
    plain, known = predict(calibrated, None), predict(calibrated, code(200))
    assert known.basis is plain.basis is Basis.ANALYTIC
    assert known.analytic_times == plain.analytic_times
    assert known.runtime_us.p10 < known.runtime_us.p50 < known.runtime_us.p90
    assert sum(part.time_us for part in known.resources) == pytest.approx(known.runtime_us.p50)


def test_no_code_is_faster_than_the_bounds(calibrated: Device) -> None:
    known = predict(calibrated, code(1))
    assert known.runtime_us.p50 >= known.floor_us > 0


def test_code_that_does_not_fit_and_devices_that_were_not_calibrated_change_nothing(
    cpu: Device, calibrated: Device
) -> None:
    assert predict(calibrated, code(200, line=70)).runtime_us == predict(calibrated, None).runtime_us
    assert predict(cpu, code(200)).runtime_us == predict(cpu, None).runtime_us


def test_kernels_with_barriers_are_priced_by_their_source(calibrated: Device) -> None:
    waiting = TEXT.replace("y[i] = s;", "y[i] = s; barrier(CLK_GLOBAL_MEM_FENCE);")
    assert predict(calibrated, code(200), waiting).runtime_us == predict(calibrated, None, waiting).runtime_us


def test_code_is_found_again_where_the_kernel_has_moved(calibrated: Device) -> None:
    moved = f"\n\n{TEXT}"
    assert predict(calibrated, code(200), moved).runtime_us == predict(calibrated, code(200)).runtime_us
