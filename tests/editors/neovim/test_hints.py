"""The hint beside a kernel: there, right, and never gone for a moment."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest

from tests.editors.neovim.conftest import ONE_KERNEL, Start
from tests.editors.neovim.editor import PATIENCE_S, Neovim
from tests.editors.neovim.home import PLUGIN, SET_UP

pytestmark = pytest.mark.timeout(240)

SIGNATURE = "__kernel void blend(__global float *y, int n)"
A_TIME = re.compile(r"\d+(\.\d+)? (ns|µs|ms|s)\b")
LOOP = "for (int k = 0; k < 4000; k++) y[0] += sqrt(y[0] + k);"


def test_the_hint_is_drawn_behind_the_signature(editor: Neovim) -> None:
    line = next(line for line in editor.lines if SIGNATURE in line)
    assert A_TIME.search(line.removeprefix(SIGNATURE)), line


def test_the_hint_follows_an_edit_and_is_never_gone_meanwhile(editor: Neovim) -> None:
    """The screen is looked at all the time; the value must change with the new loop, and back with `u`."""
    first = editor.hint()

    def watch(wanted: Callable[[str], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not wanted(hint := editor.hint()) or hint not in editor.screen_text:
            line = next(line for line in editor.lines if SIGNATURE in line)
            assert A_TIME.search(line), f"the hint was gone: {line!r}"
            assert time.monotonic() < deadline, f"it stayed {hint!r}"

    editor.go_to("const int i")
    editor.press("o")
    editor.type(LOOP)
    editor.press("Escape")
    watch(lambda hint: hint != first)
    editor.until(lambda: LOOP in editor.text(), "all of it is typed")
    editor.press("u")
    watch(lambda hint: hint == first)


def test_a_hint_that_changes_under_an_unchanged_text_is_drawn_anew(editor: Neovim) -> None:
    """The server's refresh. Neovim 0.10 takes the new text in and shows the old one; the cursor must not move."""
    editor.go_to("y[i] =")
    place = editor.lua("return vim.api.nvim_win_get_cursor(0)")
    before = editor.hint()
    editor.run("KernelcastDevice nvidia-h200")
    editor.wait_for_hint(lambda hint: hint not in ("", before))
    line = next(line for line in editor.lines if SIGNATURE in line)
    assert before not in line
    assert editor.lua("return vim.api.nvim_win_get_cursor(0)") == place


def test_hints_are_on_in_our_buffers_only(start: Start) -> None:
    editor = start({"blend.cl": ONE_KERNEL, "notes.lua": "return 1\n"})
    editor.wait_for_hint()
    assert editor.lua("return vim.lsp.inlay_hint.is_enabled({ bufnr = 0 })")
    assert not editor.lua("return vim.lsp.inlay_hint.is_enabled()")
    editor.edit(editor.home.work / "notes.lua")
    assert not editor.lua("return vim.lsp.inlay_hint.is_enabled({ bufnr = 0 })")


def test_hints_can_be_left_off(start: Start) -> None:
    editor = start({"blend.cl": ONE_KERNEL}, init='require("kernelcast").setup({ inlay_hints = false })')
    editor.until(editor.is_attached, "the server is attached")
    assert not editor.lua("return vim.lsp.inlay_hint.is_enabled({ bufnr = 0 })")


def test_it_works_from_the_runtime_path_too(start: Start) -> None:
    """The other way to install that the help names; loading it twice does no harm."""
    editor = start({"blend.cl": ONE_KERNEL}, init=f'vim.opt.runtimepath:prepend("{PLUGIN}")\n{SET_UP}')
    editor.wait_for_hint()
    assert len(editor.servers()) == 1


def many_kernels(count: int) -> str:
    kernel = "__kernel void step_{n}(__global float *x)\n{{\n    x[get_global_id(0)] *= {n}.0f;\n    /* {n} */\n}}\n\n"
    return "".join(kernel.format(n=n) for n in range(count))


def test_a_hundred_kernels_scroll_and_their_hints_stay_put(start: Start) -> None:
    """Each page is drawn with its hints at once, at the same place before and after all values have changed."""
    editor = start({"many.cl": many_kernels(100)})
    editor.until(lambda: len(editor.hints()) == 100, lambda: f"{len(editor.hints())} hints")
    editor.settle()

    def pages() -> list[list[tuple[int, str, bool]]]:
        """Of each page every kernel's row, its code, and whether a time stands behind it."""
        editor.run("normal! gg")
        seen = []
        for _ in range(20):
            top = editor.lua("return vim.fn.line('w0')")
            rows = [(row, line) for row, line in enumerate(editor.drawn()) if "__kernel" in line]
            seen.append([(row, line.partition(")")[0], bool(A_TIME.search(line))) for row, line in rows])
            if editor.lua("return vim.fn.line('w$') == vim.fn.line('$')"):
                break
            editor.press("C-f")
            editor.until(lambda top=top: editor.lua("return vim.fn.line('w0')") != top, "it scrolls")
        return seen

    before, labels = pages(), editor.hints()
    editor.run("KernelcastDevice nvidia-h200")
    editor.until(lambda: editor.hints() and editor.hints() != labels, "the values change")
    after = pages()
    assert all(there for page in before + after for _, _, there in page)
    assert before == after
    assert set(editor.hints()) == set(labels)
