"""An edited kernel, predicted relative to the version of it that was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from lsprotocol import types

from model.device import Device
from model.device_catalog import find_builtin
from model.engine import Engine
from model.forecast import FileForecast, Forecast
from model.learned.lessons import packed
from model.learned.question import Answer, Question
from model.prediction import Quantiles, Ratio, Relative
from profiler.measurement import Measurement
from profiler.store import Store, StoredMeasurement, kernel_id
from server.analysis.composer import Composer, ForecastGroup
from server.analysis.sources import MeasuredLaunch, Sources
from server.analysis.store_cache import StoreCache
from server.features.requests import hover_of
from server.snapshot import Snapshot
from server.text.hint import HINT_LENGTH, hint_label
from server.text.versions import faster_words, interval_words, since_words

Snapshots = Callable[..., Snapshot]
Forecasts = Callable[..., FileForecast]
Measured = Callable[..., Measurement]
PATH = Path("/work/scale.cl")
SCALE = """// kernelcast: global=65536 local=64 n=65536
__kernel void scale(__global float *a, int n) {
  int i = get_global_id(0);
  if (i < n) a[i] = 2.0f * a[i];
}
"""
EDITED = SCALE.replace("2.0f * a[i]", "2.0f * a[i] + a[n - 1 - i]")
NOW = datetime(2026, 11, 27, 15, 0, tzinfo=UTC)
RELATIVE = Relative(Quantiles(1500.0, 1900.0, 2300.0), Ratio(0.7, 0.88, 1.06), 2160.0, "2026-11-27T14:02:00+00:00")


class World:
    """A model whose answers follow the analytical time, twice too slow, and what was measured of `scale.cl`."""

    def __init__(self) -> None:
        self.device = find_builtin("generic-cpu")
        self.measured: list[MeasuredLaunch] = []
        self.asked: list[Question] = []
        self.correction = 1.0  # by measurements of other kernels
        self.knows = True
        self._engine, self._composer = Engine(asks=True), Composer()

    def shows(self, text: str) -> Forecast:
        device = self.device
        assert device is not None
        group = ForecastGroup(self._engine.forecast(text, PATH, device).forecasts, device, path=PATH)
        sources = Sources(self._ask, self._runs, lambda *_: self.measured)
        ((found,),) = self._composer.composed([group], sources)
        return found

    def measure(self, shown: Forecast, measurement: Measured, snapshot: Snapshot, us: float) -> MeasuredLaunch:
        assert shown.question is not None
        assert shown.launch is not None
        assert self.device is not None
        key = {"kernel": "scale", "kernel_fingerprint": shown.kernel.fingerprint, "launch_key": shown.launch.key}
        here = {"device_id": self.device.id, "driver": self.device.driver}
        run = MeasuredLaunch(measurement(snapshot, us, **key, **here), shown.launch, packed(shown.question))
        self.measured.insert(0, run)
        return run

    def _runs(self, fingerprint: str, _device_id: str) -> Sequence[MeasuredLaunch]:
        return [each for each in self.measured if each.measurement.kernel_fingerprint == fingerprint]

    def _ask(self, asked: Sequence[tuple[Question, Device]]) -> list[Answer | None]:
        self.asked += [question for question, _ in asked]
        return [self._answer(question) if self.knows else None for question, _ in asked]

    def _answer(self, question: Question) -> Answer:
        us = 2 * question.total_us
        moved = Quantiles(us / 8 * self.correction, us * self.correction, us * 8 * self.correction)
        return Answer(moved, 0.1, is_corrected=self.correction != 1.0, uncorrected_us=us)


@pytest.fixture
def world() -> World:
    return World()


def ratio_shown(forecast: Forecast) -> float:
    assert forecast.prediction is not None
    assert forecast.prediction.relative is not None
    return forecast.prediction.relative.ratio.p50


def test_an_edited_kernel_is_predicted_relative_to_the_version_measured(
    world: World, measurement: Measured, snapshot_of: Snapshots
) -> None:
    before = world.shows(SCALE)
    world.measure(before, measurement, snapshot_of(), 700.0)
    after = world.shows(EDITED)
    assert before.prediction is not None
    assert after.prediction is not None
    expected = after.prediction.own_us.p50 / before.prediction.own_us.p50
    assert ratio_shown(after) == pytest.approx(expected)
    assert after.prediction.runtime_us.p50 == pytest.approx(700.0 * expected)
    assert str(after.prediction.basis) == "measured"
    assert "earlier version of this kernel" in after.prediction.assumptions[0].text


def test_the_measured_version_itself_keeps_the_models_own_prediction(
    world: World, measurement: Measured, snapshot_of: Snapshots
) -> None:
    before = world.shows(SCALE)
    world.measure(before, measurement, snapshot_of(), 700.0)
    again = world.shows(SCALE)
    assert again.prediction is not None
    assert again.prediction.relative is None
    world.measure(world.shows(EDITED), measurement, snapshot_of(), 900.0)
    back = world.shows(SCALE)
    assert back.prediction is not None
    assert back.prediction.relative is None


def test_the_newest_measured_version_counts(world: World, measurement: Measured, snapshot_of: Snapshots) -> None:
    world.measure(world.shows(SCALE), measurement, snapshot_of(), 700.0)
    world.measure(world.shows(EDITED), measurement, snapshot_of(), 900.0)
    third = world.shows(EDITED.replace("2.0f", "sqrt(2.0f)"))
    assert third.prediction is not None
    assert third.prediction.relative is not None
    assert third.prediction.relative.measured_us == 900.0


def test_a_measurement_does_not_count_twice_where_it_corrects_the_edited_kernel_too(
    world: World, measurement: Measured, snapshot_of: Snapshots
) -> None:
    world.measure(world.shows(SCALE), measurement, snapshot_of(), 700.0)
    plain = ratio_shown(world.shows(EDITED))
    world.correction = 1.5
    assert ratio_shown(world.shows(EDITED)) == pytest.approx(plain)


@pytest.mark.parametrize("changes", [{"driver": "another"}, {"median_us": 0.0}])
def test_measurements_that_tell_nothing_of_this_device_are_left_out(
    world: World, measurement: Measured, snapshot_of: Snapshots, changes: dict[str, object]
) -> None:
    run = world.measure(world.shows(SCALE), measurement, snapshot_of(), 700.0)
    world.measured[0] = replace(run, measurement=replace(run.measurement, **changes))  # type: ignore[arg-type]
    after = world.shows(EDITED)
    assert after.prediction is not None
    assert after.prediction.relative is None


def test_damaged_or_older_model_inputs_are_left_out(
    world: World, measurement: Measured, snapshot_of: Snapshots
) -> None:
    run = world.measure(world.shows(SCALE), measurement, snapshot_of(), 700.0)
    world.measured[0] = replace(run, question=b"damaged")
    after = world.shows(EDITED)
    assert after.prediction is not None
    assert after.prediction.relative is None


def test_nothing_is_counted_anew_while_nothing_new_is_known(
    world: World, measurement: Measured, snapshot_of: Snapshots
) -> None:
    world.measure(world.shows(SCALE), measurement, snapshot_of(), 700.0)
    assert world.shows(EDITED).prediction == world.shows(EDITED).prediction


def test_versions_come_back_from_the_store_with_what_the_model_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, world: World, measurement: Measured, snapshot_of: Snapshots
) -> None:
    monkeypatch.setenv("KERNELCAST_DATA_DIR", str(tmp_path))
    run = world.measure(world.shows(SCALE), measurement, snapshot_of(), 700.0)
    assert world.device is not None
    assert StoreCache().versions(PATH, "scale", world.device) == ()
    Store.open().add(
        StoredMeasurement(run.measurement, 1.0, kernel_id(PATH, "scale"), run.launch, run.question),
        StoredMeasurement(run.measurement, 1.0, kernel_id(PATH, "another"), run.launch, run.question),
        StoredMeasurement(replace(run.measurement, driver="another"), 1.0, kernel_id(PATH, "scale"), run.launch, b"q"),
    )
    (found,) = StoreCache().versions(PATH, "scale", world.device)
    assert (found.measurement, found.question) == (run.measurement, run.question)


# What is said of it.


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (0.88, "12 % faster"), (1.12, "12 % slower"), (1.0, "as fast"), (1.004, "as fast"), (0.996, "as fast"),
        (0.5, "2x faster"), (0.43, "2.3x faster"), (2.3, "2.3x slower"), (12.4, "12x slower"), (0.51, "49 % faster"),
        (3162.0, "3,200x slower"), (1 / 99.7, "100x faster"),
    ],
)  # fmt: skip
def test_a_ratio_in_words(ratio: float, words: str) -> None:
    assert faster_words(ratio) == words


def test_when_a_version_was_measured_is_said_by_the_clock_today_and_with_the_date_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = datetime.fromisoformat(RELATIVE.measured_at).astimezone()
    assert since_words(RELATIVE, NOW) == f"12 % faster than measured at {clock:%H:%M}"
    later = datetime(2026, 12, 24, tzinfo=UTC)
    assert since_words(RELATIVE, later) == f"12 % faster than measured at {clock:%H:%M on %Y-%m-%d}"
    same = replace(RELATIVE, ratio=Ratio(0.9, 1.0, 1.1))
    assert since_words(same, NOW).startswith("as fast as measured at")
    assert interval_words(RELATIVE.ratio) == "30 % faster to 6 % slower"


def test_the_hint_says_what_the_edit_changes(snapshot_of: Snapshots, forecast_of: Forecasts) -> None:
    text = "// one\n__kernel void blur(__global float *a) {\n  a[0] = 1;\n}\n"
    snapshot = snapshot_of(text, forecast=forecast_of(text, runtime_us=(1000.0, 2000.0, 4000.0), relative=RELATIVE))
    label = hint_label(snapshot.kernels[0].launches)
    assert label == "≈ 1.9 ms ±27 % · 12 % faster"
    assert len(label) <= HINT_LENGTH
    answer = hover_of(snapshot, types.Position(1, 16), [types.MarkupKind.PlainText])
    assert answer is not None
    assert isinstance(answer.contents, types.MarkupContent)
    told = " ".join(answer.contents.value.split())
    assert "will take about 1.9 ms (1.5-2.3 ms) on" in told
    assert "12 % faster than measured at" in told
    assert "(80 %: 30 % faster to 6 % slower)" in told
