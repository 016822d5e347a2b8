"""What an edit changes: an edited kernel beside the version that was measured, and measuring on save."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

pytestmark = [pytest.mark.e2e, pytest.mark.device, pytest.mark.asyncio]

Start = Callable[..., Any]
SCALE = """// kernelcast: global=65536 local=64 n=65536
__kernel void scale(__global const float *a, __global float *b, int n) {
  int i = get_global_id(0);
  if (i < n) b[i] = a[i] * 2.0f;
}
__kernel void guessed(__global float *a) { a[get_global_id(0)] = 1.0f; }
"""
LOOP = "for (int k = 0; k < 99; k++) "
LINEAR = {"kind": "linear", "log2_factor": 3.0, "spread": 8.0, "novelty": 0.1}
ON_SAVE = {"measure": {"onSave": True, "onSaveBudgetS": 30, "budgetS": 0.2, "timeLimitS": 20}}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A learned model whose times are eight times the analytical ones."""
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "model.json").write_text(json.dumps(LINEAR))
    return {"KERNELCAST_WEIGHTS": str(folder)}


def save(editor: Any, name: str) -> None:
    editor.client.text_document_did_save(
        types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(editor.uri(name)))
    )


def finished(editor: Any, words: str) -> Callable[[], bool]:
    return lambda: any(v["kind"] == "end" and words in v.get("message", "") for v in editor.progress)


async def test_an_edit_is_shown_by_what_it_changes_of_the_measured_time(
    start_editor: Start, environment: dict[str, str]
) -> None:
    async with start_editor(environment=environment) as editor:
        editor.open("scale.cl", SCALE)
        await editor.device_is_here()
        await editor.wait_for_hint("scale.cl", lambda label: label.startswith("≈"))
        answer = await editor.measure("scale.cl", "scale")
        measured = await editor.wait_for_hint("scale.cl", lambda label: "measured" in label)
        editor.edit("scale.cl", 3, 2, LOOP)
        shown = await editor.wait_for_hint("scale.cl", lambda label: label.endswith("slower"))
        assert shown.startswith("≈ ")
        told = " ".join((await editor.hover("scale.cl", 1, 16)).split())
        assert re.search(r"slower than measured at \d\d:\d\d\. Launch: .*\. Bound by", told), told
        assert "measured before the kernel or its launch changed" in told
        editor.edit("scale.cl", 3, 2, "", end=(3, 2 + len(LOOP)))
        assert await editor.wait_for_hint("scale.cl", lambda label: "measured" in label) == measured
        assert await editor.leave() == 0
    async with start_editor(environment=environment) as editor:
        edited = SCALE.replace("b[i] =", f"{LOOP}b[i] =")
        editor.open("scale.cl", edited)
        await editor.wait_for_hint("scale.cl", lambda label: label.endswith("slower"))
        assert answer["runtime_us"]["median"] > 0


async def test_an_edited_kernel_with_a_known_launch_is_measured_on_save(start_editor: Start) -> None:
    async with start_editor(settings=ON_SAVE, options={"trusted": True}) as editor:
        editor.open("scale.cl", SCALE)
        await editor.device_is_here()
        await editor.wait_for_hint("scale.cl")
        editor.edit("scale.cl", 3, 2, LOOP)
        editor.edit("scale.cl", 5, 44, " ")
        save(editor, "scale.cl")
        await editor.until(finished(editor, "1 launch measured"))
        await editor.wait_for_hint("scale.cl", lambda label: "measured" in label)
        guessed = await editor.wait_for_hint("scale.cl", place=1)
        assert "measured" not in guessed
        save(editor, "scale.cl")
        await editor.measure("scale.cl", "guessed")  # comes after whatever the save would have begun
        titles = [v["title"] for v in editor.progress if v["kind"] == "begin"]
        assert titles.count("Measuring scale") == 1
        assert await editor.leave() == 0


@pytest.mark.parametrize(
    ("settings", "options"),
    [(ON_SAVE, {"trusted": False}), (ON_SAVE, {}), ({"measure": {"budgetS": 0.2}}, {"trusted": True})],
    ids=["not trusted", "trust never said", "off"],
)
async def test_nothing_is_measured_on_save_without_trust_or_unless_it_is_on(
    start_editor: Start, settings: dict[str, Any], options: dict[str, Any]
) -> None:
    async with start_editor(settings=settings, options=options) as editor:
        editor.open("scale.cl", SCALE)
        await editor.device_is_here()
        await editor.wait_for_hint("scale.cl")
        editor.edit("scale.cl", 3, 2, LOOP)
        save(editor, "scale.cl")
        await editor.run("kernelcast.listKernels", editor.uri("scale.cl"))
        assert not [v for v in editor.progress if v["kind"] == "begin" and "Measuring" in v["title"]]
        assert "measured" not in await editor.wait_for_hint("scale.cl")
        assert await editor.leave() == 0


async def test_cancelling_what_a_save_began_leaves_the_kernel_for_the_next_save(start_editor: Start) -> None:
    endless = "while (((volatile __global float *)b)[0] != 7.0f) "
    async with start_editor(settings=ON_SAVE, options={"trusted": True}) as editor:
        editor.open("scale.cl", SCALE)
        await editor.device_is_here()
        await editor.wait_for_hint("scale.cl")
        editor.edit("scale.cl", 3, 2, endless)
        save(editor, "scale.cl")
        await editor.until(lambda: any(v["kind"] == "report" for v in editor.progress))
        editor.press_cancel()
        await editor.until(lambda: any(v["kind"] == "end" for v in editor.progress))
        assert "measured (" not in await editor.wait_for_hint("scale.cl")
        editor.edit("scale.cl", 3, 2, "", end=(3, 2 + len(endless)))
        editor.edit("scale.cl", 3, 2, LOOP)
        save(editor, "scale.cl")
        await editor.until(finished(editor, "1 launch measured"))
        await editor.wait_for_hint("scale.cl", lambda label: "measured" in label)
        assert await editor.leave() == 0
