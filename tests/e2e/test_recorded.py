"""From a recording in the store to hints, hovers, and launches kept in the user's files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.recordings import keep_scale

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]

Start = Callable[..., Any]
SCALE = """__kernel void scale(__global float *x, const int n, const float factor) {
  int i = get_global_id(0);
  if (i < n) x[i] = x[i] * factor;
}
"""
NAME = (0, SCALE.index("scale") + 1)
RECORDED = "recorded, 14 launches"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in whose recording `scale` was launched 14 times over a million elements, and 1000 times over few."""
    folder = tmp_path / "workspace"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.setenv("KERNELCAST_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("OCL_ICD_VENDORS", "/nonexistent.icd")
    keep_scale(folder, SCALE, (1 << 20, 14, 300.0), (1 << 10, 1000, 2.0))
    return folder


async def shown(editor: Any) -> str:
    await editor.run("kernelcast.chooseDevice", "generic-cpu")
    editor.open("scale.cl", SCALE)
    hint: str = await editor.wait_for_hint("scale.cl", lambda label: RECORDED in label)
    return hint


async def applied(editor: Any, action: types.CodeAction) -> None:
    """What a client does with the edit of a code action; files that are not open are changed where they lie."""
    edits = dict(action.edit.changes or {}) if action.edit else {}
    for change in (action.edit.document_changes or ()) if action.edit else ():
        if isinstance(change, types.CreateFile):
            (editor.folder / change.uri.rpartition("/")[2]).touch(exist_ok=False)
        else:
            edits[change.text_document.uri] = change.edits
    for uri, (edit,) in edits.items():
        start = edit.range.start
        if uri == editor.uri("scale.cl"):
            editor.edit("scale.cl", start.line, start.character, edit.new_text)
            continue
        file = editor.folder / uri.rpartition("/")[2]
        lines = file.read_text().split("\n")
        assert (start.line, start.character) == (len(lines) - 1, len(lines[-1]))
        file.write_text(file.read_text() + edit.new_text)
        changed = types.FileEvent(uri=uri, type=types.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))


@pytest.mark.usefixtures("workspace")
async def test_the_hint_and_the_hover_speak_of_the_program(start_editor: Start) -> None:
    async with start_editor() as editor:
        await shown(editor)
        told = await editor.hover("scale.cl", *NAME)
        assert "global 1048576, local 64 (recorded, 14 launches)" in " ".join(told.split())
        assert "In the program" in told
        assert any(line.split()[:4] == ["1024", "/", "64", "1000"] for line in told.splitlines())


async def test_a_new_recording_is_shown_without_an_edit(start_editor: Start, workspace: Path) -> None:
    async with start_editor() as editor:
        await shown(editor)
        keep_scale(workspace, SCALE, (1 << 21, 77, 400.0))
        await editor.wait_for_hint("scale.cl", lambda label: "recorded, 77 launches" in label)


@pytest.mark.usefixtures("workspace")
async def test_an_edit_makes_the_recording_stale(start_editor: Start) -> None:
    async with start_editor() as editor:
        await shown(editor)
        editor.edit("scale.cl", 2, SCALE.splitlines()[2].index("*"), "+", end=(2, SCALE.splitlines()[2].index("*") + 1))
        await editor.wait_for_hint("scale.cl", lambda label: "stale recording" in label)
        assert "before the last change" in " ".join((await editor.hover("scale.cl", *NAME)).split())


@pytest.mark.usefixtures("workspace")
async def test_a_launch_that_is_kept_above_the_kernel_is_the_users_own(start_editor: Start) -> None:
    async with start_editor() as editor:
        await shown(editor)
        await applied(editor, (await editor.actions("scale.cl", 0))["Keep as launch annotation"])
        await editor.wait_for_hint("scale.cl", lambda label: "recorded" not in label)
        said = " ".join((await editor.hover("scale.cl", 1, NAME[1])).split())
        assert "global 1048576, local 64 (annotation)" in said
        assert "Keep as launch annotation" not in await editor.actions("scale.cl", 1)


@pytest.mark.parametrize("before", [None, "# mine", "[hints]\nenabled = true\n"])
async def test_a_launch_can_be_kept_in_a_configuration(
    start_editor: Start, workspace: Path, before: str | None
) -> None:
    if before is not None:
        (workspace / "kernelcast.toml").write_text(before)
    async with start_editor(creates_files=before is None) as editor:
        await shown(editor)
        await applied(editor, (await editor.actions("scale.cl", 0))["Keep in kernelcast.toml"])
        await editor.wait_for_hint("scale.cl", lambda label: "recorded" not in label)
        said = " ".join((await editor.hover("scale.cl", *NAME)).split())
        assert "global 1048576, local 64 (kernelcast.toml)" in said
        assert editor.client.diagnostics.get((workspace / "kernelcast.toml").as_uri(), []) == []
