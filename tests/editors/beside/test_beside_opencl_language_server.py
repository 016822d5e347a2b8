"""With a server like opencl-language-server in the same buffer: diagnostics, completion and definition are its own.

The real one is in no package registry, so a stand-in of this folder plays it: these tests say that ours leaves such a
server alone, not that the real one was tried.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.editors.beside.conftest import KERNEL, answers, warnings
from tests.editors.neovim.editor import Neovim

pytestmark = [pytest.mark.device, pytest.mark.timeout(150)]

Together = Callable[..., Neovim]


def test_diagnostics_are_its_own_and_the_hint_is_ours(together: Together, opencl_language_server: str) -> None:
    editor = together(opencl_language_server, KERNEL.replace("y[i] =", "undeclared; y[i] ="))
    shown = "return vim.tbl_map(function(one) return one.source or '' end, vim.diagnostic.get(0))"
    editor.until(lambda: editor.lua(shown) == ["opencl-ls"], lambda: str(editor.lua(shown)))
    assert editor.screen_text.count(editor.wait_for_hint()) == 1


def test_each_answers_what_it_offers(together: Together, opencl_language_server: str) -> None:
    editor = together(opencl_language_server)
    editor.go_to("blend(")
    assert set(answers(editor, "textDocument/hover")) == {"kernelcast"}
    assert set(answers(editor, "textDocument/completion")) == {"opencl_ls"}
    assert set(answers(editor, "textDocument/definition")) == {"opencl_ls"}


def test_measuring_works_and_neovim_warns_of_nothing(together: Together, opencl_language_server: str) -> None:
    editor = together(opencl_language_server)
    editor.go_to("blend(")
    editor.offered("Measure")
    editor.pick("Measure")
    editor.run("lua vim.lsp.buf.code_action()")
    editor.wait_for_hint(lambda hint: "measured" in hint)
    assert not warnings(editor)
