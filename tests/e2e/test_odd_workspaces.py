"""Folders that contain themselves, names that need care, files that change or go while they are open, bare clients."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]

Start = Callable[..., Any]

SIGNATURE = "__kernel void scale(__global float *a, int n)"
SCALE = SIGNATURE + " {\n  int i = get_global_id(0);\n  if (i < n) a[i] = 1.0f;\n}\n"
TOML = '[[launch]]\nkernel = "scale"\nglobal = 4096\nargs = { n = 4096 }\n'
COLUMN = SIGNATURE.index("scale") + 2
ODD_NAMES = (
    "mein Ordner/größe 😀.cl", "a%20b/100%.cl", "#1?/k;l.cl", "it's \"quoted\"/[k]{1}.cl", "e\u0301/é.cl", ".k.cl",
)  # fmt: skip


def including(header: str) -> str:
    return f'#include "{header}"\n{SCALE.replace("if (i < n)", "for (int k = 0; k < ROUNDS; k++)")}'


def tell(editor: Any, *files: Path) -> None:
    """As an editor that watches them."""
    events = [types.FileEvent(uri=file.as_uri(), type=types.FileChangeType.Changed) for file in files]
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))


async def tells_no_fault(editor: Any) -> None:
    assert not [message for message in editor.messages if "fault of Kernelcast" in message]
    assert await editor.leave() == 0


async def test_folders_that_contain_themselves_are_walked_no_further_than_names_go(start_editor: Start) -> None:
    async with start_editor() as editor:
        (editor.folder / "kernelcast.toml").write_text(TOML)
        (editor.folder / "rounds.h").write_text("#define ROUNDS 3\n")
        (editor.folder / "loop").symlink_to(".", target_is_directory=True)
        (editor.folder / "sub").mkdir()
        (editor.folder / "sub/up").symlink_to("..", target_is_directory=True)
        name = "loop/loop/sub/up/sub/scale.cl"
        editor.open(name, including("up/loop/rounds.h"))
        await editor.wait_for_hint(name)
        assert "4096 work-items in groups" in await editor.hover(name, 1, COLUMN)
        await tells_no_fault(editor)


async def test_a_header_that_is_a_link_to_itself_is_named_as_missing(start_editor: Start) -> None:
    async with start_editor() as editor:
        (editor.folder / "round.h").symlink_to("round.h")
        editor.open("scale.cl", including("round.h"))
        await editor.wait_for_hint("scale.cl")
        assert "round.h" in await editor.hover("scale.cl", 1, COLUMN)
        (editor.folder / "round.h").unlink()
        (editor.folder / "round.h").write_text("#define ROUNDS 3\n")
        tell(editor, editor.folder / "round.h")
        await editor.hover_with("scale.cl", 1, COLUMN, "launch")
        await tells_no_fault(editor)


async def test_headers_that_include_each_other_through_links_end(start_editor: Start) -> None:
    async with start_editor() as editor:
        (editor.folder / "loop").symlink_to(".", target_is_directory=True)
        (editor.folder / "a.h").write_text('#include "loop/b.h"\n#define ROUNDS 3\n')
        (editor.folder / "b.h").write_text('#include "loop/a.h"\n')
        editor.open("scale.cl", including("loop/a.h"))
        await editor.wait_for_hint("scale.cl")
        await tells_no_fault(editor)


@pytest.mark.parametrize("name", ODD_NAMES)
async def test_a_file_is_found_with_its_header_and_configuration_whatever_its_name(
    name: str, start_editor: Start
) -> None:
    async with start_editor() as editor:
        file = editor.folder / name
        file.parent.mkdir(exist_ok=True)
        (file.parent / "runden ü 😀.h").write_text("#define ROUNDS 3\n", encoding="utf-8")
        (file.parent / "kernelcast.toml").write_text(TOML)
        editor.open(name, including("runden ü 😀.h"))
        await editor.wait_for_hint(name, lambda label: label[0] in "~≈")
        assert "4096 work-items in groups" in await editor.hover(name, 1, COLUMN)
        await tells_no_fault(editor)


@pytest.mark.parametrize("line_end", ["\r\n", "\r", "\n"])
async def test_a_file_with_a_byte_order_mark_has_its_hint_where_the_editor_has_the_kernel(
    line_end: str, start_editor: Start
) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", f"\ufeff/* 😀 */\n{SCALE}".replace("\n", line_end))
        await editor.wait_for_hint("scale.cl")
        editor.edit("scale.cl", 0, 9, line_end)
        await editor.wait_for_hint("scale.cl")
        ((line, column, _),) = await editor.hints("scale.cl")
        assert (line, column) == (2, len(SIGNATURE) + 2)
        assert "scale" in await editor.hover("scale.cl", 2, COLUMN)
        await tells_no_fault(editor)


async def test_characters_typed_and_deleted_half_by_half_leave_the_hint_where_the_kernel_is(
    start_editor: Start,
) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", f"/* 😀 */ {SCALE}")
        await editor.wait_for_hint("scale.cl")
        editor.edit("scale.cl", 0, 4, "", end=(0, 5))  # the second half goes
        editor.edit("scale.cl", 0, 3, "", end=(0, 4))  # and the first
        editor.edit("scale.cl", 0, 3, "\ud83d")  # and they come again, one by one
        editor.edit("scale.cl", 0, 4, "\ude00 é")
        editor.edit("scale.cl", 0, 4, "x")  # between them
        ((line, column, _),) = await editor.hints("scale.cl")
        assert (line, column) == (0, len("/* 1x2 é */ ") + len(SIGNATURE) + 2)
        assert "scale" in await editor.hover("scale.cl", 0, column - 10)
        await tells_no_fault(editor)


async def test_what_is_open_counts_and_not_what_became_of_its_file(start_editor: Start) -> None:
    async with start_editor() as editor:
        file = editor.folder / "scale.cl"
        editor.open("scale.cl", SCALE)
        before = await editor.wait_for_hint("scale.cl")
        for change in (lambda: file.write_bytes(b"\xff\x00"), file.unlink, file.mkdir):
            change()
            tell(editor, file)
            editor.edit("scale.cl", 0, 0, " ")
            assert await editor.wait_for_hint("scale.cl") == before
        await tells_no_fault(editor)


async def test_a_header_may_go_and_come_back_as_anything(start_editor: Start) -> None:
    async with start_editor() as editor:
        header = editor.folder / "rounds.h"
        header.write_text("#define ROUNDS 3\n")
        editor.open("scale.cl", including("rounds.h"))
        await editor.device_is_here()  # whose arrival would change the hint on the way
        first = await editor.wait_for_hint("scale.cl", lambda label: label[0] in "~≈")
        header.unlink()
        tell(editor, header)
        await editor.hover_with("scale.cl", 1, COLUMN, "rounds.h")
        header.mkdir()
        tell(editor, header)
        await editor.hover_with("scale.cl", 1, COLUMN, "rounds.h")
        header.rmdir()
        header.write_bytes(b"\xff\xfe\x00 #define ROUNDS\r\n")
        tell(editor, header)
        await editor.wait_for_hint("scale.cl")
        header.write_text("\ufeff#define ROUNDS 3\r\n", encoding="utf-8")
        tell(editor, header)
        await editor.wait_for_hint("scale.cl", lambda label: label == first)
        await tells_no_fault(editor)


async def test_a_client_that_can_do_nothing_gets_hints_and_hovers_and_is_asked_nothing(
    start_editor: Start, no_opencl: dict[str, str]
) -> None:
    async with start_editor(capabilities=types.ClientCapabilities(), environment=no_opencl) as editor:
        editor.open("scale.cl", SCALE)
        ((line, _, label),) = await editor.hints("scale.cl")
        assert line == 0
        assert label[0] in "~≈"
        answer = await editor.client.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(editor.uri("scale.cl")), types.Position(0, COLUMN))
        )
        assert answer is not None
        assert "scale" in str(answer.contents)
        assert editor.refreshes == 0
        assert editor.progress == []
        assert editor.statuses == []
        await tells_no_fault(editor)
