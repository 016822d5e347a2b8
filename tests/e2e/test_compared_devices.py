"""Further devices in the editor: rows in the hover, a second time in the hint, and what is said of unknown ids."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]

Start = Callable[..., Any]
SCALE = """// kernelcast: global=n local=64 n=1048576
__kernel void scale(__global const float *a, __global float *b, int n) {
  int i = get_global_id(0);
  if (i < n) b[i] = a[i] * 2.0f;
}
"""
MAIN, OTHERS = "generic-cpu", ["nvidia-h200", "generic-gpu"]


def section(hover: str, device: str) -> str:
    """The hover's row of a device, in one line."""
    _, _, rest = hover.partition("Other devices")
    flat = " ".join(rest.split())
    start = flat.index(device)
    return flat[start : start + 200]


async def test_the_hover_has_a_row_for_each_device(start_editor: Start) -> None:
    options = {"device": MAIN, "compareDevices": OTHERS}
    async with start_editor(settings=options) as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        told = await editor.hover_with("scale.cl", 1, 16, "Other devices")
        row = section(told, "H200")
        assert re.search(r"[~≈] [\d.]+ (ns|µs|ms).*memory.*(faster|slower)", row), told
        assert section(told, "Generic")
        assert await editor.leave() == 0


async def test_the_rows_follow_an_edit_and_the_hint_shows_a_second_device(start_editor: Start) -> None:
    options = {"device": MAIN, "compareDevices": OTHERS, "hints": {"secondDevice": True}}
    async with start_editor(settings=options) as editor:
        editor.open("scale.cl", SCALE)
        first = await editor.wait_for_hint("scale.cl", lambda label: "H200" in label)
        before = section(await editor.hover("scale.cl", 1, 16), "H200")
        editor.edit("scale.cl", 3, 2, "for (int k = 0; k < 9999; k++) ")
        second = await editor.wait_for_hint("scale.cl", lambda label: "H200" in label and last(label) != last(first))
        after = section(await editor.hover("scale.cl", 1, 16), "H200")
        assert before != after
        assert last(second) in after
        assert await editor.leave() == 0


def last(label: str) -> str:
    return label.rpartition("· ")[2].partition(" ")[2]


async def test_devices_come_from_the_configuration_whose_unknown_ids_have_diagnostics(start_editor: Start) -> None:
    async with start_editor(environment={"OCL_ICD_VENDORS": "/nonexistent.icd"}) as editor:
        config = editor.folder / "kernelcast.toml"
        config.write_text('[device]\nid = "generic-cpu"\ncompare = ["nvidia-h200", "nvidia-h20x"]\n')
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        assert section(await editor.hover_with("scale.cl", 1, 16, "Other devices"), "H200")
        await editor.until(lambda: bool(editor.client.diagnostics.get(config.as_uri())))
        (found,) = editor.client.diagnostics[config.as_uri()]
        assert "no device has the id `nvidia-h20x`" in found.message
        assert "Did you mean `nvidia-h200`?" in found.message
        assert found.range.start.line == 2
        assert await editor.leave() == 0


async def test_an_unknown_id_in_the_settings_is_said_once(start_editor: Start) -> None:
    options = {"device": MAIN, "compareDevices": ["no-such-device"]}
    async with start_editor(settings=options, environment={"OCL_ICD_VENDORS": "/nonexistent.icd"}) as editor:
        editor.open("scale.cl", SCALE)
        await editor.until(lambda: any("no-such-device" in message for message in editor.messages))
        editor.edit("scale.cl", 2, 0, "\n")
        await editor.run("kernelcast.listKernels", editor.uri("scale.cl"))
        (said,) = [message for message in editor.messages if "no-such-device" in message]
        assert "kernelcast devices --all" in said
        assert await editor.leave() == 0


async def test_a_command_compares_devices_that_are_named(start_editor: Start) -> None:
    async with start_editor(settings={"device": MAIN}) as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        uri = editor.uri("scale.cl")
        answer = await editor.run("kernelcast.compareDevices", uri, "scale", "", ", ".join(OTHERS))
        assert [each["device"]["id"] for each in answer["devices"]] == [MAIN, *OTHERS]
        assert "H200" in answer["text"]
        refused = await editor.run("kernelcast.compareDevices", uri, "scale", "", "nvidia-h20x")
        assert "Did you mean `nvidia-h200`?" in refused["error"]["message"]
        refused = await editor.run("kernelcast.compareDevices", uri, "scale")
        assert "kernelcast.compareDevices" in refused["error"]["message"]
        assert await editor.leave() == 0
