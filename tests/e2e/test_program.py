"""The page about a whole recorded program, from the editor: as it was, and with kernels as the editor has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model.program.command import Command, CommandKind, CommandSequence, Queue
from profiler.recording.recorded_entry import RecordedEntry
from profiler.recording.recordings import Recording, save, sources_of
from profiler.recording.sources import source_key
from profiler.store import Store

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]

Start = Callable[..., Any]
SCALE = """__kernel void scale(__global float *x, const float factor) {
  int i = get_global_id(0);
  x[i] = x[i] * factor;
}
"""
SLOW = SCALE.replace("x[i] * factor", "pow(x[i], factor) + tan(x[i]) / sin(factor)")
GPU = "nvidia-h100-pcie"


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a recording: one write, three launches of `scale.cl`, and a read."""
    folder = tmp_path / "workspace"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.setenv("KERNELCAST_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("OCL_ICD_VENDORS", "/nonexistent.icd")  # only its catalogue has devices here
    (folder / "scale.cl").write_text(SCALE, "utf-8")
    store = Store.open()
    key = source_key(SCALE.encode())
    sources_of(store).keep(key, SCALE.encode(), ())
    entry = RecordedEntry(
        "scale", (1 << 24,), (64,), args=(("factor", 2.0),), buffers=(("x", 1 << 24),), count=3, source=key,
        file=str(folder / "scale.cl"), device_id=GPU, device_name="NVIDIA H100 PCIe",
    )  # fmt: skip
    moved = {"size_bytes": 4 << 24, "is_blocking": True}
    commands = (
        Command(CommandKind.WRITE, 0, 9000, 0, **moved),
        *(Command(CommandKind.LAUNCH, 9010.0 + 5 * n, 9012.0 + 5 * n, 0, 0) for n in range(3)),
        Command(CommandKind.READ, 9030, 20_000, 0, **moved),
    )
    sequence = CommandSequence(commands, (Queue(GPU),), wall_us=20_000.0)
    save(store, Recording(folder, ("simulate",), str(folder), 1.0, 0, (entry,)), sequence)
    return folder


async def page(editor: Any, *mode: str) -> dict[str, Any]:
    answer: dict[str, Any] = await editor.run("kernelcast.program", editor.uri("scale.cl"), *mode)
    return answer


async def test_the_page_has_the_programs_parts(start_editor: Start, recorded: Path) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        answer = await page(editor, "content")
        assert answer["title"].endswith("simulate")
        for word in ("transfers", "Critical path", "Bounded by", "H100"):
            assert word in answer["html"]
        assert "<script" not in answer["html"]


async def test_kernels_are_predicted_as_the_editor_has_them_unsaved(start_editor: Start, recorded: Path) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        before = (await page(editor, "content"))["html"]
        editor.edit("scale.cl", 2, 0, SLOW.splitlines()[2], end=(2, len(SCALE.splitlines()[2])))
        after = (await page(editor, "content"))["html"]
        assert "Changed" in before
        assert before != after
        assert (recorded / "scale.cl").read_text("utf-8") == SCALE


async def test_the_page_is_kept_in_the_cache_for_a_browser(start_editor: Start, recorded: Path, tmp_path: Path) -> None:
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    async with start_editor(show_document=True, environment=environment) as editor:
        editor.open("scale.cl", SCALE)
        answer = await page(editor)
        assert Path(answer["path"]).is_relative_to(tmp_path / "cache")
        assert len(editor.client.shown_documents) == 1


async def test_without_a_recording_the_user_is_told_how_to_make_one(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        answer = await page(editor, "content")
        assert "kernelcast record --profile" in answer["error"]["message"]
        assert any("kernelcast record" in text for text in editor.messages)
