"""Kernels in string literals of Python and C++ files, answered by a real server beside the language's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from lsprotocol import types

from tests.e2e.editor import PATIENCE_S

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]

Start = Callable[..., Any]

PY = '''"""A program of the host's. 😀"""
import pyopencl as cl

SOURCE = """
// kernelcast: global=65536 local=64 n=65536
__kernel void scale(__global const float *a, __global float *b, int n) {
  int i = get_global_id(0);
  if (i < n) b[i] = a[i] * 2.0f;
}
"""

OTHER = (
    "__kernel void shift(__global float *a) {\\n"
    "  a[get_global_id(0)] += 1.0f;  // 😀\\n"
    "}\\n"
)


def main() -> None:
    print(cl.Program(cl.create_some_context(), SOURCE + OTHER))
'''
CPP = r"""#include <CL/cl.h>
static const char *kSource = R"cl(
__kernel void scale(__global float *a) {
  a[get_global_id(0)] *= 2.0f;
}
)cl";
static const char *kOther =
    "__kernel void shift(__global float *a) {\n"
    "  a[get_global_id(0)] += 1.0f;\n"
    "}\n";
static const char *kAgain = "\t__kernel void scale(__global float *b) { b[get_global_id(0)] = 0; }";
int main() { return kSource == kOther; }
"""


async def test_each_kernel_of_a_python_file_has_its_hint_on_its_own_line(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("host.py", PY, language="python")
        await editor.wait_for_hint("host.py", place=1)
        hints = await editor.hints("host.py")
        assert [(line, column) for line, column, _ in hints] == [(5, 72), (12, 48)]
        said = await editor.hover("host.py", 5, 20)
        assert "65536" in said
        assert "line 8" in said


async def test_typing_in_the_host_moves_hints_and_keeps_them(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("host.py", PY, language="python")
        before = await editor.wait_for_hint("host.py", place=1)
        editor.edit("host.py", 1, 0, "import os\n# a comment about a __kernel\n")
        hints = await editor.hints("host.py")
        assert [line for line, _, _ in hints] == [7, 14]
        assert hints[1][2] == before


async def test_an_annotation_is_written_as_the_literal_needs_it(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("host.cpp", CPP, language="cpp")
        await editor.wait_for_hint("host.cpp", place=2)
        edits = []
        for line, kernel in ((2, "scale"), (7, "shift")):
            action = (await editor.actions("host.cpp", line))[f"Write launch annotation for `{kernel}`"]
            assert action.edit is not None
            assert action.edit.changes is not None
            edits += action.edit.changes[editor.uri("host.cpp")]
        assert [(edit.range.start.line, edit.range.start.character) for edit in edits] == [(2, 0), (7, 0)]
        assert edits[0].new_text.startswith("// kernelcast: ")
        assert edits[0].new_text.endswith("\n")
        assert edits[1].new_text.startswith('    "// kernelcast: ')
        assert edits[1].new_text.endswith('\\n"\n')


async def test_mistakes_in_an_annotation_are_marked_in_the_literal(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("host.py", PY.replace("local=64", "lokal=64"), language="python")
        uri = editor.uri("host.py")
        await editor.until(lambda: bool(editor.client.diagnostics.get(uri)))
        marked = [each for each in editor.client.diagnostics[uri] if each.severity == types.DiagnosticSeverity.Error]
        assert [each.range.start.line for each in marked] == [4]
        assert "lokal" in marked[0].message


async def test_kernels_of_one_name_in_two_programs_are_told_apart(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("host.cpp", CPP, language="cpp")
        await editor.wait_for_hint("host.cpp", place=2)
        listed = await editor.run("kernelcast.listKernels", editor.uri("host.cpp"))
        assert [(each["name"], each["line"]) for each in listed] == [("scale", 2), ("shift", 7), ("scale#2", 10)]


@pytest.mark.device
async def test_an_embedded_kernel_is_measured(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("host.py", PY, language="python")
        await editor.wait_for_hint("host.py")
        await editor.device_is_here()
        answer = await editor.measure("host.py", "scale")
        assert answer["runtime_us"]["median"] > 0
        await editor.wait_for_hint("host.py", lambda label: "measured" in label)


async def test_nothing_happens_in_a_host_file_without_kernels(start_editor: Start) -> None:
    async with start_editor() as editor:
        plain = '"""Says `kernel` and void, and has no kernel."""\nKERNEL = "kernel"\n'
        editor.open("plain.py", plain, language="python")
        editor.open("plain.cpp", "// the kernel\nint kernel(void);\n", language="cpp")
        editor.edit("plain.py", 1, 0, "x = 1\n")
        assert await editor.hints("plain.py") == await editor.hints("plain.cpp") == []
        assert editor.child_processes() == []
        assert editor.statuses == []


async def test_a_cell_of_a_notebook_has_hints_and_follows_edits(start_editor: Start) -> None:
    async with start_editor() as editor:
        notebook, cell = editor.uri("book.ipynb"), "vscode-notebook-cell:/book.ipynb#W1"
        opened = types.TextDocumentItem(cell, "python", 1, PY)
        editor.client.notebook_document_did_open(
            types.DidOpenNotebookDocumentParams(
                types.NotebookDocument(
                    uri=notebook,
                    notebook_type="jupyter-notebook",
                    version=1,
                    cells=[types.NotebookCell(kind=types.NotebookCellKind.Code, document=cell)],
                ),
                [opened],
            )
        )
        await _wait_for_lines(editor, cell, [5, 12])
        typed = types.TextDocumentContentChangePartial(
            range=types.Range(types.Position(1, 0), types.Position(1, 0)), text="import os\n"
        )
        editor.client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(version=2, uri=notebook),
                types.NotebookDocumentChangeEvent(
                    cells=types.NotebookDocumentCellChanges(
                        text_content=[
                            types.NotebookDocumentCellContentChanges(
                                types.VersionedTextDocumentIdentifier(version=2, uri=cell), [typed]
                            )
                        ]
                    )
                ),
            )
        )
        await _wait_for_lines(editor, cell, [6, 13])


async def _wait_for_lines(editor: Any, uri: str, lines: list[int]) -> None:
    """Wait until hints stand on these lines; ask again only when the server says so."""
    everything = types.Range(types.Position(0, 0), types.Position(1000, 0))
    async with asyncio.timeout(PATIENCE_S):
        while True:
            editor.news.clear()
            answer = await editor.client.text_document_inlay_hint_async(
                types.InlayHintParams(types.TextDocumentIdentifier(uri), everything)
            )
            if [hint.position.line for hint in answer or ()] == lines:
                return
            await editor.news.wait()


async def test_a_number_that_was_filled_in_is_a_guess(start_editor: Start) -> None:
    text = (
        'S = """\n__kernel void f(__global float *a) {\n'
        '  for (int i = 0; i < %(count)d; ++i) a[get_global_id(0)] += i;\n}\n""" % {"count": 7}\n'
    )
    async with start_editor() as editor:
        editor.open("host.py", text, language="python")
        await editor.wait_for_hint("host.py", lambda label: "?" in label)
        told = await editor.hover("host.py", 1, 16)
        assert "%(count)d" in told
        assert "16 is assumed" in " ".join(told.replace("`", "").split())
