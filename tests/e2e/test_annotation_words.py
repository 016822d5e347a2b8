"""Through the real server: completion in annotations, code lenses, and the outline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from lsprotocol import types

from tests.e2e.editor import PATIENCE_S

TEXT = """// kernelcast: global=N N=4096 a=N fi
__kernel void scale(__global float *a, const float by) { a[get_global_id(0)] *= by; }
"""

Start = Callable[..., Any]
pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]


async def test_an_editor_gets_completion_lenses_and_symbols(start_editor: Start) -> None:
    async with start_editor() as editor:
        await editor.run("kernelcast.chooseDevice", "generic-cpu")
        editor.open("scale.cl", TEXT)
        await editor.wait_for_hint("scale.cl")
        document = types.TextDocumentIdentifier(editor.uri("scale.cl"))
        end = types.Position(0, len(TEXT.splitlines()[0]))
        answer = await editor.client.text_document_completion_async(types.CompletionParams(document, end))
        assert isinstance(answer, list)
        assert {"by=", "fill.a=", "local="} <= {item.label for item in answer}

        symbols = await editor.client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
        assert symbols
        assert [symbol.name for symbol in symbols] == ["scale"]

        lenses = types.CodeLensParams(document)
        assert not await editor.client.text_document_code_lens_async(lenses)
        await editor.configure(codeLens={"enabled": True})
        async with asyncio.timeout(PATIENCE_S):
            while not (found := await editor.client.text_document_code_lens_async(lenses)):
                pass  # the server asks for the settings first
        assert "Report" in [lens.command.title for lens in found if lens.command]
