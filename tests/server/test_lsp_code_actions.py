"""What can be done with the kernel under the cursor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from lsprotocol import types

from model.device import ProfileSource
from server.client.capabilities import Supports
from server.commands import CALIBRATE, CHOOSE_DEVICE, MEASURE, MEASURE_ALL, MEASURE_SIZES, REPORT, TUNE
from server.features.code_actions import code_actions
from server.launch_view import Slot
from server.snapshot import Snapshot

Snapshots = Callable[..., Snapshot]
LINE = "// kernelcast: global=1024 local=64"


def at(line: int) -> types.Range:
    return types.Range(types.Position(line, 0), types.Position(line, 0))


def actions(snapshot: Snapshot, line: int = 2, only: list[str] | None = None) -> list[types.CodeAction]:
    found = code_actions(snapshot, at(line), only, Supports(code_action_literals=True))
    assert all(isinstance(action, types.CodeAction) for action in found)
    return [action for action in found if isinstance(action, types.CodeAction)]


@pytest.fixture
def annotatable(snapshot_of: Snapshots) -> Snapshot:
    snapshot = snapshot_of("\r\n  __kernel void blur(int n) {\r\n  }\r\n")
    return replace(snapshot, analysis=replace(snapshot.analysis, annotations={Slot("blur", "#0"): LINE}))


def test_measuring_names_the_kernel_and_the_device(snapshot_of: Snapshots) -> None:
    snapshot = snapshot_of()
    first = actions(snapshot)[0]
    assert first.title == "Measure `blur` on Generic CPU (8 cores at 3 GHz)"
    assert first.command
    assert first.command.command == MEASURE
    assert list(first.command.arguments or ()) == [snapshot.document.uri, "blur", "#0"]


def test_the_annotation_is_written_above_the_kernel_with_its_indentation_and_line_end(annotatable: Snapshot) -> None:
    (action,) = actions(annotatable, 1, only=["refactor"])
    assert action.edit
    assert action.edit.changes
    (edit,) = action.edit.changes[annotatable.document.uri]
    assert edit.new_text == f"  {LINE}\r\n"
    assert edit.range == at(1)


def test_no_annotation_is_written_from_an_analysis_of_older_text(annotatable: Snapshot) -> None:
    newer = replace(annotatable.document, serial=1)
    assert actions(replace(annotatable, document=newer), 1, only=["refactor"]) == []


def test_away_from_kernels_nothing_is_offered(snapshot_of: Snapshots) -> None:
    assert actions(snapshot_of(), 0) == []


def test_an_untrusted_workspace_offers_nothing_that_runs(snapshot_of: Snapshots) -> None:
    snapshot = snapshot_of(trusted=False)
    here = replace(snapshot.analysis, device=replace(snapshot.device, source=ProfileSource.DRIVER))
    commands = [a.command.command for a in actions(replace(snapshot, analysis=here)) if a.command]
    assert commands == [REPORT, CHOOSE_DEVICE]


def test_on_a_device_that_is_not_in_this_machine_nothing_is_offered_that_would_run(snapshot_of: Snapshots) -> None:
    text = "__kernel void a(int n) {}\n__kernel void b(int n) {}\n"
    for found in ((), (replace(snapshot_of().device, id="another"),)):
        snapshot = snapshot_of(text)
        away = replace(snapshot, analysis=replace(snapshot.analysis, found=found))
        assert [a.command.command for a in actions(away, 0) if a.command] == [REPORT, CHOOSE_DEVICE]
        assert not away.can_run


def test_a_device_that_is_not_calibrated_can_be(snapshot_of: Snapshots) -> None:
    assert [a.command.command for a in actions(snapshot_of()) if a.command] == [
        MEASURE,
        MEASURE_SIZES,
        TUNE,
        REPORT,
        CHOOSE_DEVICE,
        CALIBRATE,
    ]


def test_measuring_at_several_sizes_stands_beside_measuring_once_for_each_kernel(snapshot_of: Snapshots) -> None:
    snapshot = snapshot_of()
    several = actions(snapshot)[1]
    assert several.title == "Measure `blur` at several sizes on Generic CPU (8 cores at 3 GHz)"
    assert several.command
    assert list(several.command.arguments or ()) == [snapshot.document.uri, "blur", "#0"]


def test_kinds_that_were_not_asked_for_are_left_out(annotatable: Snapshot) -> None:
    assert [a.kind for a in actions(annotatable, 1, only=["refactor.rewrite"])] == ["refactor.rewrite"]
    assert actions(annotatable, 1, only=["quickfix"]) == []


def test_a_client_without_literals_gets_commands(snapshot_of: Snapshots) -> None:
    found = code_actions(snapshot_of(), at(2), None, Supports())
    assert found
    assert all(isinstance(action, types.Command) for action in found)


def test_a_file_of_several_kernels_can_be_measured_as_a_whole(snapshot_of: Snapshots) -> None:
    text = "__kernel void a(int n) {}\n__kernel void b(int n) {}\n"
    commands = [a.command for a in actions(snapshot_of(text), 0) if a.command]
    assert [c.arguments for c in commands if c.command == MEASURE_ALL] == [["file:///work/blur.cl"]]
    assert not [a for a in actions(snapshot_of(text, trusted=False), 0) if "Measure" in a.title]
