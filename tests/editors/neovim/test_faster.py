"""Making a kernel faster: a launch that is searched and written, an edit that is measured, no trace after a cancel."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.editors.faster import ENDLESS_TURN, PLAIN, SLOW_SUM, SUM, SWAP, TUNED, TURN, TURNED, UNSURE, WRITE
from tests.editors.neovim.conftest import Start, Version
from tests.editors.neovim.editor import Neovim
from tests.editors.neovim.home import patient

pytestmark = [pytest.mark.timeout(240), pytest.mark.device]


def kept(editor: Neovim) -> list[str]:
    """What the user's store holds of all kernels."""
    asked = [str(editor.home.kernelcast), "history", "--format", "json"]
    environment = {"HOME": str(editor.home.root), **editor.home.variables}
    done = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True)
    return [json.loads(line)["kernel"] for line in done.stdout.splitlines()]


def settled(start: Start, name: str, text: str, init: str | None = None) -> Neovim:
    editor = start({name: text}, init=init, size=(120, 24))
    editor.settle()
    editor.wait_for_hint()
    return editor


def test_the_faster_launch_is_written_into_the_annotation(start: Start) -> None:
    editor = settled(start, "total.cl", SUM)
    editor.pick(WRITE)
    editor.run("KernelcastTune total")
    editor.wait_for_text(TUNED)
    assert editor.text() == SUM.replace("-DWAY=0", TUNED).rstrip("\n")
    assert "results equal" in editor.asked()[0]["prompt"]
    assert kept(editor).count("total") >= 2, "the launch as it was, and the winner"
    editor.press("u")
    editor.until(lambda: editor.text() == SUM.rstrip("\n"), "one undo takes it back")


def test_a_user_who_turns_away_keeps_the_launch(start: Start) -> None:
    editor = settled(start, "total.cl", SUM)
    editor.pick("none of these")
    editor.go_to("total")
    editor.offered("Find a faster launch of `total`")
    editor.run("KernelcastTune")
    editor.until(editor.asked, "it asks")
    assert editor.text() == SUM.rstrip("\n")


@pytest.mark.parametrize("moment", ["Finding a faster launch", "measuring the best", "turn "])
def test_a_search_that_is_cancelled_leaves_no_trace(start: Start, version: Version, moment: str) -> None:
    editor = settled(start, "total.cl", SLOW_SUM, patient(version.init))
    before = editor.hint()
    editor.run("KernelcastTune total")
    editor.window.until(moment)
    editor.run("KernelcastCancel")
    editor.window.until("cancelled")
    assert editor.text() == SLOW_SUM.rstrip("\n")
    assert kept(editor) == []
    assert editor.hint() == before


@pytest.mark.parametrize("answer", ["Keep", "Revert"])
def test_a_fix_is_measured_and_the_user_has_the_last_word(start: Start, answer: str) -> None:
    editor = settled(start, "turn.cl", TURN)
    editor.lua(PICKS, [SWAP, answer])
    editor.run("KernelcastFix turn")
    editor.until(lambda: len(editor.asked()) == 2 or said(editor, UNSURE), lambda: str(editor.asked()))
    (first, *last) = editor.asked()
    assert "(predicted " in next(choice for choice in first["choices"] if choice.startswith(SWAP))
    if last:  # on a busy machine nothing may be beyond the noise: then it is taken back unasked
        assert "faster" in last[0]["prompt"]
    wanted = TURNED if last and answer == "Keep" else TURN
    editor.until(lambda: editor.text() == wanted.rstrip("\n"), editor.text)


@pytest.mark.parametrize("moment", ["before and after", "warming up|checking bounds"])
def test_a_fix_that_is_cancelled_is_taken_back(start: Start, version: Version, moment: str) -> None:
    editor = settled(start, "turn.cl", ENDLESS_TURN)
    editor.pick(SWAP)
    editor.run("KernelcastFix turn")
    editor.window.until(lambda screen: any(word in screen for word in moment.split("|")))
    editor.run("KernelcastCancel")
    editor.window.until("cancelled")
    editor.until(lambda: editor.text() == ENDLESS_TURN.rstrip("\n"), editor.text)
    assert kept(editor) == []


def test_a_kernel_without_fixes_says_so(start: Start) -> None:
    editor = settled(start, "blend.cl", PLAIN)
    editor.run("KernelcastFix")
    editor.wait_for_message("no fix is known that would make `blend` faster")


def test_an_edited_kernel_is_measured_when_its_file_is_saved(start: Start, version: Version) -> None:
    init = version.init.replace("measure = {", "measure = { onSave = true,")
    editor = settled(start, "blend.cl", PLAIN, init)
    editor.run("write")
    editor.go_to("1.0f")
    editor.run("substitute/1.0f/3.0f/")
    editor.run("write")
    editor.wait_for_hint(lambda hint: "measured" in hint)
    editor.until(lambda: "blend" in kept(editor), editor.messages)


def test_a_kernel_on_several_devices_in_a_window_and_a_hint(start: Start, version: Version) -> None:
    settings = 'compareDevices = { "nvidia-h200" }, hints = { secondDevice = true }, measure = {'
    editor = start({"blend.cl": PLAIN}, init=version.init.replace("measure = {", settings), size=(120, 24))
    editor.settle()
    hint = editor.wait_for_hint(lambda hint: "H200" in hint)
    editor.run("KernelcastCompare nvidia-h200 generic-gpu")
    text = editor.wait_for_text("against ")
    assert hint.rpartition("H200 ")[2] in text
    assert "Generic" in text


def said(editor: Neovim, words: str) -> bool:
    return any(words in message for message in editor.messages())


# Each question is answered with the first choice that begins as the next of these.
PICKS = """
    local wanted = ...
    _G.seen.asked = {}
    vim.ui.select = function(items, opts, on_choice)
      local words = vim.tbl_map(opts.format_item or tostring, items)
      table.insert(_G.seen.asked, { prompt = opts.prompt, choices = words })
      local next_one = table.remove(wanted, 1)
      for place, word in ipairs(words) do
        if vim.startswith(word, next_one) then return on_choice(items[place], place) end
      end
      on_choice(nil)
    end
"""
