"""What hints say, where they stand, and when the editor is told to ask for them again."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lsprotocol import types

from model.forecast import FileForecast, Problem
from model.launch.launch import Launch, Origin
from model.prediction import Quantiles
from profiler.measurement import Measurement
from server.client.settings import Settings
from server.documents import changed
from server.features.inlay_hints import inlay_hints, shown_labels
from server.launch_view import Slot
from server.snapshot import Snapshot
from server.text.hint import shorten, spread_text

Snapshots = Callable[..., Snapshot]
Forecasts = Callable[..., FileForecast]
TWO = "__kernel void a(int n) {}\n__kernel void b(int n,\n   int m)\n{}\n"


def labels(snapshot: Snapshot) -> list[str]:
    return [str(hint.label) for hint in inlay_hints(snapshot)]


def places(snapshot: Snapshot) -> list[tuple[int, int]]:
    return [(hint.position.line, hint.position.character) for hint in inlay_hints(snapshot)]


def edited(snapshot: Snapshot, line: int, column: int, text: str, to: tuple[int, int] | None = None) -> Snapshot:
    start = types.Position(line, column)
    where = types.Range(start, types.Position(*to) if to else start)
    change = types.TextDocumentContentChangePartial(range=where, text=text)
    return replace(snapshot, document=changed(snapshot.document, 2, [change], snapshot.encoding))


def test_a_hint_tells_the_time_how_sure_it_is_and_what_bounds_it(snapshot_of: Snapshots) -> None:
    assert labels(snapshot_of()) == ["~ 3.2 ms ±45 % · memory"]


def test_a_calibrated_device_makes_a_better_founded_hint(snapshot_of: Snapshots, forecast_of: Forecasts) -> None:
    text = "__kernel void a(int n) {}"
    assert labels(snapshot_of(text, forecast=forecast_of(text, calibrated=True)))[0].startswith("≈ 3.2 ms")


def test_a_wide_interval_is_shown_as_a_range() -> None:
    assert spread_text(Quantiles(0.17e6, 0.4e6, 1.0e6)) == "0.17-1.0 s"


def test_a_measured_kernel_shows_what_was_measured_and_how_far_off_the_prediction_was(
    snapshot_of: Snapshots, measurement: Callable[..., Measurement]
) -> None:
    snapshot = snapshot_of()
    measured = replace(snapshot, measured={Slot("blur", "#0"): measurement(snapshot)})
    assert labels(measured) == ["3.1 ms measured (est +3 %)"]


@pytest.mark.parametrize("what", ["kernel_fingerprint", "launch_key"])
def test_a_measurement_of_an_older_kernel_or_launch_is_marked_stale(
    snapshot_of: Snapshots, measurement: Callable[..., Measurement], what: str
) -> None:
    snapshot = snapshot_of()
    old = measurement(snapshot, **{what: "something older"})
    stale = replace(snapshot, measured={Slot("blur", "#0"): old})
    assert labels(stale) == ["~ 3.2 ms ±45 % · 3.1 ms stale"]


def test_a_measurement_of_an_earlier_session_is_shown(
    snapshot_of: Snapshots, measurement: Callable[..., Measurement]
) -> None:
    snapshot = snapshot_of()
    known = replace(snapshot, analysis=replace(snapshot.analysis, stored=(measurement(snapshot),)))
    assert labels(known) == ["3.1 ms measured (est +3 %)"]


def test_what_does_not_fit_is_dropped_and_the_bottleneck_last(snapshot_of: Snapshots, forecast_of: Forecasts) -> None:
    text = "__kernel void a(int n) {}"

    def label(*runtime_us: float, is_guessed: bool = False) -> str:
        forecast = forecast_of(text, runtime_us=runtime_us, is_guessed=is_guessed)
        return labels(snapshot_of(text, forecast=forecast))[0]

    assert label(0.17e6, 0.4e6, 1.0e6) == "~ 400 ms 0.17-1.0 s · memory"
    assert label(0.68 * 60e6, 3.2 * 60e6, 21 * 60e6, is_guessed=True) == "~ 3.2 (0.68-21) min? · memory"
    assert label(361.0, 20e3, 1.2e6) == "~ 20 ms · memory"


def test_without_a_prediction_the_hint_says_why(snapshot_of: Snapshots, forecast_of: Forecasts) -> None:
    text = "__kernel void a(int n) {}"
    problem = Problem("launch", "needs global size")
    assert labels(snapshot_of(text, forecast=forecast_of(text, problem=problem))) == ["? needs global size"]


def test_several_launches_are_told_by_name_where_there_is_room(snapshot_of: Snapshots, forecast_of: Forecasts) -> None:
    text = "__kernel void a(int n) {}"
    named = tuple(Launch((n,), name=name, origin=Origin.ANNOTATION) for n, name in ((9, "big"), (3, "sm")))
    assert labels(snapshot_of(text, forecast=forecast_of(text, launches=named))) == ["big: ~ 3.2 ms · sm: ~ 3.2 ms"]
    many = tuple(Launch((n,), name=f"launch{n}", origin=Origin.ANNOTATION) for n in range(1, 6))
    assert labels(snapshot_of(text, forecast=forecast_of(text, launches=many))) == ["~ 3.2 ms (+4 more)"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # they are builders, without state
@given(
    runtime_us=st.tuples(*[st.floats(1e-3, 1e9)] * 3).map(lambda q: tuple(sorted(q))),
    words=st.text(st.characters(codec="utf-8"), min_size=1, max_size=90),
    median_us=st.floats(1e-3, 1e9),
    kind=st.sampled_from(["plain", "measured", "stale", "problem", "several"]),
)
def test_no_hint_is_longer_than_fits_beside_the_code(
    snapshot_of: Snapshots,
    forecast_of: Forecasts,
    measurement: Callable[..., Measurement],
    *,
    runtime_us: tuple[float, float, float],
    words: str,
    median_us: float,
    kind: str,
) -> None:
    text = "__kernel void a(int n) {}"
    problem = Problem("launch", words) if kind == "problem" else None
    names = (words, None, "x") if kind == "several" else (None,)
    launches = tuple(Launch((n,), name=name) for n, name in enumerate(names, 1))
    snapshot = snapshot_of(text, forecast=forecast_of(text, launches, runtime_us, problem))
    if kind in ("measured", "stale"):
        found = measurement(
            snapshot, median_us, launch_key="old" if kind == "stale" else measurement(snapshot).launch_key
        )
        snapshot = replace(snapshot, measured={Slot("a", "#0"): found})
    for label in labels(snapshot):
        assert 0 < len(label) <= 30


def test_a_hint_stands_at_the_end_of_the_line_that_ends_the_signature(snapshot_of: Snapshots) -> None:
    assert places(snapshot_of(TWO)) == [(0, 25), (2, 9)]


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 47), ("utf-16", 45), ("utf-32", 44)])
def test_columns_are_what_the_client_counts(snapshot_of: Snapshots, encoding: str, column: int) -> None:
    assert places(snapshot_of(encoding=types.PositionEncodingKind(encoding))) == [(1, column)]


def test_kernels_on_one_line_keep_their_hints_apart(snapshot_of: Snapshots) -> None:
    assert places(snapshot_of("__kernel void a(int n) {} __kernel void b(int n) {}")) == [(0, 22), (0, 48)]


def test_only_hints_that_are_in_view_are_sent(snapshot_of: Snapshots) -> None:
    view = types.Range(types.Position(2, 0), types.Position(9, 0))
    assert [hint.position.line for hint in inlay_hints(snapshot_of(TWO), view)] == [2]


def test_hints_move_with_the_text_while_a_new_forecast_is_under_way(snapshot_of: Snapshots) -> None:
    before = snapshot_of(TWO)
    assert places(edited(before, 0, 0, "// new\n\n")) == [(2, 25), (4, 9)]
    assert places(edited(before, 2, 9, " // 😀")) == [(0, 25), (2, 15)]
    assert places(edited(before, 0, 25, "\n")) == [(0, 25), (3, 9)]
    assert labels(edited(before, 0, 0, "x")) == labels(before)


def test_moving_text_changes_nothing_that_is_shown(snapshot_of: Snapshots) -> None:
    before = snapshot_of(TWO)
    assert shown_labels(edited(before, 0, 0, "\n\n\n")) == shown_labels(before)


def test_a_hint_stays_where_it_is_whatever_it_says(
    snapshot_of: Snapshots, forecast_of: Forecasts, measurement: Callable[..., Measurement]
) -> None:
    names = [f"k{n}" for n in range(100)]
    text = "\n".join(f"__kernel void {name}(int n) {{ // {name}\n}}" for name in names)
    plain = snapshot_of(text)
    slots = {Slot(name, "#0"): measurement(plain, kernel=name) for name in names}
    fresh = {
        slot: replace(m, kernel_fingerprint=f.kernel.fingerprint)
        for (slot, m), f in zip(slots.items(), plain.analysis.forecast.forecasts, strict=True)
    }
    states = [
        plain,
        replace(plain, measured=fresh),
        replace(plain, measured={slot: replace(m, launch_key="older") for slot, m in fresh.items()}),
        snapshot_of(text, forecast=forecast_of(text, runtime_us=(1.0, 9.0, 9e5))),
        snapshot_of(text, forecast=forecast_of(text, problem=Problem("launch", "nothing says how many there are"))),
    ]
    assert len({labels(state)[0] for state in states}) == len(states)
    assert [places(state) for state in states] == [places(plain)] * len(states)
    assert len(places(plain)) == 100


def test_hints_can_be_turned_off(snapshot_of: Snapshots) -> None:
    assert labels(snapshot_of(settings=Settings(show_hints=False))) == []
    snapshot = snapshot_of()
    assert labels(replace(snapshot, analysis=replace(snapshot.analysis, hints_off=True))) == []


def test_a_long_reason_is_cut_at_a_word() -> None:
    assert shorten("the header `inc/config.h` was not found", 28) == "the header `inc/config.h`…"


@pytest.mark.parametrize("runtime_us", [(2200.0, 3200.0, 4480.0), (10.0, 320.0, 99000.0), (0.9, 1.0, 1.1)])
def test_a_hint_of_a_launch_that_was_guessed_says_so(
    snapshot_of: Snapshots, forecast_of: Forecasts, runtime_us: tuple[float, float, float]
) -> None:
    text = snapshot_of().document.text.value
    plain, guessed = (
        labels(snapshot_of(forecast=forecast_of(text, runtime_us=runtime_us, is_guessed=each)))[0]
        for each in (False, True)
    )
    assert "?" not in plain
    assert re.match(r"~ [\d.]+ (µs|ms)\?", guessed)
    assert len(guessed) <= 30


def test_what_was_measured_of_guessed_sizes_says_so_too(
    snapshot_of: Snapshots, forecast_of: Forecasts, measurement: Callable[..., Measurement]
) -> None:
    snapshot = snapshot_of(forecast=forecast_of(snapshot_of().document.text.value, is_guessed=True))
    (label,) = labels(replace(snapshot, measured={Slot("blur", "#0"): measurement(snapshot)}))
    assert label.startswith("3.1 ms? measured")
