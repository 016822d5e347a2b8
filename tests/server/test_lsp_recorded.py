"""Recorded launches as the editor shows them: how often, how long in the program, how old, and how to keep them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from lsprotocol import types

from model.forecast import FileForecast
from model.launch.config import parse_config
from model.launch.launch import Launch, Origin
from model.launch.recorded import RecordedUse
from server.client.capabilities import Supports
from server.features.code_actions import code_actions
from server.features.requests import hover_of
from server.launch_view import Slot
from server.snapshot import ConfigEdit, Snapshot
from server.text.hint import hint_tooltip

Snapshots = Callable[..., Snapshot]
USE = RecordedUse(
    count=14, distinct=1, event_us=3000.0, total_us=42_000.0, is_stale=False, elsewhere="",
    recorded_at=1_790_000_000.0, command="python app.py", kernel_count=14, kernel_distinct=1, kernel_total_us=42_000.0,
)  # fmt: skip
TOML = '[[launch]]\nkernel = "blur"\nglobal = [1024]\n'


@pytest.fixture
def shown(snapshot_of: Snapshots, forecast_of: Callable[..., FileForecast]) -> Callable[..., Snapshot]:
    """A document whose only kernel has recorded launches: so many work-items, and what was recorded of each."""

    def build(*uses: RecordedUse, edits: Mapping[Slot, ConfigEdit] | None = None) -> Snapshot:
        launches = tuple(Launch((1024 << n,), (64,), origin=Origin.RECORDED) for n in range(len(uses)))
        plain = forecast_of(snapshot_of().document.text.value, launches)
        forecasts = tuple(replace(f, recorded=use) for f, use in zip(plain.forecasts, uses, strict=True))
        snapshot = snapshot_of(forecast=replace(plain, forecasts=forecasts))
        known = {Slot("blur", "#0"): "// kernelcast: global=1024 local=64"}
        return replace(snapshot, analysis=replace(snapshot.analysis, annotations=known, config_edits=edits or {}))

    return build


def told(snapshot: Snapshot) -> str:
    answer = hover_of(snapshot, types.Position(1, 16), [types.MarkupKind.Markdown])
    assert answer is not None
    assert isinstance(answer.contents, types.MarkupContent)
    return answer.contents.value


def label(snapshot: Snapshot) -> str:
    return snapshot.kernels[0].label


def test_the_hint_says_how_often_the_program_made_the_launch(shown: Snapshots) -> None:
    assert label(shown(USE)) == "~ 3.2 ms · recorded, 14 launches"
    assert label(shown(replace(USE, count=1_234_567))).endswith("· recorded, 1.23 M launches")


def test_other_launches_leave_the_hint_alone(shown: Snapshots) -> None:
    assert label(shown(USE, replace(USE, count=3))) == label(shown(USE))


def test_an_old_recording_says_so_and_its_time_is_not_this_versions(shown: Snapshots) -> None:
    snapshot = shown(replace(USE, is_stale=True))
    assert "stale recording" in label(snapshot)
    assert "In the program" not in told(snapshot)
    assert "Recorded before the last change of this kernel. It took 3.0 ms then." in " ".join(told(snapshot).split())


def test_what_the_program_measured_is_beside_the_prediction(shown: Snapshots) -> None:
    said = told(shown(USE))
    assert "`blur` will take about **3.2 ms**" in said
    assert "local 64 (recorded, 14 launches)." in said
    row = next(line for line in said.splitlines() if line.startswith("In the program"))
    assert "3.0 ms" in row
    assert "the program's own events" in row
    assert "In the program: 3.0 ms" in hint_tooltip(shown(USE).kernels[0].launches)


def test_another_devices_time_is_named_as_such(shown: Snapshots) -> None:
    said = " ".join(told(shown(replace(USE, elsewhere="Big GPU"))).split())
    assert "In the program" not in said
    assert "Recorded on Big GPU. It took 3.0 ms there." in said


def test_the_hover_lists_all_launches_with_their_shares_and_sums_up_the_rest(shown: Snapshots) -> None:
    whole = replace(USE, kernel_count=100, kernel_distinct=12, kernel_total_us=84_000.0)
    said = told(shown(whole, replace(whole, count=6, total_us=21_000.0, event_us=3500.0)))
    rows = [line.split() for line in said.splitlines()]
    assert ["1024", "/", "64", "14", "3.0", "ms", "42", "ms", "50", "%"] in rows
    assert ["2048", "/", "64", "6", "3.5", "ms", "21", "ms", "25", "%"] in rows
    assert ["10", "more", "80", "21", "ms", "25", "%"] in rows
    assert "100 launches of this kernel" in " ".join(said.split())
    assert said.count("\nBound by") == 1, "only one launch is described in detail"


def test_launches_of_the_same_sizes_are_told_apart_by_their_arguments(shown: Snapshots) -> None:
    snapshot = shown(USE, replace(USE, count=3))
    launches = [Launch((1024,), (64,), (("n", n), ("m", 5)), origin=Origin.RECORDED) for n in (100, 900)]
    found = snapshot.analysis.forecast
    forecasts = tuple(replace(f, launch=launch) for f, launch in zip(found.forecasts, launches, strict=True))
    alike = replace(snapshot, analysis=replace(snapshot.analysis, forecast=replace(found, forecasts=forecasts)))
    said = told(alike)
    assert "1024 / 64 n=100 " in said
    assert "1024 / 64 n=900 " in said


def test_without_profiling_times_are_predicted(shown: Snapshots) -> None:
    untimed = replace(USE, event_us=None, total_us=None, kernel_total_us=None)
    said = " ".join(told(shown(untimed, replace(untimed, count=7))).split())
    assert "had no profiling" in said
    assert "67 %" in said
    assert "Times in this table are predicted." in said


def actions(snapshot: Snapshot, *, creates_files: bool = True) -> dict[str, types.CodeAction]:
    where = types.Range(types.Position(1, 0), types.Position(1, 0))
    supports = Supports(code_action_literals=True, creates_files=creates_files)
    found = code_actions(snapshot, where, None, supports)
    return {action.title: action for action in found if isinstance(action, types.CodeAction)}


def test_a_recorded_launch_can_be_kept_above_the_kernel(shown: Snapshots) -> None:
    snapshot = shown(USE)
    action = actions(snapshot)["Keep as launch annotation"]
    assert action.edit
    assert action.edit.changes
    (edit,) = action.edit.changes[snapshot.document.uri]
    assert edit.new_text == "// kernelcast: global=1024 local=64\n"


def test_it_can_be_kept_at_the_end_of_the_configuration(shown: Snapshots) -> None:
    last = "enabled = true # 😀"
    before = f"[hints]\n{last}"
    kept = ConfigEdit(
        Path("/work/kernelcast.toml"), f"\n\n{TOML}", is_new=False, line=1, last_line="enabled = true # 😀"
    )
    action = actions(shown(USE, edits={Slot("blur", "#0"): kept}), creates_files=False)["Keep in kernelcast.toml"]
    assert action.edit
    assert action.edit.changes
    (edit,) = action.edit.changes["file:///work/kernelcast.toml"]
    assert edit.range.start == edit.range.end == types.Position(1, 19), "in units of UTF-16"
    assert len(parse_config(before + edit.new_text, kept.path).launches) == 1


def test_a_configuration_is_made_where_the_client_can(shown: Snapshots) -> None:
    kept = ConfigEdit(Path("/work/kernelcast.toml"), TOML, is_new=True)
    snapshot = shown(USE, edits={Slot("blur", "#0"): kept})
    assert "Keep in kernelcast.toml" not in actions(snapshot, creates_files=False)
    edit = actions(snapshot)["Keep in kernelcast.toml"].edit
    assert edit
    made, filled = edit.document_changes or ()
    assert isinstance(made, types.CreateFile)
    assert isinstance(filled, types.TextDocumentEdit)
    assert made.uri == filled.text_document.uri == "file:///work/kernelcast.toml"


def test_only_the_launch_with_most_time_is_offered_to_be_measured(shown: Snapshots) -> None:
    titles = list(actions(shown(USE, replace(USE, count=3))))
    assert [title for title in titles if title.startswith("Measure `blur` on")] == titles[:1]
