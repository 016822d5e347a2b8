"""Which files are OpenCL C, and what the plugin tells in pages of text: health, help, information, log, report."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from tests.editors.neovim.conftest import ONE_KERNEL, Start, Version
from tests.editors.neovim.editor import Neovim
from tests.editors.neovim.home import PLUGIN

pytestmark = pytest.mark.timeout(240)

OPENCL = {
    "kernel.cl": "__kernel void f(__global int *x) {}\n",
    "comment.cl": "// nothing yet\n",
    "block.cl": "\n\n/* (defun */\n",
    "pragma.cl": "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
    "include.cl": '\ufeff#include "a.h"\n',
    "empty.cl": "",
    "header.clh": "(whatever)\n",
    "long.opencl": "kernel void f() {}\n",
}
LISP = {
    "defun.cl": "(defun square (x) (* x x))\n",
    "comment.cl": "\n;;;; square.cl --- /* not C */\n(in-package :cl-user)\n",
    "block.cl": "#| Common Lisp |#\n(defvar *x* 1)\n",
    "reader.cl": "#+sbcl (require :asdf)\n",
    "quote.cl": "'(1 2 3)\n",
}


@pytest.mark.parametrize(("wanted", "files"), [("opencl", OPENCL), ("lisp", LISP)], ids=["opencl", "lisp"])
def test_files_are_what_is_in_them(start: Start, wanted: str, files: dict[str, str]) -> None:
    editor = start(files, init="")
    found = {}
    for name in files:
        editor.edit(editor.home.work / name)
        found[name] = editor.lua("return vim.bo.filetype")
    assert found == dict.fromkeys(files, wanted)


def test_lisp_gets_no_server(start: Start) -> None:
    editor = start({"square.cl": LISP["defun.cl"], "blend.cl": ONE_KERNEL})
    assert editor.lua("return vim.bo.filetype") == "lisp"
    assert not editor.is_attached()
    editor.edit(editor.home.work / "blend.cl")
    editor.wait_for_hint()
    editor.edit(editor.home.work / "square.cl")
    assert not editor.is_attached()


def test_opencl_has_colours_and_comments(editor: Neovim) -> None:
    """On 0.10, too, which knows nothing of OpenCL."""
    editor.go_to("__global")
    group = "return vim.fn.synIDattr(vim.fn.synID(vim.fn.line('.'), vim.fn.col('.'), 1), 'name')"
    assert editor.lua(group)
    assert editor.lua("return vim.bo.commentstring").startswith(("//", "/*"))
    assert editor.lua("return vim.bo.filetype") == "opencl"


def test_health_says_that_all_is_well(editor: Neovim) -> None:
    editor.run("checkhealth kernelcast")
    text = editor.wait_for_text("this machine, predictions are for it")
    assert "has inlay hints" in text
    assert f"({editor.home.kernelcast})" in text
    assert "files that end in .cl are OpenCL C" in text
    assert "work/blend.cl: inlay hints are on" in text
    assert "ERROR" not in text


def test_health_without_a_file_says_what_to_do(start: Start) -> None:
    editor = start({"notes.txt": "\n"})
    editor.run("checkhealth kernelcast")
    text = editor.wait_for_text("the server is attached to no buffer")
    assert "Open a file with OpenCL C in it." in text


def test_help_is_found_for_every_command_and_setting(editor: Neovim) -> None:
    editor.run("helptags ALL")
    topics = ["kernelcast", "kernelcast-install", "kernelcast.setup()", "kernelcast.status()"]
    topics += ["kernelcast.measure.budgetS", "kernelcast.build.include"]
    topics += [f":{name}" for name in editor.lua("return vim.fn.getcompletion('Kernelcast', 'command')")]
    for topic in topics:
        editor.run(f"help {topic}")
        assert editor.lua("return vim.fn.expand('%:t')") == "kernelcast.txt"
        assert f"*{topic}*" in editor.lua("return vim.api.nvim_get_current_line()")


def test_help_tells_every_option(editor: Neovim) -> None:
    text = (PLUGIN / "doc" / "kernelcast.txt").read_text(encoding="utf-8")
    options = editor.lua("return vim.tbl_keys(require('kernelcast.options').defaults)")
    assert [name for name in [*options, "progress"] if f"      {name} = " not in text] == []
    assert max(len(line) for line in text.splitlines()) <= 78


def test_information_for_a_report_holds_both_sides_and_no_source(editor: Neovim) -> None:
    editor.run("KernelcastInfo")
    text = editor.wait_for_text("## Neovim")
    assert "- servers attached here: kernelcast" in text
    assert "get_global_id" not in text
    editor.press("q")
    editor.until(lambda: "get_global_id" in editor.text(), "q closes it")


def test_the_log_opens(editor: Neovim) -> None:
    editor.lua("require('vim.lsp.log').error('something went wrong')")
    editor.run("KernelcastLog")
    editor.until(lambda: editor.lua("return vim.fn.expand('%:t')") == "lsp.log", editor.messages)
    assert editor.lua("return vim.bo.readonly")


def test_the_annotation_is_written_above_the_kernel(start: Start) -> None:
    editor = start({"blend.cl": ONE_KERNEL.partition("\n")[2]})
    editor.settle()
    editor.run("KernelcastAnnotate")
    editor.until(lambda: editor.text().startswith("// kernelcast: global="), editor.text)


def test_the_status_line_names_the_device_and_is_empty_elsewhere(editor: Neovim) -> None:
    line = 'return require("kernelcast").status()'
    editor.until(lambda: editor.lua(line), "there is a status")
    device = editor.lua('return require("kernelcast").details().device.name')
    assert editor.lua(line).startswith(device)
    editor.run("enew")
    assert editor.lua(line) == ""


def test_the_report_is_opened_in_the_browser(editor: Neovim) -> None:
    editor.run("KernelcastReport blend")
    editor.until(editor.opened, lambda: str(editor.messages()))
    page = Path(unquote(urlparse(editor.opened()[0]).path))
    assert "<html" in page.read_text(encoding="utf-8")
    assert not [message for message in editor.messages() if "could not" in message]


def test_a_whole_program_wants_a_recording_first(editor: Neovim) -> None:
    editor.run("KernelcastProgram")
    editor.until(lambda: any("kernelcast record --profile" in each for each in editor.messages()), "it says how")
    assert not editor.opened()


@pytest.mark.parametrize("size", [(80, 24), (100, 30)], ids=["80x24", "100x30"])
def test_the_hover_answers_in_its_first_line_and_no_line_wraps(start: Start, size: tuple[int, int]) -> None:
    editor = start({"blend.cl": ONE_KERNEL}, size=size)
    editor.settle()
    editor.go_to("blend")
    editor.lua("vim.lsp.buf.hover()")
    float_ = "vim.iter(vim.api.nvim_list_wins()):find(function(w) return vim.api.nvim_win_get_config(w).zindex end)"
    editor.until(lambda: editor.lua(f"return {float_}"), "the hover is there")
    lines = editor.lua(f"return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf({float_}), 0, -1, false)")
    first = next(line for line in lines if line.strip())
    assert "blend will take about" in re.sub(r"[`*]", "", first)
    width = editor.lua(f"return vim.api.nvim_win_get_width({float_})")
    top, left = editor.lua(f"return vim.api.nvim_win_get_position({float_})")

    def drawn() -> str:  # with the blanks that are its border on either side
        return "".join("".join(line[left : left + width + 2] for line in editor.lines[top:]).split())

    answer = re.sub(r"[`*\s]", "", first)
    editor.until(lambda: answer in drawn(), lambda: f"all of {first!r} in the hover")
    figures = lines[lines.index(first) + 1 :]  # the answer itself is a sentence, which may wrap between words
    shown = [line for line in figures if editor.lua("return vim.fn.strdisplaywidth(...)", line) > width]
    assert shown == [], f"these are wider than {width}"


def test_the_help_has_no_tag_twice(tmp_path: Path, version: Version) -> None:
    folder = tmp_path / "doc"
    folder.mkdir()
    (folder / "kernelcast.txt").write_bytes((PLUGIN / "doc" / "kernelcast.txt").read_bytes())
    command = [version.nvim, "--headless", "-u", "NONE", "-c", f"helptags {folder}", "-c", "quit"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ":KernelcastMeasure\t" in (folder / "tags").read_text(encoding="utf-8")
