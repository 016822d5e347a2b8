"""Measuring on the device from the editor: asked for in the menu, seen while it runs, stopped, and shown for good."""

from __future__ import annotations

import re

import pytest

from tests.editors.vscode.conftest import Foretold
from tests.editors.vscode.workbench import Workbench

pytestmark = pytest.mark.device

SCALE = """\
// kernelcast: global=65536 local=64 n=65536
__kernel void scale(__global const float *a, __global float *b, int n)
{
    int i = get_global_id(0);
    if (i < n)
        b[i] = a[i] * 2.0f;
}
"""
TWO = f"""{SCALE}
// kernelcast: global=65536 local=64 a=65536
__kernel void halve(__global float *a)
{{
    a[get_global_id(0)] *= 0.5f;
}}
"""
ENDLESS = """\
// kernelcast: global=64 local=64 a=64
__kernel void endless(volatile __global int *a)
{
    while (a[0] != 12345)
        a[1] = a[0] + 1;
}
"""
PLAIN = """\
__kernel void plain(__global float *a, int n)
{
    int i = get_global_id(0);
    if (i < n)
        a[i] += 1.0f;
}
"""
MEASURED = re.compile(r"[\d.]+ (ns|µs|ms) measured")


def test_a_kernel_is_measured_from_the_menu_and_shows_what_was_measured(workbench: Workbench) -> None:
    workbench.open("scale.cl", SCALE)
    workbench.wait_for_hint("scale", lambda text: "measured" not in text)
    with workbench.watching() as frames:
        workbench.code_action("scale", "Measure `scale` on ")
        workbench.wait_for_message("scale")
        shown = workbench.wait_for_hint("scale", MEASURED.match, "with what was measured")
    assert [frame for frame in frames if "scale" not in frame] == []
    assert shown.split()[0] in workbench.hover("scale", "easured")
    workbench.leave_hover()


def test_cancel_ends_a_measurement_and_the_next_one_works(workbench: Workbench, foretold: Foretold) -> None:
    workbench.open("endless.cl", ENDLESS)
    before = workbench.wait_for_prediction("endless", foretold(workbench.server, ENDLESS, "endless"))
    workbench.code_action("endless", "Measure `endless` on ")
    workbench.message_box("endless").locator(".monaco-button", has_text="Cancel").wait_for()
    workbench.wait_for_status("Measuring endless")
    workbench.press_cancel("endless")
    workbench.message_box("Measuring").wait_for(state="detached")
    workbench.until(lambda: "Measuring" not in workbench.status(), "an idle status item")
    assert workbench.hint("endless") == before

    workbench.open("scale.cl", SCALE)
    workbench.code_action("scale", "Measure `scale` on ")
    workbench.wait_for_hint("scale", MEASURED.match)


def test_all_kernels_of_a_file_are_measured_by_one_command(workbench: Workbench) -> None:
    workbench.open("two.cl", TWO)
    workbench.wait_for_hint("halve")
    workbench.command("Kernelcast: Measure All Kernels in File")
    workbench.wait_for_hint("scale", MEASURED.match)
    workbench.wait_for_hint("halve", MEASURED.match)


def test_the_kernel_at_the_cursor_is_measured_from_the_palette(workbench: Workbench) -> None:
    workbench.open("two.cl", TWO.replace("0.5f", "0.25f"))
    workbench.wait_for_hint("halve")
    workbench.put_cursor("halve")
    workbench.command("Kernelcast: Measure Kernel on Device")
    workbench.wait_for_hint("halve", MEASURED.match)


def test_the_kernel_at_the_cursor_is_measured_at_several_sizes_from_the_palette(workbench: Workbench) -> None:
    workbench.open("two.cl", TWO.replace("0.5f", "0.75f"))
    workbench.wait_for_hint("halve")
    workbench.put_cursor("halve")
    workbench.command("Kernelcast: Measure Kernel at Several Sizes")
    workbench.wait_for_hint("halve", MEASURED.match)


def test_the_assumed_launch_is_written_above_the_kernel(workbench: Workbench) -> None:
    workbench.open("plain.cl", PLAIN)
    workbench.wait_for_hint("plain")
    workbench.put_cursor("plain")
    workbench.command("Kernelcast: Write Launch Annotation")
    workbench.until(lambda: "// kernelcast: global=" in workbench.source(), "an annotation")
    lines = workbench.source().splitlines()
    assert lines[0].startswith("// kernelcast: global=")
    assert lines[1].startswith("__kernel void plain(")
    workbench.press("Control+z")
    workbench.until(lambda: "// kernelcast:" not in workbench.source(), "the text as it was")


def test_the_report_stands_beside_the_source(workbench: Workbench) -> None:
    workbench.open("report.cl", SCALE)
    workbench.wait_for_hint("scale")
    workbench.put_cursor("scale")
    workbench.command("Kernelcast: Show Performance Report")
    page = workbench.webview_text("oofline")
    for wanted in ("scale", "GB/s"):
        assert wanted in page
    assert workbench.webview().locator("svg").count() > 0
    assert workbench.hint("scale") is not None, "the source is no longer seen"


def test_a_whole_program_wants_a_recording_first(workbench: Workbench) -> None:
    workbench.open("report.cl", SCALE)
    workbench.wait_for_hint("scale")
    workbench.command("Kernelcast: Show Whole Program")
    assert "nothing was recorded" in workbench.wait_for_message("kernelcast record --profile")
