"""Cancel may be pressed at any moment of a search or of a measured fix: text and store are as they were before."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from profiler.store.database import FILE_NAME
from tests.editors.faster import SLOW_SUM, SWAP, TURN

pytestmark = [pytest.mark.e2e, pytest.mark.device, pytest.mark.asyncio]

Start = Callable[..., Any]
LONG = {"measure": {"budgetS": 60, "timeLimitS": 60}}  # no turn is the last one
MOMENTS = (1, 2, 4, 7)  # pieces of progress that were seen by then; the first says that the work begins


def measurements(data: Path) -> list[tuple[str]]:
    """The kernels that the store holds measurements of."""
    file = data / FILE_NAME
    if not file.exists():
        return []
    with contextlib.closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as store:
        return list(store.execute("SELECT kernel_id FROM measurements"))


async def cancelled_after(editor: Any, pieces: int, command: str, *arguments: str) -> dict[str, Any]:
    """The answer to a command that is cancelled as soon as it has shown so much progress, or just before its end."""
    editor.progress.clear()
    running = asyncio.ensure_future(editor.run(command, *arguments))
    await editor.until(lambda: len(editor.progress) >= pieces or running.done())
    editor.press_cancel()
    answer: dict[str, Any] = await running
    return answer


@pytest.mark.parametrize("pieces", MOMENTS)
async def test_a_search_leaves_no_trace(start_editor: Start, tmp_path: Path, pieces: int) -> None:
    async with start_editor(settings=LONG) as editor:
        editor.makes_edits = True
        editor.open("total.cl", SLOW_SUM)
        await editor.device_is_here()
        shown = await editor.wait_for_hint("total.cl")
        answer = await cancelled_after(editor, pieces, "kernelcast.tune", editor.uri("total.cl"), "total")
        assert answer["error"]["code"] == "cancelled"
        assert editor.texts[editor.uri("total.cl")] == SLOW_SUM
        assert measurements(tmp_path / "data") == []
        assert not [message for message in editor.messages if "faster" in message], "nothing is offered"
        assert "measured" not in await editor.wait_for_hint("total.cl"), shown
        assert await editor.leave() == 0


@pytest.mark.parametrize("pieces", MOMENTS)
async def test_a_fix_is_taken_back(start_editor: Start, tmp_path: Path, pieces: int) -> None:
    async with start_editor(settings=LONG) as editor:
        editor.makes_edits = True
        editor.open("turn.cl", TURN)
        await editor.device_is_here()
        await editor.wait_for_hint("turn.cl")
        uri = editor.uri("turn.cl")
        (fix,) = [each for each in await editor.run("kernelcast.listFixes", uri, "turn") if each["title"] == SWAP]
        assert fix["measurable"]
        assert fix["label"].startswith(f"{SWAP} (predicted ")
        named = (uri, "turn", fix["launch"], fix["code"], fix["title"])
        answer = await cancelled_after(editor, pieces, "kernelcast.applyAndMeasure", *named)
        assert answer["error"]["code"] == "cancelled"
        assert editor.texts[uri] == TURN
        assert measurements(tmp_path / "data") == []
        assert await editor.leave() == 0
