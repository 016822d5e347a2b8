"""Holding a prediction against the truth: from the menu of code actions, by command, and not to the end."""

from __future__ import annotations

import re

import pytest

from tests.editors.neovim.conftest import ONE_KERNEL, Start, Version
from tests.editors.neovim.editor import Neovim
from tests.editors.neovim.home import patient

pytestmark = [pytest.mark.timeout(240), pytest.mark.device]

TWO_KERNELS = ONE_KERNEL + ONE_KERNEL.replace("blend", "brighten")
TWO_LAUNCHES = "// kernelcast: global=n local=64 n=1024 name=small\n" + ONE_KERNEL.replace("65536", "65536 name=large")


def test_the_menu_of_code_actions_measures(editor: Neovim) -> None:
    """The whole way, by keys: the menu, progress in the message line, the measured time beside the kernel."""
    editor.go_to("blend")
    offered = editor.offered("Measure `blend` on ")
    place = next(n for n, title in enumerate(offered, 1) if title.startswith("Measure `blend` on "))
    editor.type(":lua vim.lsp.buf.code_action()")
    editor.press("Enter")
    editor.window.until("Type number and")
    assert offered[place - 1] in editor.screen_text
    editor.type(str(place))
    editor.press("Enter")
    editor.window.until("Measuring blend")
    measured = editor.wait_for_hint(lambda hint: "measured" in hint)
    editor.wait_for_message("blend: ")  # how it ended; the progress before it is in no history
    assert measured in editor.screen_text


def test_progress_stays_on_one_line_of_a_narrow_window(start: Start, version: Version) -> None:
    """What is wider than the message line would ask for Enter at every report."""
    editor = start({"blend.cl": ONE_KERNEL}, init=patient(version.init), size=(50, 20))
    editor.until(editor.hint, "the hint is there")
    editor.run("KernelcastMeasure")
    editor.window.until("Measuring blend")
    editor.window.until("batch")
    assert "Press ENTER" not in editor.window.screen
    editor.run("KernelcastCancel")


def test_cancel_ends_a_measurement(start: Start, version: Version) -> None:
    editor = start({"blend.cl": ONE_KERNEL}, init=patient(version.init))
    editor.settle()
    predicted = editor.wait_for_hint()
    editor.run("KernelcastMeasure")
    editor.window.until("batch")
    editor.run("KernelcastCancel")
    editor.window.until("cancelled")
    assert editor.hint() == predicted
    editor.run("KernelcastCancel")
    editor.wait_for_message("nothing is under way")


def test_the_kernel_under_the_cursor_is_measured_or_the_one_that_is_named(start: Start) -> None:
    editor = start({"two.cl": TWO_KERNELS})
    editor.until(lambda: len(editor.hints()) == 2, "both hints are there")
    first, second = sorted(editor.hints())
    assert editor.lua("return vim.fn.getcompletion('KernelcastMeasure b', 'cmdline')") == ["blend", "brighten"]
    editor.go_to("2.0f")
    editor.run("KernelcastMeasure")
    editor.until(lambda: "measured" in editor.hints()[first], lambda: str(editor.hints()))
    assert "measured" not in editor.hints()[second]
    editor.run("KernelcastMeasure brighten")
    editor.until(lambda: "measured" in editor.hints()[second], lambda: str(editor.hints()))
    editor.run("KernelcastMeasure darken")
    editor.wait_for_message("there is no kernel `darken` in this file")


def test_all_kernels_of_a_file_are_measured(start: Start) -> None:
    editor = start({"two.cl": TWO_KERNELS})
    editor.until(lambda: len(editor.hints()) == 2, "both hints are there")
    editor.run("KernelcastMeasureAll")
    editor.until(lambda: all("measured" in hint for hint in editor.hints().values()), lambda: str(editor.hints()))


def test_a_kernel_is_measured_at_several_sizes(start: Start) -> None:
    editor = start({"blend.cl": ONE_KERNEL})
    editor.until(editor.hint, "the hint is there")
    editor.run("KernelcastMeasureSizes blend")
    editor.wait_for_message("blend: 4 sizes measured")
    assert "measured" in (editor.hint() or "")


def test_of_several_launches_one_is_asked_for(start: Start) -> None:
    editor = start({"two.cl": TWO_LAUNCHES})
    editor.until(editor.hints, "the hint is there")
    editor.go_to("blend")
    editor.pick("small")
    editor.run("KernelcastMeasure")
    editor.until(editor.asked, "it asks")
    assert editor.asked()[0]["prompt"] == "Launch of blend to measure"
    assert [choice.split()[0] for choice in editor.asked()[0]["choices"]] == ["small", "large"]
    editor.window.until("blend: ")
    editor.until(lambda: re.match(r"small: \d", next(iter(editor.hints().values()))), lambda: str(editor.hints()))


@pytest.mark.parametrize("wanted", [True, False], ids=["shown", "left to a plugin"])
def test_progress_is_left_to_whoever_shows_it_already(start: Start, version: Version, wanted: bool) -> None:
    plugin = """
        vim.api.nvim_create_autocmd("LspProgress", { callback = function(event)
          local value = event.data.params.value
          table.insert(_G.seen.progress, value.kind)
        end })
    """
    init = version.init if wanted else plugin + version.init
    editor = start({"blend.cl": ONE_KERNEL}, init=init)
    editor.wait_for_hint()
    editor.run("KernelcastMeasure")
    editor.wait_for_hint(lambda hint: "measured" in hint)
    if wanted:
        editor.window.until("blend: ")
    else:
        editor.until(lambda: "end" in editor.lua("return _G.seen.progress"), "the plugin has seen the end")
        assert "blend: " not in editor.lua("return vim.fn.execute('messages')")


def test_without_a_device_predictions_stay_and_measuring_says_why(start: Start) -> None:
    editor = start({"blend.cl": ONE_KERNEL}, environment={"OCL_ICD_VENDORS": "/nonexistent.icd"})
    editor.wait_for_hint()
    editor.run("KernelcastMeasure")
    message = editor.wait_for_message("blend was not measured")
    assert "OpenCL" in message
    editor.run("checkhealth kernelcast")
    editor.wait_for_text("OpenCL")


def test_a_file_that_must_not_be_run_is_not(start: Start) -> None:
    editor = start({"blend.cl": ONE_KERNEL}, init='require("kernelcast").setup({ trusted = false })')
    editor.wait_for_hint()
    editor.go_to("blend")
    assert not [title for title in editor.actions() if title.startswith("Measure")]
    editor.run("KernelcastMeasure")
    assert "not trusted" in editor.wait_for_message("blend was not measured")


def test_calibrating_shows_how_far_it_is_and_can_be_cancelled(editor: Neovim) -> None:
    """It takes minutes, so all of it is for the command line's tests."""
    before = editor.hint()
    editor.run("KernelcastCalibrate")
    editor.window.until(lambda screen: re.search(r"Calibrating .*\d ?%", screen) is not None)
    editor.run("KernelcastCancel")
    editor.window.until("cancelled")
    assert editor.hint() == before
