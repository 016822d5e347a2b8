"""The hover answers the question first, then says why and how sure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from lsprotocol import types

from model.device import ProfileSource
from model.engine import FileForecast, Problem
from model.launch.launch import Launch, Origin
from profiler.measurement import Measurement
from server.features.hover import hover
from server.snapshot import Failure, Slot, Snapshot

Snapshots = Callable[..., Snapshot]
Forecasts = Callable[..., FileForecast]
NAME = types.Position(1, 16)
MARKDOWN = (types.MarkupKind.Markdown, types.MarkupKind.PlainText)


def told(snapshot: Snapshot, formats: Sequence[types.MarkupKind] = MARKDOWN) -> str:
    answer = hover(snapshot, NAME, formats)
    assert answer is not None
    assert isinstance(answer.contents, types.MarkupContent)
    return answer.contents.value


def test_the_first_line_answers_the_question(snapshot_of: Snapshots) -> None:
    first = told(snapshot_of()).splitlines()[0]
    assert first == "`blur` will take about 3.2 ms on Generic CPU (8 cores at 3 GHz), bound by memory."


@pytest.mark.parametrize(
    "words",
    [
        "80 % interval", "4.5 ms", "2.1 G flops", "4.3 GB loaded", "12.6 MB distinct", "flop per byte", "line 3",
        "83 %", "12.6 MB stored to `a`", "`n` is taken to be 1024 (may cost a factor of 1.5).", "1024 / 64 (inferred)",
        "not calibrated",
    ],
)  # fmt: skip
def test_the_story_is_whole(snapshot_of: Snapshots, words: str) -> None:
    assert words in told(snapshot_of())


def test_a_client_without_markdown_gets_plain_text(snapshot_of: Snapshots) -> None:
    answer = hover(snapshot_of(), NAME, [types.MarkupKind.PlainText])
    assert answer is not None
    assert isinstance(answer.contents, types.MarkupContent)
    assert answer.contents.kind == types.MarkupKind.PlainText
    assert not set("`|*") & set(answer.contents.value.splitlines()[0])


def test_no_row_of_a_table_is_wider_than_80_columns(
    snapshot_of: Snapshots, measurement: Callable[..., Measurement]
) -> None:
    snapshot = snapshot_of()
    for known in (snapshot, replace(snapshot, measured={Slot("blur", "#0"): measurement(snapshot)})):
        for formats in (MARKDOWN, ()):
            rows = [line for line in told(known, formats).splitlines() if line.startswith(("|", "  "))]
            assert rows
            assert all(len(line) <= 80 for line in rows if not line.startswith("  -")), rows


def test_a_measurement_stands_beside_its_prediction(
    snapshot_of: Snapshots, measurement: Callable[..., Measurement]
) -> None:
    snapshot = snapshot_of()
    text = told(replace(snapshot, measured={Slot("blur", "#0"): measurement(snapshot)}))
    assert text.startswith("`blur` takes 3.1 ms on Generic CPU (8 cores at 3 GHz) (measured), predicted 3.2 ms.")
    assert "40 runs in 5 batches 1.8 % apart, 2026-01-02 03:04 UTC" in text
    assert "the prediction is +3.2 % off" in text


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
    assert "(2 launches below)" in text.splitlines()[0]
    assert "**Launch big**" in text
    assert "**Launch small**" in text


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
    assert hover(snapshot_of(), types.Position(2, 3), MARKDOWN) is None
    assert hover(snapshot_of(""), types.Position(0, 0), MARKDOWN) is None
