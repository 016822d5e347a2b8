"""Which device the times are for: chosen, remembered, calibrated; and what is said where there is none."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests.editors.vscode.conftest import Foretold, ServerStart, WindowOpen
from tests.editors.vscode.host import CodeServer
from tests.editors.vscode.window import plain
from tests.editors.vscode.workbench import Workbench

CHOSEN = "nvidia-a100-80gb-pcie"
ADD = """\
// kernelcast: global=N local=64 N=16777216 a=N b=N
__kernel void add(__global float *a, __global const float *b)
{
    const int i = get_global_id(0);
    a[i] += b[i];
}
"""


def test_a_chosen_device_is_used_and_remembered(
    code_server: CodeServer, open_window: WindowOpen, foretold: Foretold
) -> None:
    here, there = foretold(code_server, ADD, "add"), foretold(code_server, ADD, "add", CHOSEN)
    assert here != there
    folder = code_server.home / "chosen"
    folder.mkdir()
    workbench = open_window(code_server, folder)
    workbench.open("add.cl", ADD)
    workbench.wait_for_prediction("add", here)
    workbench.command("Kernelcast: Choose Device")
    name = workbench.pick(CHOSEN)
    workbench.wait_for_status(name)
    workbench.wait_for_prediction("add", there)
    workbench.until(lambda: f"Device chosen: {CHOSEN}" in workbench.debug_information(), "a remembered device")

    workbench.reload()
    workbench.open("add.cl")
    workbench.wait_for_status(name)
    workbench.wait_for_prediction("add", there)


@pytest.mark.device
def test_calibrating_shows_its_progress_and_can_be_cancelled(workbench: Workbench, kernelcast: str) -> None:
    workbench.open("add.cl", ADD)
    workbench.wait_for_hint("add")
    listed = [kernelcast, "devices", "--format", "json"]
    here = subprocess.run(listed, env=workbench.server.environment, capture_output=True, text=True, check=True)
    workbench.command("Kernelcast: Calibrate Device")
    if len(json.loads(here.stdout)) > 1:
        workbench.pick("pocl")
    box = workbench.message_box("alibrat")
    box.locator(".monaco-button", has_text="Cancel").wait_for()
    workbench.wait_for_status("alibrating")
    workbench.press_cancel("alibrat")
    box.wait_for(state="detached")
    workbench.until(lambda: "alibrating" not in workbench.status(), "an idle status item")


def test_without_any_device_kernels_are_predicted_and_what_to_do_is_said(
    start_code_server: ServerStart,
    open_window: WindowOpen,
    no_opencl: dict[str, str],
    ours: dict[str, Any],
    foretold: Foretold,
) -> None:
    server = start_code_server(environment=no_opencl, settings=ours)
    folder = server.home / "kernels"
    folder.mkdir()
    workbench = open_window(server, folder)
    workbench.open("add.cl", ADD)
    workbench.wait_for_prediction("add", foretold(server, ADD, "add"))
    workbench.wait_for_status("Nothing can be measured")
    workbench.put_cursor("add")
    workbench.command("Kernelcast: Measure Kernel on Device")
    assert "install" in workbench.wait_for_message("OpenCL")
    assert workbench.hint("add")


def test_further_devices_stand_in_the_hover_and_in_a_table(
    start_code_server: ServerStart, open_window: WindowOpen, ours: dict[str, Any]
) -> None:
    further = {"kernelcast.compareDevices": ["nvidia-h200"], "kernelcast.hints.secondDevice": True}
    server = start_code_server(settings={**ours, **further})
    folder = server.home / "kernels"
    folder.mkdir()
    workbench = open_window(server, folder)
    workbench.open("add.cl", ADD)
    shown = workbench.wait_for_hint("add", lambda text: "H200" in text, "with a second device")
    time = shown.rpartition("H200 ")[2]
    assert time in workbench.hover("add", "Other devices")
    workbench.leave_hover()
    workbench.put_cursor("add")
    workbench.command("Kernelcast: Compare Devices")
    workbench.page.locator(".quick-input-widget:visible .monaco-button", has_text="OK").click()
    table = workbench.page.locator(".editor-instance").filter(has_text="against").locator(".view-lines")
    workbench.until(lambda: time in plain(table.first.inner_text()), "a table with the same time")
