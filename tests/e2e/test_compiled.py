"""After a measurement the hover tells what the compiler made of the kernel, in this session and in the next."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import psutil
import pytest
from lsprotocol import types

from tests.e2e.editor import PATIENCE_S

pytestmark = [pytest.mark.e2e, pytest.mark.device, pytest.mark.asyncio]

Start = Callable[..., Any]
SCALE = """// kernelcast: global=4096 local=64 a=4096
__kernel void scale(__global float *a) {
  size_t i = get_global_id(0);
  a[i] = 2.0f * a[i] + 1.0f;
}
"""
SCALE_8192 = "// kernelcast: global=8192 local=64 a=8192\n"
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
        editor.edit("scale.cl", 0, 0, SCALE_8192, end=(1, 0))
        assert WORDS not in await editor.hover_with("scale.cl", 1, 16, "8192 work-items")


# Both are for the driver's compiler alone: the first ends its process, the second keeps it busy for ever.
CRASH = "#ifdef __clang__\n#pragma clang __debug crash\n#endif\n"
HANG = "\n".join(
    [
        "#ifdef __clang__",
        "#define SUM_0(n) n",
        *(f"#define SUM_{i}(n) SUM_{i - 1}(n) + SUM_{i - 1}(n)" for i in range(1, 60)),
        "#if SUM_59(1)",
        "#endif",
        "#endif",
        "",
    ]
)


def compile_warnings(editor: Any) -> list[types.Diagnostic]:
    found: list[types.Diagnostic] = editor.client.diagnostics.get(editor.uri("scale.cl"), [])
    return [each for each in found if each.code == "compile"]


async def compiler_at_work(editor: Any) -> psutil.Process:
    """The process in which a driver compiles, as soon as it has been at it for a while."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            for process in editor.device_processes():
                with contextlib.suppress(psutil.NoSuchProcess):
                    if process.cpu_times().user > 1.0:
                        return process
            await asyncio.sleep(0.05)


async def ended(process: psutil.Process) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while process.is_running():
            await asyncio.sleep(0.05)


async def test_a_compiler_that_crashes_is_told_of_at_the_kernels_name_and_not_asked_again(start_editor: Start) -> None:
    async with start_editor(options={"trusted": True}) as editor:
        editor.open("scale.cl", SCALE.replace("  size_t", CRASH + "  size_t"))
        await editor.until(lambda: bool(compile_warnings(editor)))
        (told,) = compile_warnings(editor)
        assert "compiling scale.cl crashed" in told.message
        assert told.range == types.Range(types.Position(1, 14), types.Position(1, 19))
        editor.edit("scale.cl", 0, 0, "// a line above\n")
        await editor.until(lambda: [each.range.start.line for each in compile_warnings(editor)] == [2])
        editor.open("other.cl", SCALE.replace("2.0f", "5.0f"))
        assert WORDS in await editor.hover_with("other.cl", 1, 16, WORDS)  # which was compiled since
        assert [each.range.start.line for each in compile_warnings(editor)] == [2]
        editor.edit("scale.cl", 3, 0, "", end=(6, 0))
        await editor.until(lambda: not compile_warnings(editor))
        assert WORDS in await editor.hover_with("scale.cl", 2, 16, WORDS)
        assert not editor.messages


async def test_a_change_ends_the_compiler_that_is_at_work_on_what_was_there(start_editor: Start) -> None:
    async with start_editor(options={"trusted": True}) as editor:
        editor.open("scale.cl", HANG + SCALE)
        at_work = await compiler_at_work(editor)
        assert at_work.nice() >= 10  # whoever types does not feel it
        editor.edit("scale.cl", 0, 0, "", end=(HANG.count("\n"), 0))
        await ended(at_work)
        assert WORDS in await editor.hover_with("scale.cl", 1, 16, WORDS)
        assert not compile_warnings(editor)


async def test_it_can_be_switched_off_even_while_a_compiler_is_at_work(start_editor: Start) -> None:
    async with start_editor(options={"trusted": True}) as editor:
        editor.open("scale.cl", HANG + SCALE)
        at_work = await compiler_at_work(editor)
        await editor.configure(compile={"inBackground": False})
        await ended(at_work)
        editor.edit("scale.cl", 0, 0, "", end=(HANG.count("\n"), 0))
        await editor.wait_for_hint("scale.cl")
        assert not editor.device_processes()
        assert "error" not in await editor.measure("scale.cl", "scale")  # which compiles it, too
        assert WORDS in await editor.hover_with("scale.cl", 1, 16, WORDS)


async def test_a_folder_that_is_not_trusted_is_never_compiled(start_editor: Start) -> None:
    async with start_editor(options={"trusted": False}) as editor:
        editor.open("scale.cl", SCALE)
        await editor.device_is_here()
        await editor.wait_for_hint("scale.cl")
        editor.edit("scale.cl", 3, 9, "3.0f", end=(3, 13))
        editor.edit("scale.cl", 0, 0, SCALE_8192, end=(1, 0))
        assert WORDS not in await editor.hover_with("scale.cl", 1, 16, "8192 work-items")
        assert not editor.device_processes()
        assert not editor.messages
