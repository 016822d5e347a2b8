"""Starting, dying, coming back, not being there at all; the device that predictions are for."""

from __future__ import annotations

import pytest

from tests.editors.neovim.conftest import ONE_KERNEL, Start, Version
from tests.editors.neovim.editor import Neovim

pytestmark = pytest.mark.timeout(240)

COMMANDS = {
    *("KernelcastMeasure", "KernelcastMeasureSizes", "KernelcastMeasureAll", "KernelcastCancel"),
    *("KernelcastDevice", "KernelcastCalibrate", "KernelcastLearn", "KernelcastAnnotate", "KernelcastReport"),
    *("KernelcastTune", "KernelcastFix", "KernelcastCompare", "KernelcastProgram"),
    *("KernelcastRestart", "KernelcastLog", "KernelcastInfo"),
}


def own_commands(editor: Neovim) -> set[str]:
    return set(editor.lua("return vim.fn.getcompletion('Kernelcast', 'command')"))


def test_a_server_that_is_killed_comes_back_and_its_hints_with_it(editor: Neovim) -> None:
    shown = editor.hint()
    dead = editor.kill_server()
    editor.wait_for_another_server(dead)
    editor.wait_for_hint(lambda hint: hint == shown)


def test_a_server_that_keeps_dying_is_given_up_with_a_word_and_can_be_restarted(start: Start, version: Version) -> None:
    init = version.init + '\nrequire("kernelcast.restart").delays_ms = { 10, 10 }'
    editor = start({"blend.cl": ONE_KERNEL}, init=init)
    dead = 0
    for _ in range(3):
        editor.wait_for_another_server(dead)
        editor.until(editor.is_attached, "it is attached")
        dead = editor.kill_server()
        editor.until(lambda: not editor.is_attached(), "it is gone")
    editor.wait_for_message("ended 3 times")
    assert editor.servers() == []
    editor.run("KernelcastRestart")
    editor.wait_for_hint()


def test_restart_brings_a_new_server_and_the_hints_back(editor: Neovim) -> None:
    before = editor.server()
    editor.run("KernelcastRestart")
    editor.wait_for_another_server(before)
    editor.wait_for_hint()
    assert not [message for message in editor.messages() if "quit" in message]


def test_hints_that_were_switched_off_stay_off_after_a_restart(editor: Neovim) -> None:
    editor.lua("vim.lsp.inlay_hint.enable(false, { bufnr = 0 })")
    before = editor.server()
    editor.run("KernelcastRestart")
    editor.wait_for_another_server(before)
    editor.until(editor.is_attached, "it is attached")
    assert not editor.lua("return vim.lsp.inlay_hint.is_enabled({ bufnr = 0 })")


def test_neovim_leaves_no_server_behind(editor: Neovim) -> None:
    import psutil

    pid = editor.server()
    editor.type(":qa!")
    editor.press("Enter")
    editor.until(lambda: not psutil.pid_exists(pid), "the server has left")


def test_a_server_that_is_not_installed_is_told_of_once_with_what_to_do(start: Start) -> None:
    files = {"a.cl": ONE_KERNEL, "b.cl": ONE_KERNEL, "c.cl": ONE_KERNEL}
    editor = start(files, init='require("kernelcast").setup({ cmd = "/nowhere/kernelcast" })')
    editor.window.until("Kernelcast: not installed; `:checkhealth kernelcast`")
    for name in files:
        editor.edit(editor.home.work / name)
    message = editor.wait_for_message("`/nowhere/kernelcast` was not found")
    assert "cmd =" in message
    assert len([each for each in editor.messages() if "not found" in each]) == 1
    assert own_commands(editor) == set()
    editor.run("checkhealth kernelcast")
    text = editor.wait_for_text("attached to no buffer")
    assert "`/nowhere/kernelcast` was not found" in text.replace("/nowhere/kernelcast was", "`/nowhere/kernelcast` was")


def test_commands_are_there_in_our_buffers_only(start: Start) -> None:
    editor = start({"blend.cl": ONE_KERNEL, "notes.lua": "return 1\n"})
    editor.wait_for_hint()
    assert own_commands(editor) == COMMANDS
    editor.edit(editor.home.work / "notes.lua")
    assert own_commands(editor) == set()


def test_a_device_is_chosen_from_a_list_and_kept_over_a_restart(editor: Neovim) -> None:
    here = editor.hint()
    editor.pick("nvidia-h200")
    editor.run("KernelcastDevice")
    there = editor.wait_for_hint(lambda hint: hint not in ("", here))
    choices = editor.asked()[0]["choices"]
    assert "(nvidia-h200): for predictions only" in next(choice for choice in choices if "H200" in choice)
    editor.kill_server()
    editor.until(lambda: editor.hint() == "", "the old hints are gone")
    editor.wait_for_hint(lambda hint: hint == there)
    editor.pick("current")
    editor.run("KernelcastDevice")
    editor.until(editor.asked, "it asks")
    assert "(nvidia-h200)" in next(choice for choice in editor.asked()[0]["choices"] if "current" in choice)


def test_the_code_action_asks_by_the_same_list(editor: Neovim) -> None:
    here = editor.hint()
    editor.go_to("blend")
    editor.lua("""
        vim.lsp.buf.code_action({ apply = true, filter = function(action)
          if not action.title:find("^Choose device") then return false end
          require("kernelcast.device").select = function() _G.seen.selected = true end
          return true
        end })
    """)
    editor.until(lambda: editor.lua("return _G.seen.selected"), "our list is shown")
    assert editor.hint() == here


def test_a_device_that_does_not_exist_changes_nothing(editor: Neovim) -> None:
    here = editor.hint()
    editor.run("KernelcastDevice nvidia-gtx-1")
    editor.wait_for_message("no device has the id `nvidia-gtx-1`")
    assert editor.hint() == here


def test_the_device_of_the_options_is_used_from_the_start(start: Start) -> None:
    editor = start({"blend.cl": ONE_KERNEL}, init='require("kernelcast").setup({ device = "nvidia-h200" })')
    editor.wait_for_hint()
    editor.go_to("blend")
    editor.until(lambda: any("now NVIDIA H200" in title for title in editor.actions()), lambda: str(editor.actions()))


def test_a_wrong_option_is_told_of_and_the_rest_holds(start: Start) -> None:
    init = 'require("kernelcast").setup({ inlay_hint = false, device = 5, trusted = false })'
    editor = start({"blend.cl": ONE_KERNEL}, init=init)
    editor.wait_for_hint()
    assert "there is no option `inlay_hint`; known are cmd, device," in editor.wait_for_message("no option")
    editor.wait_for_message("option `device` must be a string")
