"""Predictions through measurements of other launches of the same kernel, and which launches to measure for that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.analytic.launch_times import launch_times
from model.device import Device
from model.device_catalog import find_builtin
from model.engine import Engine
from model.errors import LaunchError
from model.forecast import Forecast
from model.launch.launch import Launch
from model.launch.sizes import parse_sizes
from model.launch.spec import LaunchSpec
from model.measured import Fits, Sample
from model.observing import Observer
from model.prediction import Basis, Prediction
from model.predictor import LateInputs, Predictor
from model.sizes_to_measure import SizeChoice, sizes_as_wanted, sizes_to_measure

SCALE = """__kernel void scale(__global const float *x, __global float *y, const int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = 2.0f * x[i];
}
"""
ONE_GROUP = """// kernelcast: global=64 local=64
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void sum(__global float *x) {
  x[get_local_id(0)] += 1.0f;
}
"""
TINY = SCALE.replace("__kernel", "// kernelcast: global=128 local=64 n=128\n__kernel", 1)
ESCAPES = """__kernel void escapes(__global int *out, const int most) {
  float x = 0, c = -1.5f + get_global_id(0) / 65536.0f; int k = 0;
  while (x * x < 4.0f && k < most) { x = x * x + c; k++; }
  out[get_global_id(0)] = k;
}
"""
KERNELS = sorted((Path(__file__).resolve().parents[1] / "kernels").glob("*.cl"))


@cache
def device() -> Device:
    found = find_builtin("generic-cpu")
    assert found is not None
    return found


def of_size(items: int, local: int = 64, text: str = SCALE) -> Forecast:
    spec = LaunchSpec(global_size=parse_sizes(str(items)), local_size=parse_sizes(str(local)))
    (found,) = Engine().forecast(text, None, device(), requests=[spec]).forecasts
    return found


@cache
def sized(items: int) -> Forecast:
    return of_size(items)


def took(forecast: Forecast, runtime_us: float, noise: float = 0.01) -> Sample:
    assert forecast.launch is not None
    return Sample(forecast.launch, runtime_us, noise)


def through(forecast: Forecast, *samples: Sample) -> Prediction:
    assert forecast.prediction is not None
    assert forecast.work is not None
    assert forecast.launch is not None
    work = sized(65536).work or forecast.work
    return Predictor().with_late_inputs(
        forecast.prediction, work, forecast.launch, device(), LateInputs(measured=samples)
    )


def analytic_us(forecast: Forecast) -> float:
    assert forecast.prediction is not None
    return forecast.prediction.own_us.p50


def test_a_kernel_three_times_slower_than_the_analytical_model_is_so_at_its_other_sizes() -> None:
    small, large = sized(1 << 20), sized(1 << 22)
    found = through(large, took(small, 3 * analytic_us(small)))
    assert found.basis is Basis.MEASURED
    assert found.runtime_us.p50 == pytest.approx(3 * analytic_us(large), rel=0.1)
    assert found.own_us.p50 == analytic_us(large)


def test_nothing_measured_changes_nothing() -> None:
    assert through(sized(65536)) == sized(65536).prediction


def test_the_answer_says_through_how_many_measurements_it_goes() -> None:
    small, large = sized(65536), sized(1 << 20)
    one = through(large, took(small, 90.0))
    assert "through one measurement of this kernel on this device" in one.assumptions[0].text
    two = through(large, took(small, 90.0), took(sized(1 << 18), 350.0))
    assert "through 2 measurements of this kernel on this device" in two.assumptions[0].text
    assert two.through is not None
    assert (two.through.least_items, two.through.most_items) == (65536, 1 << 18)


def test_the_newest_measurement_of_a_launch_counts() -> None:
    small, large = sized(65536), sized(1 << 20)
    newest, older = took(small, 3 * analytic_us(small)), took(small, 300 * analytic_us(small))
    assert through(large, newest, older).runtime_us == through(large, newest).runtime_us


def test_groups_of_the_same_size_count_if_there_are_any() -> None:
    small, large = sized(65536), sized(1 << 20)
    other_groups = of_size(65536, local=8)
    same, other = took(small, 3 * analytic_us(small)), took(other_groups, 50 * analytic_us(small))
    assert through(large, other, same).runtime_us == through(large, same).runtime_us
    assert through(large, other).basis is Basis.MEASURED


def test_what_a_loop_did_in_one_launch_is_not_taken_for_what_it_did_in_a_measured_one() -> None:
    def escapes(most: int, engine: Engine) -> Forecast:
        text = f"// kernelcast: global=65536 local=64 most={most}\n{ESCAPES}"
        (found,) = engine.forecast(text, None, device()).forecasts
        return found

    engine = Engine(observer=Observer(runs=True))
    measured, asked = took(escapes(1000, Engine()), 10_000.0), escapes(100, engine)
    assert asked.prediction is not None
    assert asked.work is not None
    assert asked.launch is not None
    at = asked.work, asked.launch, device()
    fits = Fits()
    assert fits.unsettled(*at, [measured]) == (measured.launch,)
    assert fits.through(*at, [measured]) is None
    assert engine.settle(asked, [measured.launch], ESCAPES, None) == []
    assert fits.unsettled(*at, [measured]) == ()
    found = fits.through(*at, [measured])
    assert found is not None
    assert found.runtime_us.p50 == pytest.approx(1000, rel=0.2)


def test_no_prediction_is_faster_than_the_roofline_even_if_smaller_sizes_came_close() -> None:
    large = sized(1 << 24)
    assert large.work is not None
    assert large.launch is not None
    least_us = launch_times(large.work.count(large.launch), device()).least_us
    small = sized(65536)
    found = through(large, took(small, device().rates.launch_floor_us * 1.01))
    assert found.runtime_us.p50 > device().rates.launch_floor_us
    assert found.runtime_us.p10 <= found.runtime_us.p50
    assert found.runtime_us.p50 >= 0.5 * least_us


def test_a_roofline_that_was_beaten_is_none() -> None:
    """Rates that were only guessed must not overrule what was measured."""
    small, large = sized(1 << 20), sized(1 << 22)
    found = through(large, took(small, analytic_us(small) / 100))
    assert found.runtime_us.p50 < analytic_us(large) / 20


@given(
    st.lists(st.floats(min_value=0.5, max_value=1e6), min_size=1, max_size=3),
    st.sampled_from([1 << 12, 1 << 16, 1 << 20, 1 << 24]),
)
@settings(max_examples=40, deadline=None)
def test_whatever_was_measured_quantiles_stay_in_order_and_more_work_takes_longer(
    runtimes_us: list[float], items: int
) -> None:
    samples = [took(sized(1 << (14 + 2 * place)), time) for place, time in enumerate(runtimes_us)]
    found, larger = through(sized(items), *samples), through(sized(items * 4), *samples)
    assert 0 < found.runtime_us.p10 <= found.runtime_us.p50 <= found.runtime_us.p90
    assert larger.runtime_us.p50 >= found.runtime_us.p50


Choice = Callable[..., SizeChoice]


def chosen(
    forecast: Forecast, make: Choice = sizes_to_measure, where: Device | None = None, **how: object
) -> SizeChoice:
    assert forecast.work is not None
    assert forecast.spec is not None
    assert forecast.launch is not None
    return make(forecast.kernel, forecast.work, forecast.spec, forecast.launch, where or device(), **how)


def items(choice: SizeChoice) -> list[int]:
    return [launch.work_items for launch in choice.launches]


def test_a_quarter_a_half_and_the_double_are_measured_beside_the_launch_itself() -> None:
    assert items(chosen(sized(1 << 20))) == [1 << 18, 1 << 19, 1 << 20, 1 << 21]


def test_a_launch_that_is_all_overhead_is_measured_at_larger_sizes() -> None:
    found = items(chosen(of_size(128, text=TINY)))
    assert found[0] == 128
    assert min(found[1:]) > 1024


def test_sizes_stay_within_a_quarter_of_the_devices_memory() -> None:
    small = replace(device(), global_mem_bytes=4 * 9 * (1 << 20), max_alloc_bytes=4 * 9 * (1 << 20))
    assert max(items(chosen(sized(1 << 20), where=small))) == 1 << 20


def test_a_launch_without_a_size_is_measured_alone_and_says_why() -> None:
    (forecast,) = Engine().forecast(ONE_GROUP, None, device()).forecasts
    found = chosen(forecast)
    assert items(found) == [64]
    assert "single work-group" in found.problem
    assert "single work-group" in chosen(forecast, sizes_as_wanted, factors=(2.0,)).problem


def test_sizes_can_be_asked_for_as_multiples_and_as_numbers_of_work_items() -> None:
    assert items(chosen(sized(1 << 20), sizes_as_wanted, factors=(0.5, 2.0))) == [1 << 19, 1 << 21]
    assert items(chosen(sized(1 << 20), sizes_as_wanted, work_items=(4096, 100_000))) == [4096, 99_968]


def test_sizes_that_the_device_cannot_hold_are_left_out_or_refused() -> None:
    found = chosen(sized(1 << 20), sizes_as_wanted, factors=(1.0,), work_items=(1 << 36,))
    assert items(found) == [1 << 20]
    assert "`x` takes" in found.problem
    with pytest.raises(LaunchError, match="`x` takes"):
        chosen(sized(1 << 20), sizes_as_wanted, work_items=(1 << 36,))


def test_only_the_launch_itself_keeps_its_name() -> None:
    (forecast,) = Engine().forecast(TINY.replace("n=128", "n=128 name=tiny"), None, device()).forecasts
    names: dict[str | None, Launch] = {launch.name: launch for launch in chosen(forecast).launches}
    assert names["tiny"].work_items == 128
    assert set(names) == {"tiny", None}


@pytest.mark.parametrize("path", KERNELS[::3], ids=lambda path: path.stem)
def test_every_kernel_of_ours_has_sizes_to_measure(path: Path) -> None:
    for forecast in Engine().forecast(path.read_text(encoding="utf-8"), path, device()).forecasts:
        found = chosen(forecast)
        assert len(found.launches) >= 3, found.problem
        assert len(set(items(found))) == len(found.launches)
