"""A file that can hold no kernel: the server stays as it was at its start until there is something to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]

HELPER = "inline float twice(float a) { return 2.0f * a; }\n"
KERNEL = "__kernel void scale(__global float *a) { a[get_global_id(0)] *= 2.0f; }\n"


async def test_nothing_is_loaded_for_helpers_until_a_kernel_is_typed(start_editor: Callable[..., Any]) -> None:
    async with start_editor() as editor:
        editor.open("helpers.cl", HELPER)
        editor.edit("helpers.cl", 0, 0, "/* of every kernel */")
        assert await editor.hints("helpers.cl") == []
        assert editor.child_processes() == []
        assert editor.statuses == []
        editor.edit("helpers.cl", 1, 0, KERNEL)
        await editor.wait_for_hint("helpers.cl")
        await editor.status(lambda status: status["uri"].endswith("helpers.cl"))


async def test_commands_look_at_helpers_too(start_editor: Callable[..., Any]) -> None:
    async with start_editor() as editor:
        editor.open("helpers.cl", HELPER)
        assert await editor.run("kernelcast.listKernels", editor.uri("helpers.cl")) == []
        assert (await editor.run("kernelcast.listDevices"))["devices"]
        answer = await editor.run("kernelcast.measureAll", editor.uri("helpers.cl"))
        assert "kernel" in answer["error"]["message"]
