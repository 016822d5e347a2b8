"""After a measurement the hover tells what the compiler made of the kernel, in this session and in the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from lsprotocol import types

pytestmark = [pytest.mark.e2e, pytest.mark.device, pytest.mark.asyncio]

Start = Callable[..., Any]
SCALE = """// kernelcast: global=4096 local=64 a=4096
__kernel void scale(__global float *a) {
  size_t i = get_global_id(0);
  a[i] = 2.0f * a[i] + 1.0f;
}
"""
WORDS = "-bit vectors"


async def test_the_hover_tells_it_when_the_device_is_free_and_ever_after(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        assert WORDS not in await editor.hover("scale.cl", 1, 16)
        assert "error" not in await editor.measure("scale.cl", "scale")
        told = await editor.hover_with("scale.cl", 1, 16, WORDS)
        assert "no spills" in told
        assert not editor.messages

    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        assert "no spills" in await editor.hover_with("scale.cl", 1, 16, WORDS)


async def test_in_a_trusted_folder_kernels_are_compiled_unasked_and_follow_the_text(start_editor: Start) -> None:
    async with start_editor(options={"trusted": True}) as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        assert WORDS in await editor.hover_with("scale.cl", 1, 16, WORDS)
        editor.edit("scale.cl", 3, 9, "3.0f", end=(3, 13))
        assert "no spills" in await editor.hover_with("scale.cl", 1, 16, WORDS)
        assert not editor.messages


async def test_what_the_driver_refuses_is_a_warning_on_its_line_until_it_is_mended(start_editor: Start) -> None:
    def refused() -> list[types.Diagnostic]:
        found = editor.client.diagnostics.get(editor.uri("scale.cl"), [])
        return [each for each in found if each.code == "compile"]

    async with start_editor(options={"trusted": True}) as editor:
        editor.open("scale.cl", SCALE.replace("2.0f * a[i]", "factor * a[i]"))
        await editor.until(lambda: bool(refused()))
        (told,) = refused()
        assert "factor" in told.message
        assert told.range.start.line == told.range.end.line == 3
        editor.edit("scale.cl", 3, 9, "2.0f", end=(3, 15))
        await editor.until(lambda: not refused())
        assert WORDS in await editor.hover_with("scale.cl", 1, 16, WORDS)


async def test_a_folder_of_which_the_editor_says_nothing_is_compiled_for_a_measurement_alone(
    start_editor: Start,
) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        assert "error" not in await editor.measure("scale.cl", "scale")
        assert WORDS in await editor.hover_with("scale.cl", 1, 16, WORDS)
        editor.edit("scale.cl", 3, 9, "3.0f", end=(3, 13))
        await editor.wait_for_hint("scale.cl")
        assert WORDS not in await editor.hover("scale.cl", 1, 16)
