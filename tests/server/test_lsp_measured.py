"""What the editor makes of measurements: of the launch itself, and of other launches of the same kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lsprotocol import types

from model.fit import Fit, Point
from model.forecast import FileForecast
from model.launch.launch import Launch
from model.prediction import Quantiles, Through
from profiler.measurement import Measurement
from profiler.store import Store, StoredMeasurement, kernel_id
from server.analysis.analyzer import Analyzer
from server.analysis.request import AnalysisRequest
from server.analysis.sources import MeasuredLaunch
from server.client.settings import Settings
from server.documents import Document
from server.features.requests import hover_of
from server.launch_view import Slot
from server.positions import IndexedText
from server.snapshot import Analysis, Snapshot
from server.text.hint import hint_label

Snapshots = Callable[..., Snapshot]
Forecasts = Callable[..., FileForecast]
Measured = Callable[..., Measurement]
TEXT = "// one\n__kernel void blur(__global float *a) {\n  a[0] = 1;\n}\n"
LINE = Fit(5.0, 2.0, 0.05, (Point(100, 205), Point(200, 405), Point(400, 805)))
THROUGH = Through(Quantiles(2963.0, 3200.0, 3456.0), LINE, 65536, 1 << 20)
SCALE = """// kernelcast: global=65536 local=64 n=65536 name=small
// kernelcast: global=1048576 local=64 n=1048576 name=large
__kernel void scale(__global float *a, int n) {
  int i = get_global_id(0);
  if (i < n) a[i] *= 2.0f;
}
"""


def told(snapshot: Snapshot) -> str:
    answer = hover_of(snapshot, types.Position(1, 16), [types.MarkupKind.Markdown])
    assert answer is not None
    assert isinstance(answer.contents, types.MarkupContent)
    return answer.contents.value


@pytest.fixture
def through(snapshot_of: Snapshots, forecast_of: Forecasts) -> Snapshot:
    """A launch that is predicted through three measurements of others."""
    forecast = forecast_of(TEXT, runtime_us=(1000.0, 2000.0, 4000.0), through=THROUGH)
    return snapshot_of(TEXT, forecast=forecast)


def test_the_hover_says_through_which_measurements_it_predicts(through: Snapshot) -> None:
    words = " ".join(told(through).split())
    assert "3 measurements of this kernel (65.5 k to 1.05 M work-items), ±8 %" in words


def test_the_hint_is_marked_as_better_founded_than_the_analytical_model(
    through: Snapshot, snapshot_of: Snapshots
) -> None:
    assert hint_label(through.kernels[0].launches).startswith("≈ 3.2 ms ±8 %")
    assert hint_label(snapshot_of().kernels[0].launches).startswith("~ ")


def test_a_measurement_is_held_against_what_the_model_says_without_others(
    through: Snapshot, measurement: Measured
) -> None:
    known = {Slot("blur", "#0"): measurement(through, 2500.0)}
    text = told(replace(through, measured=known))
    assert "predicted 2.0 ms" in text
    assert "the prediction is 20 % too low" in text
    assert "analytical model" in text
    assert "work-items), ±" not in text


def test_what_disturbed_a_measurement_is_said_in_few_words(snapshot_of: Snapshots, measurement: Measured) -> None:
    snapshot = snapshot_of(TEXT)
    notes = ("the machine was busy", "times drift upwards", "a third thing")
    known = measurement(snapshot, launch_overhead_us=4.2, checked="guard pages", notes=notes)
    text = told(replace(snapshot, measured={Slot("blur", "#0"): known}))
    assert "launch overhead 4.2 µs; nothing out of bounds (guard pages)" in text
    assert "the machine was busy" in text
    assert "times drift upwards" in text
    assert "a third thing" not in text


# From here on through the store and the real analysis.


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("KERNELCAST_DATA_DIR", str(tmp_path / "data"))
    return Store.open()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows with every look into the store."""
    looks: list[str] = []
    plain = Store._found

    def counted(self: Store, where: str, *values: object, **more: object) -> object:
        looks.append(where)
        return plain(self, where, *values, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "_found", counted)
    return looks


def analysed(analyst: Analyzer, text: str = SCALE, *runs: MeasuredLaunch) -> Analysis:
    document = Document("file:///scale.cl", 1, IndexedText.of(text))
    return analyst.analyse(AnalysisRequest(1, document, Settings(), "generic-cpu", (), runs))


def bases(found: Analysis) -> dict[str, str]:
    return {f.launch.name or "": str(f.prediction.basis) for f in found.forecast.forecasts if f.launch and f.prediction}


def run_of(found: Analysis, measurement: Measured, place: int = 0, **changes: object) -> MeasuredLaunch:
    forecast = found.forecast.forecasts[place]
    assert forecast.launch is not None
    of_blur = measurement(Snapshot(found.document, found, Settings(), "utf-16"), 90.0)
    key = {"kernel_fingerprint": forecast.kernel.fingerprint, "launch_key": forecast.launch.key}
    same = {"device_id": found.device.id, "driver": found.device.driver}
    return MeasuredLaunch(replace(of_blur, **{**key, **same, **changes}), forecast.launch)  # type: ignore[arg-type]


def test_a_launch_is_predicted_through_another_that_an_earlier_session_measured(
    store: Store, measurement: Measured
) -> None:
    run = run_of(analysed(Analyzer()), measurement)
    store.add(StoredMeasurement(run.measurement, None, kernel_id(None, "scale"), run.launch))
    assert bases(analysed(Analyzer())) == {"small": "analytic", "large": "measured"}
    edited = SCALE.replace("2.0f", "3.0f")
    assert bases(analysed(Analyzer(), edited)) == {"small": "analytic", "large": "analytic"}
    elsewhere = SCALE.replace("1048576", "2097152")
    assert bases(analysed(Analyzer(), elsewhere))["large"] == "measured"


def test_a_launch_is_predicted_through_another_that_this_session_measured_even_if_it_could_not_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measurement: Measured
) -> None:
    (tmp_path / "data").write_text("a file where a folder should be")
    monkeypatch.setenv("KERNELCAST_DATA_DIR", str(tmp_path / "data"))
    run = run_of(analysed(Analyzer()), measurement)
    assert bases(analysed(Analyzer(), SCALE, run)) == {"small": "analytic", "large": "measured"}


@pytest.mark.parametrize("changes", [{"driver": "another"}, {"device_id": "another"}])
def test_other_drivers_and_devices_tell_nothing(
    store: Store, measurement: Measured, changes: dict[str, object]
) -> None:
    run = run_of(analysed(Analyzer()), measurement, **changes)
    assert set(bases(analysed(Analyzer(), SCALE, run)).values()) == {"analytic"}


def test_other_build_options_tell_nothing(store: Store, measurement: Measured) -> None:
    run = run_of(analysed(Analyzer()), measurement)
    otherwise_built = SCALE.replace("name=large", "name=large -cl-fast-relaxed-math")
    assert bases(analysed(Analyzer(), otherwise_built, run))["large"] == "analytic"


def test_what_was_measured_of_a_launch_with_macros_of_its_own_is_found_again(
    store: Store, measurement: Measured
) -> None:
    text = SCALE.replace("2.0f", "FACTOR").replace(" name=", " -DFACTOR=2.0f name=")
    assert bases(analysed(Analyzer(), text)) == {"small": "analytic", "large": "analytic"}
    run = run_of(analysed(Analyzer(), text), measurement)
    again = analysed(Analyzer(), text, run)
    assert bases(again)["large"] == "measured"
    assert again.stored == (run.measurement,)


def test_a_measurement_whose_launch_was_not_kept_counts_where_the_file_still_has_that_launch(
    store: Store, measurement: Measured
) -> None:
    run = run_of(analysed(Analyzer()), measurement)
    store.add(StoredMeasurement(run.measurement, None, kernel_id(None, "scale"), None))
    assert bases(analysed(Analyzer()))["large"] == "measured"


def test_typing_in_a_launch_does_not_ask_the_disk(store: Store, opened: list[str]) -> None:
    analyst = Analyzer()
    analysed(analyst)
    opened.clear()
    for items in (2, 3, 4, 5):
        analysed(analyst, SCALE.replace("1048576", str(items * 65536)))
    assert not opened


def test_the_kernel_launched_another_way_keeps_its_own_launch_apart(store: Store, measurement: Measured) -> None:
    """A size that stands nowhere in the file is no launch of it."""
    first = analysed(Analyzer())
    run = run_of(first, measurement)
    assert run.launch is not None
    elsewhere: Launch = replace(run.launch, global_size=(4096,), name=None)
    other = MeasuredLaunch(replace(run.measurement, launch_key=elsewhere.key), elsewhere)
    assert bases(analysed(Analyzer(), SCALE, other)) == {"small": "measured", "large": "measured"}
    assert analysed(Analyzer(), SCALE, other).stored == ()
