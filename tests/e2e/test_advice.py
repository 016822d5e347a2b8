"""Advice comes by itself, goes when it is heeded, and stays away when it is not wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from lsprotocol import types

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]

Start = Callable[..., Any]
GPU = "nvidia-a100-pcie-40gb"
POWERS = """// kernelcast: global=65536 local=1024 x=65536 rounds=20000
__kernel void powers(__global float *x, const int rounds)
{
    float a = x[get_global_id(0)];
    for (int k = 0; k < rounds; ++k)
        a = a * 1.0001f + 0.5f;
    x[get_global_id(0)] = a;
}
"""
TURN = """// kernelcast: global=(2048, 2048) local=(64, 4) a=2048*2048 b=2048*2048 n=2048
__kernel void turn(__global const float *restrict a, __global float *restrict b, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    b[x * n + y] = a[y * n + x];
}
"""


def told(editor: Any, name: str) -> list[types.Diagnostic]:
    found: list[types.Diagnostic] = editor.client.diagnostics.get(editor.uri(name), [])
    return found


async def hovered(editor: Any) -> str:
    return " ".join((await editor.hover("powers.cl", 1, 16)).split())


async def test_advice_comes_with_its_place_and_goes_when_it_is_heeded(start_editor: Start) -> None:
    async with start_editor() as editor:
        await editor.run("kernelcast.chooseDevice", GPU)
        editor.open("powers.cl", POWERS)
        await editor.until(lambda: bool(told(editor, "powers.cl")))
        (found,) = told(editor, "powers.cl")
        assert (found.source, found.code) == ("kernelcast", "too-few-groups")
        assert found.severity == types.DiagnosticSeverity.Hint
        assert found.range == types.Range(types.Position(1, 14), types.Position(1, 20))
        assert "64 of the 108 compute units" in found.message
        assert "64 of the 108 compute units" in await hovered(editor)

        start = POWERS.index("1024")
        editor.edit("powers.cl", 0, start, "128", (0, start + len("1024")))
        await editor.until(lambda: not told(editor, "powers.cl"))
        assert "compute units" not in await hovered(editor)


async def test_advice_on_a_line_marks_it_and_goes_with_the_edit_that_heeds_it(start_editor: Start) -> None:
    async with start_editor() as editor:
        await editor.run("kernelcast.chooseDevice", GPU)
        editor.open("turn.cl", TURN)
        await editor.until(lambda: bool(told(editor, "turn.cl")))
        (found,) = told(editor, "turn.cl")
        line = TURN.splitlines()[4]
        assert found.code == "uncoalesced-access"
        assert found.range == types.Range(types.Position(4, 4), types.Position(4, len(line)))
        assert "1024 bytes for 128" in found.message

        start = line.index("x * n + y")
        editor.edit("turn.cl", 4, start, "y * n + x", (4, start + len("x * n + y")))
        await editor.until(lambda: not told(editor, "turn.cl"))


async def test_advice_that_is_off_never_comes(start_editor: Start) -> None:
    async with start_editor(settings={"advice": "off"}) as editor:
        await editor.run("kernelcast.chooseDevice", GPU)
        editor.open("powers.cl", POWERS)
        await editor.wait_for_hint("powers.cl")
        assert "compute units" not in await hovered(editor)
        assert not told(editor, "powers.cl")

        await editor.configure(advice="information")
        await editor.until(lambda: bool(told(editor, "powers.cl")))
        assert told(editor, "powers.cl")[0].severity == types.DiagnosticSeverity.Information

        await editor.configure(adviceIgnore=["too-few-groups"])
        await editor.until(lambda: not told(editor, "powers.cl"))
