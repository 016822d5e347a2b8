"""With clangd in the same buffer: nothing twice, nothing lost, no complaint about two servers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.editors.beside.conftest import answers, attached, floating, warnings
from tests.editors.neovim.editor import Neovim

pytestmark = [pytest.mark.device, pytest.mark.timeout(150)]

Together = Callable[..., Neovim]


def test_hint_stands_once_and_in_its_place(together: Together, clangd: str) -> None:
    editor = together(clangd)
    hint = editor.wait_for_hint()
    assert list(editor.hints()) == [2]
    assert editor.screen_text.count(hint) == 1
    line = next(line for line in editor.lines if "größe" in line)
    assert "int n) " + hint[:5] in line


def test_hover_has_what_both_know_and_ours_once(together: Together, clangd: str) -> None:
    editor = together(clangd)
    editor.go_to("blend(")
    told = answers(editor, "textDocument/hover")
    assert set(told) == {"kernelcast", "clangd"}
    editor.run("lua vim.lsp.buf.hover()")
    editor.until(lambda: "blend" in floating(editor), "a hover")
    assert floating(editor).count("will take about") <= 1
    if editor.lua("return vim.fn.has('nvim-0.11') == 1"):  # 0.10 shows the answer that comes last
        editor.until(lambda: "will take about" in floating(editor), lambda: floating(editor))
        assert floating(editor).count("will take about") == 1


def test_valid_code_gets_no_diagnostic_of_ours(together: Together, clangd: str) -> None:
    editor = together(clangd)
    editor.go_to("blend(")
    answers(editor, "textDocument/hover")  # by now both have read the file
    sources = editor.lua("return vim.tbl_map(function(one) return one.source or '' end, vim.diagnostic.get(0))")
    assert "kernelcast" not in sources


def test_measuring_works_and_its_action_is_there_once(together: Together, clangd: str) -> None:
    editor = together(clangd)
    editor.go_to("blend(")
    offered = editor.offered("Measure `blend` on ")
    assert len([title for title in offered if title.startswith("Measure `blend` on ")]) == 1
    editor.pick("Measure")
    editor.run("lua vim.lsp.buf.code_action()")
    editor.wait_for_hint(lambda hint: "measured" in hint)


def test_edits_reach_both_and_the_hint_follows(together: Together, clangd: str) -> None:
    editor = together(clangd)
    before = editor.wait_for_hint()
    editor.go_to("n=65536")
    editor.press("E", "a")
    editor.type("000")
    editor.press("Escape")
    editor.wait_for_hint(lambda hint: hint != before)
    editor.go_to("blend(")
    assert set(answers(editor, "textDocument/hover")) == {"kernelcast", "clangd"}


def test_neovim_does_not_warn_of_two_ways_to_count_characters(together: Together, clangd: str) -> None:
    editor = together(clangd)
    assert len(set(attached(editor).values())) == 1
    editor.go_to("blend(")
    assert editor.actions()
    editor.run("lua vim.lsp.buf.hover()")
    editor.until(lambda: floating(editor), "a hover")
    assert not warnings(editor)
