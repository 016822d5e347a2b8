"""The report from the editor: its content for who can show it, a page in the browser for the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pygls.uris import to_fs_path

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]

Start = Callable[..., Any]

SCALE = """// kernelcast: global=65536 local=64 n=65536
__kernel void scale(__global const float *a, __global float *b, int n) {
  int i = get_global_id(0);
  if (i < n) b[i] = a[i] * 2.0f;
}
"""
TWO = SCALE + SCALE.replace("scale", "again")


async def test_the_content_is_one_self_contained_page(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("two.cl", TWO)
        answer = await editor.run("kernelcast.report", editor.uri("two.cl"), "again", "content")
        assert answer["title"] == "Performance of again"
        assert answer["html"].startswith("<!DOCTYPE html>")
        assert 'data-kernel="again"' in answer["html"]
        assert 'data-kernel="scale"' not in answer["html"]
        assert "<script" not in answer["html"]


async def test_without_a_kernel_the_whole_file_is_reported(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("two.cl", TWO)
        answer = await editor.run("kernelcast.report", editor.uri("two.cl"), "", "content")
        assert answer["title"] == "Performance of two.cl"
        assert 'data-kernels="2"' in answer["html"]


async def test_the_page_is_opened_in_the_browser_where_the_client_can(start_editor: Start, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    async with start_editor(show_document=True, environment={"XDG_CACHE_HOME": cache}) as editor:
        editor.open("two.cl", TWO)
        answer = await editor.run("kernelcast.report", editor.uri("two.cl"), "scale")
        (shown,) = editor.client.shown_documents
        assert shown.external is True
        assert to_fs_path(shown.uri) == answer["path"]
        assert Path(answer["path"]).is_relative_to(cache)
        assert 'data-kernel="scale"' in Path(answer["path"]).read_text(encoding="utf-8")
        assert [file.name for file in editor.folder.iterdir()] == ["two.cl"]


async def test_elsewhere_the_user_is_told_where_the_page_is(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("two.cl", TWO)
        answer = await editor.run("kernelcast.report", editor.uri("two.cl"), "scale", "show")
        await editor.until(lambda: any(answer["path"] in message for message in editor.messages))


async def test_the_report_is_of_the_text_as_it_is_now(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("two.cl", TWO)
        editor.edit("two.cl", 1, 14, "renamed", (1, 19))
        answer = await editor.run("kernelcast.report", editor.uri("two.cl"), "renamed", "content")
        assert 'data-kernel="renamed"' in answer["html"]


@pytest.mark.parametrize(
    ("document", "kernel", "mode", "said"),
    [
        ("two.cl", "none_such", "content", "no kernel `none_such`; it holds scale, again"),
        ("empty.cl", "", "content", "holds no kernel"),
        ("never_opened.cl", "", "content", "not open"),
        ("two.cl", "scale", "print", "not for `print`"),
    ],
)
async def test_what_cannot_be_reported_is_answered_and_told(
    start_editor: Start, document: str, kernel: str, mode: str, said: str
) -> None:
    async with start_editor() as editor:
        editor.open("two.cl", TWO)
        editor.open("empty.cl", "int x;\n")
        answer = await editor.run("kernelcast.report", editor.uri(document), kernel, mode)
        assert said in answer["error"]["message"]
        await editor.until(lambda: any(said in message for message in editor.messages))


async def test_hints_are_answered_while_a_long_report_is_made(start_editor: Start) -> None:
    """The page of a hundred kernels takes a moment; the editor must not notice."""
    text = "".join(SCALE.replace("scale", f"scale_{n}") for n in range(100))
    async with start_editor() as editor:
        editor.open("many.cl", text)
        await editor.wait_for_hint("many.cl", place=99)
        making = asyncio.ensure_future(editor.run("kernelcast.report", editor.uri("many.cl"), "", "content"))
        answered = 0
        while not making.done() and answered < 3:
            assert len(await editor.hints("many.cl")) == 100
            answered += not making.done()
        assert answered == 3
        assert 'data-kernels="100"' in (await making)["html"]


@pytest.mark.device
async def test_what_was_measured_is_in_the_report(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("two.cl", TWO)
        await editor.measure("two.cl", "scale")
        answer = await editor.run("kernelcast.report", editor.uri("two.cl"), "scale", "content")
        assert "(measured)" in answer["html"].replace("\u00a0", " ")
        assert 'data-fact="measured"' in answer["html"]
        assert "history" in answer["html"]
