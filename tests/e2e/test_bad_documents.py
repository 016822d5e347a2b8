"""Whatever is in a document, each ends in an answer or a clear reason, and a good file is still answered."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]

Start = Callable[..., Any]

GOOD = """// kernelcast: global=65536 n=65536
__kernel void good(__global float *a, int n) {
  int i = get_global_id(0);
  if (i < n) a[i] = 1.0f;
}
"""
BODY = "__kernel void odd(__global float *a, int n) {\n  int i = get_global_id(0);\n  if (i < n) a[i] = 1.0f;\n}\n"

DOCUMENTS = {
    "syntax errors": "__kernel void odd(__global float *a { a[0] = ; } } ) int\n__kernel void",
    "unterminated comment": BODY + "/* never closed\n__kernel void lost(int n) {}\n",
    "unterminated string": '__kernel void odd(__global float *a) { printf("never closed); }\n',
    "empty": "",
    "a line of 1 MB": "__kernel void odd(__global float *a) { " + "a[0] += 1.0f; " * 75_000 + "}\n",
    "a comment of 1 MB in one line": "/*" + "😀" * 260_000 + "*/ " + GOOD,
    "binary bytes": bytes(range(256)).decode("latin-1") * 40 + "\ufffd\x00\x00",
    "recursive macro": "#define A B + A\n#define B A\n#define F(x) F(F(x))\n" + BODY.replace("1.0f", "F(A)"),
    "missing include": '#include "not/there.h"\n' + BODY,
    "include of itself": '#include "odd.cl"\n' + BODY,
    "deep nesting": "__kernel void odd(__global int *a) { a[0] = " + "(" * 3000 + "1" + ")" * 3000 + "; }\n",
    "only carriage returns": BODY.replace("\n", "\r"),
}

ANNOTATIONS = {
    "overflow": ("global=9**9**9 n=1", "9**9**9"),
    "division by zero": ("global=64 n=1/0", "1/0"),
    "unknown name": ("global=width n=1", "width"),
    "negative size": ("global=-64 n=1", "-64"),
    "zero": ("global=0 n=1", "0"),
    "nonsense": ("global=(64 n=1", "(64"),
    "unknown argument": ("global=64 n=1 colour=3", "colour"),
}


async def stays_well(editor: Any) -> None:
    editor.open("good.cl", GOOD)
    assert re.match(r"[~≈] ", await editor.wait_for_hint("good.cl"))
    assert not [message for message in editor.messages if "fault of Kernelcast" in message or "Traceback" in message]
    assert await editor.leave() == 0


@pytest.mark.parametrize("name", DOCUMENTS)
async def test_a_document_with(name: str, start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("odd.cl", DOCUMENTS[name])
        await editor.hints("odd.cl")
        editor.edit("odd.cl", 0, 0, "\n// 😀 typed into it\n")
        for _, _, label in await editor.hints("odd.cl"):
            assert label.startswith(("~ ", "≈ ", "? ")), label
        await stays_well(editor)


async def test_a_missing_include_is_named_where_the_prediction_would_stand(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("odd.cl", f'#include "not/there.h"\n{BODY}')
        await editor.wait_for_hint("odd.cl")
        assert "`not/there.h` was not found" in await editor.hover("odd.cl", 1, 16)


async def test_a_file_whose_kernels_are_all_hidden_says_why(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("odd.cl", f"// a title\n/* never closed\n{BODY}")
        assert await editor.wait_for_hint("odd.cl") == "? this comment is never closed"
        assert [line for line, _, _ in await editor.hints("odd.cl")] == [1]


@pytest.mark.parametrize("name", ANNOTATIONS)
async def test_an_annotation_with(name: str, start_editor: Start) -> None:
    words, culprit = ANNOTATIONS[name]
    line = f"// kernelcast: {words}"
    async with start_editor() as editor:
        editor.open("odd.cl", f"{line}\n{BODY}")
        await editor.until(lambda: bool(editor.client.diagnostics.get(editor.uri("odd.cl"))))
        found = editor.client.diagnostics[editor.uri("odd.cl")][0]
        marked = line[found.range.start.character : found.range.end.character]
        assert found.range.start.line == found.range.end.line == 0
        assert culprit in marked or marked in culprit
        assert found.message
        assert "Traceback" not in found.message
        await stays_well(editor)


async def test_a_buffer_larger_than_the_device_is_refused_with_a_reason(start_editor: Start) -> None:
    text = f"// kernelcast: global=64 n=64 a={10**12}\n{BODY}"
    async with start_editor() as editor:
        editor.open("odd.cl", text)
        label = await editor.wait_for_hint("odd.cl")
        assert label.startswith("? `a` takes")
        assert "make it smaller" in await editor.hover("odd.cl", 1, 16)
        answer = await editor.measure("odd.cl", "odd")
        assert "error" in answer
        await stays_well(editor)
