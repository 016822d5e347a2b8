"""The hover answers the question first, then says why and how sure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from lsprotocol import types

from model.account import Bound, Times
from model.device import ProfileSource
from model.fit import Fit
from model.forecast import FileForecast, Problem
from model.launch.launch import Assumption, Launch, Origin
from model.line_costs import LineCost, LinePart
from model.line_remap import PlacedCounts
from model.opencl.program import read_program
from model.prediction import Basis, Quantiles, Through
from model.work.analyse import analyse
from profiler.measurement import Measurement
from server.features.requests import hover_of
from server.launch_view import Failure, Slot
from server.snapshot import Snapshot

Snapshots = Callable[..., Snapshot]
Forecasts = Callable[..., FileForecast]
NAME = types.Position(1, 16)
MARKDOWN = (types.MarkupKind.Markdown, types.MarkupKind.PlainText)


def told(snapshot: Snapshot, formats: Sequence[types.MarkupKind] = MARKDOWN) -> str:
    answer = hover_of(snapshot, NAME, formats)
    assert answer is not None
    assert isinstance(answer.contents, types.MarkupContent)
    return answer.contents.value


def test_the_first_line_answers_the_question(snapshot_of: Snapshots) -> None:
    first = told(snapshot_of()).splitlines()[0]
    assert first == (
        "`blur` will take about **3.2 ms** (2.2-4.5 ms) on Generic CPU (8 cores at 3 GHz). "
        "Launch: global 1024, local 64 (inferred). Bound by memory."
    )


def test_the_first_line_says_what_of_the_launch_was_guessed(snapshot_of: Snapshots, forecast_of: Forecasts) -> None:
    guesses = (
        Assumption("global", "global=1024: nothing says how many work-items there are", is_guess=True),
        Assumption("n", "`n`=1024, the global size of dimension 0, which is checked against it", is_guess=True),
        Assumption("a", "`a` holds 1024 elements, as far as its index reaches"),
        Assumption(
            "out", "the length of `out` is not known from its index: assumed to be 1024 elements", is_guess=True
        ),
        Assumption("loop.3", "nothing says how often the loop on line 3 runs", 4.0, 2, is_guess=True),
    )
    found = forecast_of(snapshot_of().document.text.value, assumptions=guesses, is_guessed=True)
    first = told(snapshot_of(forecast=found)).splitlines()[0]
    assert "(inferred; guessed: global size, `n`=1024, length of `out`, how often the loop on line 3 runs)." in first
    assert first.index("3.2 ms") < first.index("Launch:") < first.index("Bound by")


@pytest.mark.parametrize(
    "words",
    [
        "80 % range", "2.2-4.5 ms", "2.1 Gflop", "4.3 GB loaded", "12.6 MB distinct", "flop per byte", "line 3",
        "97 %", "12.6 MB stored to a", "`n` is taken to be 1024 (may be off by a factor of 1.5).", "analytical model",
        "1024 work-items in groups of 64 (inferred)", "memory: global memory 3.1 ms (97 %)", "not calibrated",
    ],
)  # fmt: skip
def test_the_story_is_whole(snapshot_of: Snapshots, words: str) -> None:
    assert words in told(snapshot_of())


def test_the_host_is_heard_of_where_it_waits_noticeably_longer(snapshot_of: Snapshots, forecast_of: Forecasts) -> None:
    text = snapshot_of().document.text.value
    longer, hardly, unknown = (told(snapshot_of(forecast=forecast_of(text, host_cost_us=us))) for us in (900, 90, 0))
    assert "waits about 4.1 ms from enqueueing to the end: 900 µs on top" in longer
    assert "enqueueing" not in hardly
    assert "enqueueing" not in unknown


def test_a_client_without_markdown_gets_plain_text(snapshot_of: Snapshots) -> None:
    answer = hover_of(snapshot_of(), NAME, [types.MarkupKind.PlainText])
    assert answer is not None
    assert isinstance(answer.contents, types.MarkupContent)
    assert answer.contents.kind == types.MarkupKind.PlainText
    assert not set("`|*") & set(answer.contents.value.splitlines()[0])


LONG = "a_long_name_of_a_buffer" * 3


def long_winded(snapshot: Snapshot) -> Snapshot:
    """The same with resources, costs and assumptions that go on and on."""
    forecast = snapshot.analysis.forecast
    (first,) = forecast.forecasts
    assert first.prediction is not None
    costs = tuple(
        LineCost(
            n,
            tuple(
                LinePart(f"a resource of many words {m}", 1 / 9, f"{n} MB loaded from `{LONG}`, strided")
                for m in range(3)
            ),
        )
        for n in range(9)
    )
    assumed = (Assumption("n", "the data decide " + "and decide " * 30 + "`n`.", 4.0),)
    analytic = Times(tuple((f"a resource of many words {n}", Bound.MEMORY, 1234.5) for n in range(3)), 3200.0, 10.0)
    counted = replace(first.prediction.counted, assumed=assumed, costs=costs)
    prediction = replace(first.prediction, counted=counted, analytic_times=analytic)
    wordy = replace(first, prediction=prediction)
    return replace(snapshot, analysis=replace(snapshot.analysis, forecast=replace(forecast, forecasts=(wordy,))))


CONFLICTS = """__kernel void f(__global const float *x, __global float *y, const int n) {
    __local float t[32][32]; int a = get_local_id(0), b = get_local_id(1); float s = 0;
    for (int k = 0; k < n; ++k) s += x[get_global_id(1) * n + k];
    t[a][b] = s; barrier(CLK_LOCAL_MEM_FENCE); y[get_global_id(1) * 64 + get_global_id(0)] = t[b][a]; }"""


def test_reuse_and_bank_conflicts_are_named_where_there_are_any(snapshot_of: Snapshots) -> None:
    plain = snapshot_of()
    assert "conflict" not in told(plain)
    forecast = plain.analysis.forecast
    (first,) = forecast.forecasts
    assert first.prediction is not None
    program = read_program(CONFLICTS)
    launch = Launch((64, 64), (32, 32), scalars=(("n", 64),))
    counted = PlacedCounts(analyse(program, program.kernels[0]).count(launch), ())
    busy = replace(first, prediction=replace(first.prediction, counted=counted))
    snapshot = replace(plain, analysis=replace(plain.analysis, forecast=replace(forecast, forecasts=(busy,))))
    words = " ".join(told(snapshot).split())
    assert "(each 32.5 times)" in words
    assert "16.5-fold bank conflicts" in words


def test_nothing_but_the_first_line_is_wider_than_a_terminal(
    snapshot_of: Snapshots, measurement: Callable[..., Measurement]
) -> None:
    for snapshot in (snapshot_of(), long_winded(snapshot_of())):
        measured = replace(snapshot, measured={Slot("blur", "#0"): measurement(snapshot)})
        stale = replace(snapshot, measured={Slot("blur", "#0"): measurement(snapshot, launch_key="older")})
        for known in (snapshot, measured, stale):
            for formats in (MARKDOWN, ()):
                lines = told(known, formats).splitlines()[1:]
                assert [line for line in lines if len(line) > 78 and "a_long_name" not in line] == []
                assert "…" not in "".join(lines)


def test_figures_are_blocks_of_plain_text_that_no_client_colours_or_breaks(snapshot_of: Snapshots) -> None:
    text = told(snapshot_of())
    fences = [line for line in text.splitlines() if line.startswith("```")]
    assert fences == ["```text", "```"] * (len(fences) // 2)
    assert not [line for line in text.splitlines() if line.startswith("|")]


def test_figures_keep_their_units_when_a_line_is_wrapped(snapshot_of: Snapshots) -> None:
    lines = told(long_winded(snapshot_of())).splitlines()
    assert not [line for line in lines if line.rstrip().endswith("1.2")]


def test_a_measurement_stands_below_its_prediction_figure_below_figure(
    snapshot_of: Snapshots, measurement: Callable[..., Measurement]
) -> None:
    snapshot = snapshot_of()
    text = told(replace(snapshot, measured={Slot("blur", "#0"): measurement(snapshot)}))
    assert text.startswith(
        "`blur` takes **3.1 ms** on Generic CPU (8 cores at 3 GHz) (measured; predicted 3.2 ms). Launch:"
    )
    lines = text.splitlines()
    head, predicted, measured, error = lines[lines.index("```text") + 1 :][:4]
    assert predicted.split()[:2] == ["Predicted", "3.2"]
    assert measured.split()[:2] == ["Measured", "3.1"]
    for title in ("time", "80 % range", "from"):
        assert predicted[head.index(title) - 1] == measured[head.index(title) - 1] == " "
        assert " " not in (predicted[head.index(title)], measured[head.index(title)])
    assert measured.endswith("40 runs, 2026-01-02 03:04 UTC")
    assert "the prediction is 3.2 % too high; repeatability ±1.8 %" in error


def test_a_measurement_of_an_older_state_says_so(
    snapshot_of: Snapshots, measurement: Callable[..., Measurement]
) -> None:
    snapshot = snapshot_of()
    old = measurement(snapshot, kernel_fingerprint="older")
    text = told(replace(snapshot, measured={Slot("blur", "#0"): old}))
    assert "measured before the kernel or its launch changed (1024 / 64)" in text
    assert "Error" not in text


def test_a_failed_measurement_is_told_until_the_kernel_changes(snapshot_of: Snapshots) -> None:
    snapshot = snapshot_of()
    forecast = snapshot.analysis.forecast.forecasts[0]
    assert forecast.launch is not None
    key = (forecast.kernel.fingerprint, forecast.launch.key, snapshot.device.id)
    assert "it crashed" in told(replace(snapshot, failures={Slot("blur", "#0"): Failure(*key, "it crashed")}))
    older = Failure("older", *key[1:], "it crashed")
    assert "it crashed" not in told(replace(snapshot, failures={Slot("blur", "#0"): older}))


def test_without_a_prediction_the_reason_comes_first(snapshot_of: Snapshots, forecast_of: Forecasts) -> None:
    snapshot = snapshot_of()
    problem = Problem("launch", "nothing says how many work-items there are.")
    forecast = forecast_of(snapshot.document.text.value, problem=problem)
    text = told(snapshot_of(forecast=forecast))
    assert text.startswith("`blur` has no prediction: nothing says how many work-items there are.")


def test_every_launch_has_its_section(snapshot_of: Snapshots, forecast_of: Forecasts) -> None:
    snapshot = snapshot_of()
    launches = tuple(Launch((n,), name=name, origin=Origin.ANNOTATION) for n, name in ((9, "big"), (3, "small")))
    text = told(snapshot_of(forecast=forecast_of(snapshot.document.text.value, launches=launches)))
    assert "2 launches, each below." in text.splitlines()[0]
    assert "**Launch big**" in text
    assert "**Launch small**" in text
    assert text.count("`n` is taken to be 1024") == 1


def test_faults_of_the_file_are_told(snapshot_of: Snapshots, forecast_of: Forecasts) -> None:
    snapshot = snapshot_of()
    missing = Problem("source", "`x.h` was not found", line=7)
    forecast = replace(forecast_of(snapshot.document.text.value), problems=(missing,))
    assert "`x.h` was not found (line 7)" in told(snapshot_of(forecast=forecast))


def test_how_to_calibrate_is_said_for_devices_that_are_here(snapshot_of: Snapshots) -> None:
    snapshot = snapshot_of()
    here = replace(snapshot.analysis, device=replace(snapshot.device, source=ProfileSource.DRIVER))
    assert "`kernelcast calibrate`" in told(replace(snapshot, analysis=here))
    assert "`kernelcast calibrate`" not in told(snapshot)


def test_away_from_a_signature_there_is_nothing_to_tell(snapshot_of: Snapshots) -> None:
    assert hover_of(snapshot_of(), types.Position(2, 3), MARKDOWN) is None
    assert hover_of(snapshot_of(""), types.Position(0, 0), MARKDOWN) is None


def test_lines_that_take_no_time_worth_telling_are_left_out(snapshot_of: Snapshots) -> None:
    snapshot = snapshot_of()
    forecast = snapshot.analysis.forecast
    (first,) = forecast.forecasts
    assert first.prediction is not None
    costs = tuple(
        LineCost(line, (LinePart("global memory", share, "loads"),)) for line, share in ((2, 0.998), (3, 0.002))
    )
    analytic = Times((("global memory", Bound.MEMORY, 3200.0),), 3200.0, 10.0)
    counted = replace(first.prediction.counted, costs=costs)
    prediction = replace(first.prediction, counted=counted, analytic_times=analytic)
    changed = replace(forecast, forecasts=(replace(first, prediction=prediction),))
    story = told(replace(snapshot, analysis=replace(snapshot.analysis, forecast=changed)))
    assert "100 %  line 3" in story
    assert " 0 %" not in story


@pytest.mark.parametrize(
    ("novelty", "words"),
    [
        (0.0, "like kernels it was trained on"),
        (0.5, "unlike most kernels it was trained on"),
        (1.0, "unlike anything it has seen: the interval is wide"),
    ],
)
def test_the_models_answer_is_told_as_such_with_the_analytical_model_beside_it(
    snapshot_of: Snapshots, forecast_of: Forecasts, novelty: float, words: str
) -> None:
    analytic = Times((), 1234.0, 10.0)
    by_model = {"basis": Basis.MODEL, "novelty": novelty, "analytic_times": analytic}
    text = told(snapshot_of(forecast=forecast_of(snapshot_of().document.text.value, **by_model)))
    (line,) = (line for line in text.splitlines() if line.startswith("Predicted"))
    assert line.endswith("learned model")
    (line,) = (line for line in text.splitlines() if line.startswith("Analytical"))
    assert "1.2 ms" in line
    assert words in text


def test_a_prediction_by_the_analytical_model_says_nothing_of_a_model(
    snapshot_of: Snapshots, forecast_of: Forecasts
) -> None:
    by_analytic = {"analytic_times": Times((), 1234.0, 10.0)}
    text = told(snapshot_of(forecast=forecast_of(snapshot_of().document.text.value, **by_analytic)))
    assert "analytical model" in text
    assert "Analytical" not in text
    assert "trained" not in text


@pytest.mark.parametrize("basis", [Basis.ANALYTIC, Basis.MODEL])
def test_a_time_that_the_devices_own_kernels_corrected_says_so_with_the_analytical_model_beside_it(
    snapshot_of: Snapshots, forecast_of: Forecasts, basis: Basis
) -> None:
    """On a GPU the analytical answer is corrected, on a CPU the learned model's."""
    corrected = {"basis": basis, "is_corrected": True, "analytic_times": Times((), 1234.0, 10.0)}
    text = told(snapshot_of(forecast=forecast_of(snapshot_of().document.text.value, **corrected)))
    (line,) = (line for line in text.splitlines() if line.startswith("Corrected"))
    assert line.endswith("by measurements of other kernels on this device")
    (line,) = (line for line in text.splitlines() if line.startswith("Analytical"))
    assert "1.2 ms" in line


def test_a_time_through_measurements_of_the_kernel_itself_is_not_said_to_be_corrected_by_others(
    snapshot_of: Snapshots, forecast_of: Forecasts
) -> None:
    through = Through(Quantiles(1.0, 2.0, 3.0), Fit(1.0, 1.0, 0.1, ()), 1, 2)
    measured = {"through": through, "is_corrected": True}
    text = told(snapshot_of(forecast=forecast_of(snapshot_of().document.text.value, **measured)))
    assert "Corrected" not in text


def test_a_device_that_is_not_here_is_neither_calibrated_nor_taken_for_one_of_this_machine(
    snapshot_of: Snapshots,
) -> None:
    snapshot = snapshot_of()
    driver = replace(snapshot.device, source=ProfileSource.DRIVER)
    other = replace(driver, id="another")
    for found, said in (((driver,), "Calibrate it"), ((other,), "It is not in this machine.")):
        story = told(replace(snapshot, analysis=replace(snapshot.analysis, device=driver, found=found)))
        assert said in " ".join(story.split())
        assert ("Calibrate it" in " ".join(story.split())) == (said == "Calibrate it")
