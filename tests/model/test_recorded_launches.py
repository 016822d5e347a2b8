"""What a real program launched comes before guesses and behind what the user writes; what is old says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from model.device import Device
from model.device_catalog import find_builtin
from model.engine import Engine
from model.forecast import FileForecast, Forecast
from model.launch.config import parse_config
from model.launch.expression import parse_expression
from model.launch.launch import Origin
from model.launch.recorded import RecordedLaunch
from model.launch.spec import LaunchSpec
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from model.recorded_choice import MOST_SHOWN, STALE
from tests.recordings import recorded

SCALE = """\
__kernel void scale(__global float *x, const int n, const float factor) {
    int i = get_global_id(0);
    if (i < n) x[i] = x[i] * factor;
}
"""
TILED = """\
__kernel void tiled(__global float *x) {
    for (int k = 0; k < TILE; k++) x[get_global_id(0)] += k;
}
"""
Predict = Callable[..., FileForecast]


def print_of(text: str, **defines: str) -> str:
    (kernel,) = read_program(text, options=BuildOptions(tuple(defines.items()))).kernels
    return kernel.fingerprint


def scale(n: int, count: int = 1, **changes: object) -> RecordedLaunch:
    changes.setdefault("fingerprint", print_of(SCALE))
    return recorded("scale", n, 64, count=count, values={"x": n, "n": n, "factor": 2.5}, **changes)  # type: ignore[arg-type]


@pytest.fixture
def gpu() -> Device:
    found = find_builtin("generic-gpu")
    assert found is not None
    return found


@pytest.fixture
def predict(cpu: Device) -> Predict:
    """Predict a text with launches that were recorded of its first kernel; one engine for all calls of a test."""
    engine = Engine()

    def of(text: str, *launches: RecordedLaunch, **more: object) -> FileForecast:
        found = {launch.kernel: launches for launch in launches}
        device = more.pop("device", cpu)
        return engine.forecast(text, None, device, recorded=lambda _: found, **more)  # type: ignore[arg-type]

    return of


def only(found: FileForecast) -> Forecast:
    (forecast,) = found.forecasts
    assert forecast.launch is not None
    return forecast


def origin(found: FileForecast) -> Origin:
    launch = only(found).launch
    assert launch is not None
    return launch.origin


def test_a_recorded_launch_is_predicted_as_it_was_made(predict: Predict) -> None:
    forecast = only(predict(SCALE, scale(5120, 14)))
    assert forecast.launch is not None
    assert (forecast.launch.global_size, forecast.launch.local_size) == ((5120,), (64,))
    assert dict(forecast.launch.buffers) == {"x": 5120}
    assert dict(forecast.launch.scalars) == {"n": 5120, "factor": 2.5}
    assert forecast.launch.origin is Origin.RECORDED
    assert forecast.recorded is not None
    assert forecast.recorded.count == 14
    assert forecast.prediction is not None
    assert not forecast.prediction.is_guessed


def test_what_the_user_writes_comes_first(predict: Predict) -> None:
    config = parse_config("[[launch]]\nglobal = 128\n", Path("/work/kernelcast.toml"))
    assert origin(predict(f"// kernelcast: global=64 n=64\n{SCALE}", scale(5120))) is Origin.ANNOTATION
    assert origin(predict(SCALE, scale(5120), config=config)) is Origin.CONFIG
    assert origin(predict(SCALE, scale(5120))) is Origin.RECORDED
    assert origin(predict(SCALE)) is Origin.INFERRED


def test_a_request_of_another_size_is_no_recorded_launch(predict: Predict) -> None:
    sized = LaunchSpec(global_size=(parse_expression("256"),))
    forecast = only(predict(SCALE, scale(5120), requests=[sized]))
    assert forecast.launch is not None
    assert forecast.launch.origin is Origin.REQUEST
    assert dict(forecast.launch.buffers) != {"x": 5120}
    assert forecast.recorded is None


def test_a_request_without_a_size_is_laid_over_the_recorded_launch(predict: Predict) -> None:
    forecast = only(predict(SCALE, scale(5120), requests=[LaunchSpec(values=(("n", (parse_expression("7"),)),))]))
    assert forecast.launch is not None
    assert forecast.launch.global_size == (5120,)
    assert dict(forecast.launch.scalars)["n"] == 7


def test_the_launch_with_most_time_is_first(predict: Predict) -> None:
    measured = predict(SCALE, scale(1024, 1000, event_us=2.0), scale(1 << 20, 10, event_us=300.0))
    assert [f.launch.work_items for f in measured.forecasts if f.launch] == [1 << 20, 1024]
    predicted = predict(SCALE, scale(1024, 1000), scale(1 << 24, 10))
    assert [f.launch.work_items for f in predicted.forecasts if f.launch] == [1 << 24, 1024]


def test_of_many_kinds_of_launches_a_few_are_predicted_and_all_are_counted(predict: Predict) -> None:
    found = predict(SCALE, *(scale(1 << size, event_us=1.0) for size in range(6, 26))).forecasts
    assert len(found) == MOST_SHOWN
    uses = [f.recorded for f in found if f.recorded]
    assert {(use.kernel_count, use.kernel_distinct, use.kernel_total_us) for use in uses} == {(20, 20, 20.0)}


def test_an_edit_makes_a_recording_stale_and_a_comment_does_not(predict: Predict) -> None:
    launch = scale(5120, event_us=9.0)
    for text in (SCALE, SCALE.replace("{\n", "{ // why\n", 1)):
        forecast = only(predict(text, launch))
        assert forecast.recorded is not None
        assert (forecast.recorded.is_stale, forecast.recorded.own_us) == (False, 9.0)
    edited = only(predict(SCALE.replace("* factor", "+ factor"), launch))
    assert edited.recorded is not None
    assert edited.launch is not None
    assert (edited.recorded.is_stale, edited.recorded.own_us, edited.recorded.event_us) == (True, None, 9.0)
    assert STALE in [assumption.text for assumption in edited.launch.assumptions]
    undone = only(predict(SCALE, launch))
    assert undone.recorded is not None
    assert not undone.recorded.is_stale


def test_recordings_of_this_version_replace_older_ones(predict: Predict) -> None:
    old, new = scale(5120, 100, fingerprint="another"), scale(6400)
    forecast = only(predict(SCALE, old, new))
    assert forecast.launch is not None
    assert forecast.launch.global_size == (6400,)


def test_of_an_unknown_version_nothing_is_said(predict: Predict) -> None:
    forecast = only(predict(SCALE, scale(5120, event_us=9.0, fingerprint="")))
    assert forecast.recorded is not None
    assert (forecast.recorded.is_stale, forecast.recorded.own_us) == (False, 9.0)


def test_another_device_gives_sizes_and_no_time(predict: Predict, gpu: Device) -> None:
    forecast = only(predict(SCALE, scale(5120, event_us=9.0), device=gpu))
    assert forecast.recorded is not None
    assert (forecast.recorded.elsewhere, forecast.recorded.own_us) == ("A CPU", None)
    here = scale(6400, event_us=1.0, device_id=gpu.id)
    both = only(predict(SCALE, scale(5120, event_us=9.0), here, device=gpu))
    assert both.recorded is not None
    assert (both.recorded.elsewhere, both.recorded.own_us) == ("", 1.0)


def test_build_options_of_the_recording_apply_where_the_file_has_none(predict: Predict) -> None:
    launch = recorded("tiled", 64, values={"x": 64}, defines={"TILE": "8"}, fingerprint=print_of(TILED, TILE="8"))
    alone = only(predict(TILED, launch))
    assert alone.launch is not None
    assert alone.launch.options.defines == (("TILE", "8"),)
    assert alone.recorded is not None
    assert not alone.recorded.is_stale
    own = only(predict(TILED, launch, options=BuildOptions((("TILE", "4"),))))
    assert own.launch is not None
    assert own.launch.options.defines == (("TILE", "4"),)
    assert own.recorded is not None
    assert own.recorded.is_stale
    assert "other build options" in own.launch.assumptions[0].text


def test_an_edit_that_only_other_build_options_see_counts(predict: Predict) -> None:
    text = TILED.replace("+= k;", "+= k;\n#ifdef TILE\n    x[0] = 1;\n#endif")
    launch = recorded("tiled", 64, values={"x": 64}, defines={"TILE": "8"}, fingerprint=print_of(text, TILE="8"))
    first = only(predict(text, launch)).recorded
    edited = only(predict(text.replace("x[0] = 1", "x[0] = 2"), launch)).recorded
    assert first is not None
    assert edited is not None
    assert (first.is_stale, edited.is_stale) == (False, True)


def test_build_options_that_run_files_are_left_out(predict: Predict) -> None:
    launch = scale(64)
    options = BuildOptions(flags=("-cl-mad-enable", "-fplugin=/tmp/x.so"))
    forecast = only(predict(SCALE, replace(launch, spec=replace(launch.spec, options=options))))
    assert forecast.launch is not None
    assert forecast.launch.options.flags == ("-cl-mad-enable",)


def test_arguments_that_the_kernel_has_no_more_are_left_out(predict: Predict) -> None:
    forecast = only(predict(SCALE.replace("const float factor", "const float by").replace("factor", "by"), scale(64)))
    assert forecast.launch is not None
    assert "factor" not in dict(forecast.launch.scalars)


def test_a_launch_of_another_kernel_of_that_name_is_not_taken(predict: Predict) -> None:
    other = recorded("scale", 64, values={"a": 1, "b": 2, "c": 3, "x": 4})
    assert origin(predict(SCALE, other)) is Origin.INFERRED


def test_what_has_not_changed_is_the_same_forecast(predict: Predict) -> None:
    launches = (scale(64), scale(4096))
    first, again = predict(SCALE, *launches), predict(SCALE, *launches)
    assert all(one is other for one, other in zip(first.forecasts, again.forecasts, strict=True))
    more = predict(SCALE, *launches, scale(4096, 5))
    assert sum(f.recorded.count for f in more.forecasts if f.recorded) == 7


def test_steps_of_one_loop_of_the_host_are_one_kind_of_launch(predict: Predict) -> None:
    text = (
        "kernel void step(global float *x, int k, int n) { for (int j = 0; j < n; j++) x[get_global_id(0)] += x[k]; }\n"
    )
    launches = [recorded("step", 64, 64, values={"x": 64, "k": k, "n": 32}) for k in range(50)]
    forecast = only(predict(text, *launches))
    assert forecast.recorded is not None
    assert forecast.recorded.distinct == 50
    longer = [recorded("step", 64, 64, values={"x": 64, "k": 0, "n": n}) for n in (32, 64)]
    assert len(predict(text, *longer).forecasts) == 2


def test_another_prediction_of_a_recorded_launch_is_of_the_same_recording(predict: Predict) -> None:
    forecast = only(predict(SCALE, scale(5120, 14)))
    assert forecast.prediction is not None
    assert forecast.with_prediction(forecast.prediction) == forecast
