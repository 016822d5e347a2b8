"""Making a kernel faster: a launch that is searched and written, an edit that is measured, no trace after a cancel."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.editors.faster import ENDLESS_TURN, PLAIN, SLOW_SUM, SUM, SWAP, TUNED, TURN, TURNED, UNSURE, WRITE
from tests.editors.vscode.conftest import ServerStart, WindowOpen
from tests.editors.vscode.workbench import Workbench

pytestmark = pytest.mark.device


def kept(workbench: Workbench, kernelcast: str, name: str) -> list[str]:
    """The kernels of a file that the user's store holds measurements of."""
    asked = [kernelcast, "history", str(workbench.folder / name), "--format", "json"]
    done = subprocess.run(asked, env=workbench.server.environment, capture_output=True, text=True, check=True)
    return [json.loads(line)["kernel"] for line in done.stdout.splitlines()]


def shows(workbench: Workbench, text: str) -> bool:
    return workbench.source().strip() == text.strip()


def opened(workbench: Workbench, name: str, text: str, kernel: str) -> str:
    """The file is open, with the cursor in its kernel, and its device is known; its hint."""
    workbench.open(name, text)
    workbench.wait_for_hint(kernel)
    workbench.until(lambda: workbench.has_action(kernel, f"Measure `{kernel}` on "), "a device of this machine")
    workbench.press("Escape")
    workbench.put_cursor(kernel)
    return str(workbench.hint(kernel))


def test_the_faster_launch_is_written_into_the_annotation(workbench: Workbench, kernelcast: str) -> None:
    opened(workbench, "total.cl", SUM, "total")
    workbench.command("Kernelcast: Find a Faster Launch")
    workbench.wait_for_message(f"total: {TUNED} takes ")
    workbench.answer("total:", WRITE)
    workbench.until(lambda: shows(workbench, SUM.replace("-DWAY=0", TUNED)), "the winner in the annotation")
    assert kept(workbench, kernelcast, "total.cl").count("total") >= 2, "the launch as it was, and the winner"
    workbench.put_cursor("total")
    workbench.press("Control+z")
    workbench.until(lambda: shows(workbench, SUM), "one undo takes it back")


def test_the_menu_searches_too_and_a_cancel_leaves_no_trace(
    start_code_server: ServerStart, open_window: WindowOpen, ours: dict[str, Any], kernelcast: str
) -> None:
    # As many turns as it takes somebody to find the button, on a machine that the kernel keeps busy.
    server = start_code_server(settings={**ours, "kernelcast.measure.budgetS": 100})
    folder, name = server.home / "kernels", "untouched.cl"
    folder.mkdir()
    workbench = open_window(server, folder)
    opened(workbench, name, SLOW_SUM, "total")
    for moment in ("Finding a faster launch", "measuring the best", "turn "):
        workbench.code_action("total", "Find a faster launch of `total` on ")
        workbench.message_box(moment).wait_for()
        workbench.press_cancel("Finding a faster launch")
        workbench.message_box("Finding").wait_for(state="detached")
        workbench.until(lambda: "Finding" not in workbench.status(), "an idle status item")
        assert shows(workbench, SLOW_SUM)
        assert kept(workbench, kernelcast, name) == []
        assert "measured" not in str(workbench.hint("total"))


@pytest.mark.parametrize("answer", ["Keep", "Revert"])
def test_a_fix_is_measured_and_the_user_has_the_last_word(workbench: Workbench, answer: str) -> None:
    opened(workbench, f"turn-{answer.lower()}.cl", TURN, "turn")
    workbench.command("Kernelcast: Apply a Fix and Measure It")
    assert "(predicted " in workbench.pick(SWAP)
    said = workbench.wait_for_message(f"{SWAP}: ")
    is_asked = UNSURE not in said  # on a busy machine nothing may be beyond the noise: then it is taken back unasked
    if is_asked:
        assert "results equal" in said
        workbench.until(lambda: shows(workbench, TURNED), "the edit while the question stands")
        workbench.answer(SWAP, answer)
    wanted = TURNED if is_asked and answer == "Keep" else TURN
    workbench.until(lambda: shows(workbench, wanted), "the text as the answer has it")


def test_a_fix_that_is_cancelled_is_taken_back(workbench: Workbench, kernelcast: str) -> None:
    name = "endless.cl"
    opened(workbench, name, ENDLESS_TURN, "turn")
    for moment in ("before and after", "bounds"):
        workbench.code_action("turn", f"Apply and measure: {SWAP}")
        workbench.message_box(moment).wait_for()
        workbench.press_cancel("before and after")
        workbench.message_box("before and after").wait_for(state="detached")
        workbench.until(lambda: shows(workbench, ENDLESS_TURN), "the text as it was")
        assert kept(workbench, kernelcast, name) == []


def test_a_kernel_without_fixes_says_so(workbench: Workbench) -> None:
    opened(workbench, "blend.cl", PLAIN, "blend")
    workbench.command("Kernelcast: Apply a Fix and Measure It")
    workbench.wait_for_message("No fix is known that would make blend faster")


def test_the_palette_offers_them_where_there_are_kernels(workbench: Workbench) -> None:
    wanted = {"Kernelcast: Find a Faster Launch", "Kernelcast: Apply a Fix and Measure It"}
    workbench.open("notes.md", "no kernel\n")
    assert not wanted & set(workbench.offered_commands("Kernelcast: "))
    opened(workbench, "blend.cl", PLAIN, "blend")
    workbench.until(lambda: wanted <= set(workbench.offered_commands("Kernelcast: ")), "both commands")


def test_an_edited_kernel_is_measured_when_its_file_is_saved(
    start_code_server: ServerStart, open_window: WindowOpen, ours: dict[str, Any], kernelcast: str
) -> None:
    server = start_code_server(settings={**ours, "kernelcast.measure.onSave": True})
    folder = server.home / "kernels"
    folder.mkdir()
    workbench = open_window(server, folder)
    opened(workbench, "blend.cl", PLAIN, "blend")
    workbench.press("Control+s")
    workbench.put_cursor_behind(r"1\.0f(?=;)")
    workbench.type(" * 3.0f")
    workbench.press("Control+s")
    workbench.wait_for_hint("blend", lambda text: "measured" in text, "with what was measured")
    assert "* 3.0f" in Path(folder / "blend.cl").read_text(encoding="utf-8")
    assert kept(workbench, kernelcast, "blend.cl") == ["blend"]
