"""What clients build their menus, pickers and reports from, asked by workspace/executeCommand."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]

Start = Callable[..., Any]

TWO = """// kernelcast: global=65536 local=64 n=65536 name=small
// kernelcast: global=1048576 local=64 n=1048576 name=large
__kernel void scale(__global const float *a, __global float *b, int n) {
  int i = get_global_id(0);
  if (i < n) b[i] = a[i] * 2.0f;
}

__kernel void shift(__global float *a) {
  a[get_global_id(0)] += 1.0f;
}
"""
WILD = TWO.replace("\n\n", "\n\n// kernelcast: global=4096 local=64 a=4096\n").replace(
    "a[get_global_id(0)]", "a[(long)get_global_id(0) * 1000000007L]"
)


async def test_the_kernels_of_a_document_are_listed_with_their_launches(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("two.cl", TWO)
        for _ in range(5):  # the drivers may answer in between, and times be told anew for a device of this machine
            scale, shift = await editor.run("kernelcast.listKernels", editor.uri("two.cl"))
            shown = [label for _, _, label in await editor.hints("two.cl")]
            if shown == [scale["label"], shift["label"]]:
                break
        assert (scale["name"], shift["name"]) == ("scale", "shift")
        assert (scale["line"], shift["line"]) == (2, 7)
        assert scale["range"]["start"]["line"] == 2
        assert scale["range"]["end"] == {"line": 5, "character": 1}
        assert [launch["title"] for launch in scale["launches"]] == ["small", "large"]
        assert shown == [scale["label"], shift["label"]]


async def test_devices_are_listed_this_machines_first(start_editor: Start, no_opencl: dict[str, str]) -> None:
    async with start_editor(environment=no_opencl, options={"device": "nvidia-h200"}) as editor:
        editor.open("two.cl", TWO)
        await editor.wait_for_hint("two.cl")
        told = await editor.run("kernelcast.listDevices")
        assert told["chosen"] == told["current"] == "nvidia-h200"
        ids = [device["id"] for device in told["devices"]]
        assert len(ids) == len(set(ids))
        assert not any(device["here"] for device in told["devices"])
        assert set(told["devices"][0]) == {"id", "name", "platform", "type", "here", "calibrated"}
        assert "H200" in (await editor.hover("two.cl", 2, 16)).splitlines()[0]

        assert await editor.run("kernelcast.chooseDevice", "auto") == "auto"
        told = await editor.run("kernelcast.listDevices")
        assert (told["chosen"], told["current"]) == ("", "generic-cpu")


async def test_nothing_is_offered_that_a_device_elsewhere_would_have_to_run(start_editor: Start) -> None:
    async with start_editor(options={"device": "nvidia-h200"}) as editor:
        editor.open("two.cl", TWO)
        await editor.wait_for_hint("two.cl")
        await editor.run("kernelcast.listDevices")  # answers when the drivers have
        titles = await editor.actions("two.cl", 3)
        assert not [title for title in titles if title.startswith(("Measure", "Calibrate"))]
        assert [title for title in titles if title.startswith("Choose device")]
        scale, _ = await editor.run("kernelcast.listKernels", editor.uri("two.cl"))
        assert not any(launch["measurable"] for launch in scale["launches"])
        refused = await editor.run("kernelcast.measure", editor.uri("two.cl"), "scale")
        assert "error" in refused


async def test_the_current_device_is_known_without_a_document(start_editor: Start, no_opencl: dict[str, str]) -> None:
    async with start_editor(environment=no_opencl) as editor:
        assert (await editor.run("kernelcast.listDevices"))["current"] == "generic-cpu"
        await editor.run("kernelcast.chooseDevice", "nvidia-h200")
        assert (await editor.run("kernelcast.listDevices"))["current"] == "nvidia-h200"


@pytest.mark.device
async def test_a_device_of_this_machine_is_marked_as_here(start_editor: Start) -> None:
    async with start_editor() as editor:
        told = await editor.run("kernelcast.listDevices")
        here = [device["here"] for device in told["devices"]]
        assert here == sorted(here, reverse=True)
        assert here[0]
        assert told["current"] in {device["id"] for device in told["devices"]}


async def test_the_annotation_is_written_by_the_editor_and_only_once(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("two.cl", TWO)
        assert await editor.run("kernelcast.writeAnnotation", editor.uri("two.cl"), "shift") == {"applied": True}
        (edit,) = editor.edits[0].changes[editor.uri("two.cl")]
        assert re.fullmatch(r"// kernelcast: global=\d+ .*\n", edit.new_text)
        assert edit.range.start.line == 7
        answer = await editor.run("kernelcast.writeAnnotation", editor.uri("two.cl"), "scale")
        assert "has a launch annotation already" in answer["error"]["message"]
        answer = await editor.run("kernelcast.writeAnnotation", editor.uri("two.cl"), "nobody")
        assert answer["error"]["code"] == "no_kernel"


async def test_debug_information_tells_what_matters_and_nothing_of_the_source(
    start_editor: Start, tmp_path: Path
) -> None:
    async with start_editor(environment={"HOME": str(tmp_path), "POCL_DEBUG": "0"}) as editor:
        editor.open("two.cl", TWO)
        await editor.wait_for_hint("two.cl")
        told = await editor.run("kernelcast.debugInformation")
        for words in ("## Kernelcast ", "Python", "utf-16", "open documents: 1", "trusted", "POCL_DEBUG=0", "budgetS"):
            assert words in told
        assert "scale" not in told
        assert str(tmp_path) not in told
        assert "~/workspace" in told


@pytest.mark.device
async def test_a_whole_file_is_measured_under_one_progress_bar(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("two.cl", WILD)
        answer = await editor.run("kernelcast.measureAll", editor.uri("two.cl"))
        assert (answer["measured"], answer["cancelled"]) == (2, False)
        (failed,) = answer["failed"]
        assert failed["kernel"] == "shift"
        assert re.search(r"`a`|out of bounds|far from all of its buffers", failed["message"])
        assert len(set(editor.tokens)) == 1
        begin, *reports, end = editor.progress
        assert begin["title"] == "Measuring two.cl"
        assert end["message"] == "2 of 3 launches measured"
        assert any(re.fullmatch(r"scale \(2 of 3\), batch \d+", report["message"]) for report in reports)
        shares = [report["percentage"] for report in reports]
        assert shares == sorted(shares)
        (message,) = editor.messages
        assert message.startswith("two.cl: 2 of 3 launches measured. Not measured: shift (")
        assert "measured" not in (await editor.hints("two.cl"))[1][2]


@pytest.mark.device
async def test_measuring_a_whole_file_can_be_cancelled_and_keeps_what_it_has(start_editor: Start) -> None:
    endless = "\n// kernelcast: global=64 local=64 a=64\n__kernel void endless(volatile __global int *a) {\n"
    endless += "  while (a[0] != 12345) { a[1] = a[0] + 1; }\n}\n"
    async with start_editor() as editor:
        editor.open("two.cl", TWO.split("\n\n", maxsplit=1)[0] + endless)

        async def cancel_when_stuck() -> None:
            stuck = ("endless (3 of 3), checking bounds", "endless (3 of 3), warming up")
            await editor.until(lambda: any(v.get("message") in stuck for v in editor.progress))
            editor.press_cancel()

        answer, _ = await asyncio.gather(editor.run("kernelcast.measureAll", editor.uri("two.cl")), cancel_when_stuck())
        assert answer == {"measured": 2, "failed": [], "cancelled": True}
        assert editor.progress[-1]["message"] == "cancelled, 2 of 3 launches measured"
        assert not editor.device_processes()
        assert not editor.messages


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("kernelcast.measure", [{"uri": 3}, ["scale"]]),
        ("kernelcast.measure", []),
        ("kernelcast.measureAll", [7]),
        ("kernelcast.measureAll", []),
        ("kernelcast.listKernels", ["nowhere"]),
        ("kernelcast.listKernels", []),
        ("kernelcast.writeAnnotation", [True]),
        ("kernelcast.writeAnnotation", []),
        ("kernelcast.calibrate", ["no-such-device"]),
        ("kernelcast.learn", ["no-such-device"]),
        ("kernelcast.chooseDevice", [{}]),
        ("kernelcast.report", []),
        ("kernelcast.report", [7]),
        ("kernelcast.report", ["nowhere", "scale"]),
        ("kernelcast.report", ["nowhere", "", "dance"]),
    ],
)
async def test_a_command_that_is_called_wrongly_answers_with_a_reason(
    start_editor: Start, no_opencl: dict[str, str], command: str, arguments: list[Any]
) -> None:
    async with start_editor(environment=no_opencl) as editor:
        answer = await editor.run(command, *arguments)
        assert answer["error"]["code"]
        assert answer["error"]["message"]
        assert any(answer["error"]["message"] in message for message in editor.messages)
        assert "Traceback" not in str(answer)
        assert await editor.leave() == 0
