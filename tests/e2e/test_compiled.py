"""After a measurement the hover tells what the compiler made of the kernel, in this session and in the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

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
