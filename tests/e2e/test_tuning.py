"""Finding a faster launch from the editor: progress, a message with the outcome, and an edit that writes the winner."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.device, pytest.mark.asyncio]

Start = Callable[..., Any]
FIRST = "// 😀 kernels\n"
SUM = (
    FIRST
    + """// kernelcast: global=N local=64 N=16384 x=N y=N -DWAY=0 tune.WAY=1,2
kernel void total(global const float *x, global float *y, int N) {
    int i = get_global_id(0);
    float s = 0;
#if WAY == 0
    for (int k = 0; k < 400; ++k) s += x[(i * 97 + k * 1031) % N] * 0.0f;
#endif
    y[i] = s + x[i] * (WAY == 2 ? 3 : 2);
}
"""
)


async def test_the_winner_is_offered_and_written(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("total.cl", SUM.replace("-DWAY=0", "-DWAY=9"))
        at = SUM.split("\n")[1].index("-DWAY=0") + len("-DWAY=")
        editor.edit("total.cl", 1, at, "0", end=(1, at + 1))  # not saved
        await editor.wait_for_hint("total.cl")
        await editor.device_is_here()
        (title,) = [t for t in await editor.actions("total.cl", 3) if t.startswith("Find a faster launch")]
        assert title.startswith("Find a faster launch of `total` on ")
        answer = await editor.run("kernelcast.tune", editor.uri("total.cl"), "total")
        assert answer.get("written") is True, answer
        best = answer["candidates"][answer["best"]]
        assert best["launch"]["defines"] == {"WAY": "1"}
        assert best["equal"] is True
        assert [one["equal"] for one in answer["candidates"] if one["launch"]["defines"]["WAY"] == "2"] == [False]
        assert any("candidates" in words(value) for value in editor.progress)
        (edit,) = editor.edits
        (change,) = edit.changes[editor.uri("total.cl")]
        assert change.new_text == "-DWAY=1"
        assert change.range.start.line == 1
        assert "Measured" in await editor.hover_with("total.cl", 2, 13, "Measured")
        assert await editor.leave() == 0


async def test_a_user_who_turns_away_keeps_the_launch(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.choice = lambda _titles: None
        editor.open("total.cl", SUM)
        await editor.wait_for_hint("total.cl")
        await editor.device_is_here()
        answer = await editor.run("kernelcast.tune", editor.uri("total.cl"), "total")
        assert answer["written"] is False
        assert editor.edits == []
        assert await editor.leave() == 0


async def test_a_cancel_ends_the_search_and_all_its_processes(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("total.cl", SUM)
        await editor.wait_for_hint("total.cl")
        await editor.device_is_here()
        running = asyncio.ensure_future(editor.run("kernelcast.tune", editor.uri("total.cl"), "total"))
        await editor.until(lambda: any("measuring the best" in words(value) for value in editor.progress))
        editor.press_cancel()
        answer = await running
        assert answer["error"]["code"] == "cancelled"
        assert editor.edits == []
        async with asyncio.timeout(30):
            while editor.device_processes():
                await asyncio.sleep(0.05)
        assert "Measured" not in await editor.hover("total.cl", 2, 13)
        assert await editor.leave() == 0


async def test_what_cannot_be_searched_is_said(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("total.cl", SUM)
        await editor.wait_for_hint("total.cl")
        await editor.device_is_here()
        answer = await editor.run("kernelcast.tune", editor.uri("total.cl"), "no such kernel")
        assert "no kernel" in answer["error"]["message"]
        assert any("No faster launch of no such kernel" in message for message in editor.messages)
        assert await editor.leave() == 0


def words(progress: Any) -> str:
    """The text of a piece of progress, whatever the client made of it."""
    text = progress.get("message") if isinstance(progress, dict) else getattr(progress, "message", "")
    return text or ""
