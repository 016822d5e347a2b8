"""Measuring on a real device from the editor: what is shown, how it is cancelled, and what breaks without harm."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from lsprotocol import types

pytestmark = [pytest.mark.e2e, pytest.mark.device, pytest.mark.asyncio]

Start = Callable[..., Any]

SCALE = """// kernelcast: global=65536 local=64 n=65536
__kernel void scale(__global const float *a, __global float *b, int n) {
  int i = get_global_id(0);
  if (i < n) b[i] = a[i] * 2.0f;
}
"""
ENDLESS = """// kernelcast: global=64 local=64 a=64
__kernel void endless(volatile __global int *a) {
  while (a[0] != 12345) { a[1] = a[0] + 1; }
}
"""
BROKEN = """// kernelcast: global=64 local=64 a=64
__kernel void broken(__global float *a) {
  a[get_global_id(0)] = no_such_function(1.0f);
}
"""
WILD = """// kernelcast: global=4096 local=64 a=4096
__kernel void wild(__global float *a) {
  a[(long)get_global_id(0) * 1000000007L] = 1.0f;
}
"""
# An endless kernel does not get past the run that shows whether it stays in its buffers, where there is such a run.
RUNNING = ("checking bounds", "warming up")


async def test_the_hint_shows_what_was_measured_against_what_was_predicted(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl", lambda label: "measured" not in label)
        await editor.device_is_here()
        (title,) = [t for t in await editor.actions("scale.cl", 2) if t.startswith("Measure `scale` on ")]
        assert title
        answer = await editor.measure("scale.cl", "scale")
        assert answer["runtime_us"]["median"] > 0
        assert answer["predicted_us"] > 0

        kinds = [value["kind"] for value in editor.progress]
        assert kinds[0] == "begin"
        assert kinds[-1] == "end"
        assert "report" in kinds

        shown = await editor.wait_for_hint("scale.cl", lambda label: "measured" in label)
        assert re.fullmatch(
            r"[\d.]+ (ns|µs|ms) measured \(est ([+-]\d+ %|[\d.,]+x (low|high)|[\d.]+ (ns|µs|ms))\)", shown
        ), shown
        told = await editor.hover("scale.cl", 1, 16)
        assert "(measured; predicted" in told.splitlines()[0]
        assert re.search(r"^Measured .* runs, \d{4}-", told, re.MULTILINE)

        editor.edit("scale.cl", 3, 2, "for (int k = 0; k < 99; k++) ")
        await editor.wait_for_hint("scale.cl", lambda label: label.endswith("stale"))
        editor.edit("scale.cl", 3, 2, "", end=(3, 2 + len("for (int k = 0; k < 99; k++) ")))
        assert await editor.wait_for_hint("scale.cl", lambda label: "measured" in label) == shown
        assert await editor.leave() == 0

    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        assert await editor.wait_for_hint("scale.cl", lambda label: "measured" in label) == shown


async def test_cancelling_ends_the_measurement_and_the_next_one_works(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("endless.cl", ENDLESS)
        editor.open("scale.cl", SCALE)
        running = asyncio.ensure_future(editor.measure("endless.cl", "endless"))
        (child,) = await device_process_of(editor)
        editor.press_cancel()
        assert (await running)["error"]["code"] == "cancelled"
        assert not child.is_running()
        assert editor.progress[-1]["message"] == "cancelled"
        assert not editor.messages
        assert "error" not in await editor.measure("scale.cl", "scale")


async def test_a_cancelled_request_ends_its_measurement(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("endless.cl", ENDLESS)
        editor.open("scale.cl", SCALE)
        running = asyncio.ensure_future(editor.measure("endless.cl", "endless"))
        (child,) = await device_process_of(editor)
        (request,) = [id_ for id_, future in editor.client.protocol._request_futures.items() if not future.done()]
        editor.client.cancel_request(types.CancelParams(id=request))
        with pytest.raises(Exception, match="cancel"):
            await running
        psutil.wait_procs([child], timeout=60)
        assert not child.is_running()
        assert "error" not in await editor.measure("scale.cl", "scale")


async def test_a_killed_device_process_is_reported_and_the_next_measurement_works(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("endless.cl", ENDLESS)
        editor.open("scale.cl", SCALE)
        running = asyncio.ensure_future(editor.measure("endless.cl", "endless"))
        (child,) = await device_process_of(editor)
        child.kill()
        assert (await running)["error"]["code"] in ("crashed", "out_of_resources")
        assert any("endless was not measured" in message for message in editor.messages)
        assert "error" not in await editor.measure("scale.cl", "scale")


async def test_shutting_down_while_measuring_leaves_no_process_behind(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("endless.cl", ENDLESS)
        running = asyncio.ensure_future(editor.measure("endless.cl", "endless"))
        running.add_done_callback(lambda task: task.cancelled() or task.exception())
        children = await device_process_of(editor)
        assert await editor.leave() == 0
        _, alive = psutil.wait_procs(children, timeout=60)
        assert not alive


@pytest.mark.parametrize(
    ("name", "text", "codes", "said"),
    [
        ("broken", BROKEN, {"build_failed"}, "no_such_function"),
        ("endless", ENDLESS, {"timed_out"}, "2 s"),
        ("wild", WILD, {"out_of_bounds", "crashed"}, r"`a`|out of bounds|far from all of its buffers"),
    ],
)
async def test_a_kernel_that_fails_is_named_with_its_reason_and_harms_nothing(
    start_editor: Start, name: str, text: str, codes: set[str], said: str
) -> None:
    async with start_editor(settings={"measure": {"budgetS": 0.2, "timeLimitS": 2}}) as editor:
        editor.open(f"{name}.cl", text)
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint(f"{name}.cl")
        answer = await editor.measure(f"{name}.cl", name)
        assert answer["error"]["code"] in codes
        assert re.search(said, answer["error"]["message"] + await editor.hover(f"{name}.cl", 1, 16))
        assert [m for m in editor.messages if m.startswith(f"{name} was not measured: ")]
        assert "Traceback" not in "".join(editor.messages)
        assert "The last measurement failed" in await editor.hover(f"{name}.cl", 1, 16)
        await editor.wait_for_hint("scale.cl")


async def test_each_launch_of_a_kernel_is_measured_by_its_name(start_editor: Start) -> None:
    first, rest = SCALE.split("\n", 1)
    text = f"{first} name=small\n// kernelcast: global=1048576 local=64 n=1048576 name=large\n{rest}"
    async with start_editor() as editor:
        editor.open("scale.cl", text)
        await editor.wait_for_hint("scale.cl", lambda label: "small" in label or "more" in label)
        await editor.device_is_here()
        titles = [title for title in await editor.actions("scale.cl", 3) if title.startswith("Measure `scale` (")]
        assert [re.findall(r"\((small|large)\)", title) for title in titles] == [["small"], ["large"]]
        answer = await editor.run("kernelcast.measure", editor.uri("scale.cl"), "scale", "large")
        assert answer["launch"].startswith("1048576")
        told = await editor.hover("scale.cl", 2, 16)
        assert "Measured" not in told.split("**Launch large**")[0]
        assert "Measured" in told.split("**Launch large**")[1]


async def test_calibrating_can_be_cancelled(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        running = asyncio.ensure_future(editor.run("kernelcast.calibrate", "pocl"))
        await editor.until(lambda: sum(value["kind"] == "report" for value in editor.progress) > 1)
        editor.press_cancel()
        assert (await running)["error"]["code"] == "cancelled"
        assert not editor.device_processes()
        assert await editor.hints("scale.cl")


async def test_learning_a_device_tells_how_far_it_is_and_keeps_what_it_has_when_it_is_cancelled(
    start_editor: Start, tmp_path: Path
) -> None:
    (tmp_path / "weights").mkdir()
    model = {"kind": "linear", "log2_factor": 3.0, "spread": 1.2, "novelty": 0.9}
    (tmp_path / "weights/model.json").write_text(json.dumps(model))
    async with start_editor(environment={"KERNELCAST_WEIGHTS": str(tmp_path / "weights")}) as editor:
        editor.open("scale.cl", SCALE)
        running = asyncio.ensure_future(editor.run("kernelcast.learn", "pocl"))
        await editor.until(lambda: any(value.get("message", "").startswith("6 ") for value in editor.progress))
        editor.press_cancel()
        answer = await running
        assert answer["kernels"] <= answer["launches"] <= 2 * answer["kernels"]
        assert answer["launches"] + answer["disturbed"] >= 5  # others may use the machine while tests run
        assert not editor.device_processes()
        assert editor.progress[0]["title"] == "Learning pocl"
        (said,) = editor.messages
        assert f"{answer['kernels'] or 'no'} kernel" in said
        assert "of the corpus" in said
        assert ("predictions are off by" in said) is (answer["launches"] > 0)
        assert ("left out, as others used the machine" in said) is (answer["disturbed"] > 0)
        assert await editor.hints("scale.cl")


async def test_what_is_measured_while_a_device_is_learned_goes_first(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        learning = asyncio.ensure_future(editor.run("kernelcast.learn", "pocl"))
        await editor.until(lambda: any("kernels" in value.get("message", "") for value in editor.progress))
        answer = await editor.measure("scale.cl", "scale")
        assert answer["runtime_us"]["median"] > 0
        assert not learning.done()
        known = len(editor.progress)
        await editor.until(lambda: any("kernels" in each.get("message", "") for each in editor.progress[known:]))
        editor.press_cancel(0)
        assert "error" not in await learning


async def test_nothing_is_run_in_a_workspace_that_is_not_trusted(start_editor: Start) -> None:
    async with start_editor(options={"trusted": False}) as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        assert not [title for title in await editor.actions("scale.cl", 2) if title.startswith(("Measure", "Calib"))]
        answer = await editor.measure("scale.cl", "scale")
        assert "not trusted" in answer["error"]["message"]


async def test_without_any_opencl_platform_there_are_hints_and_a_reason_why_nothing_is_measured(
    start_editor: Start, no_opencl: dict[str, str]
) -> None:
    async with start_editor(environment=no_opencl) as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        answer = await editor.measure("scale.cl", "scale")
        assert answer["error"]["code"] == "device"
        assert "no OpenCL platform" in answer["error"]["message"]
        assert await editor.hints("scale.cl")
        assert await editor.leave() == 0


async def device_process_of(editor: Any) -> list[psutil.Process]:
    """The process in which the kernel runs by now: progress says when it is there."""
    await editor.until(lambda: any(value.get("message") in RUNNING for value in editor.progress))
    return [process for process in editor.device_processes() if process.ppid() == editor.server.pid]


async def test_a_server_that_is_killed_takes_its_device_process_with_it(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("endless.cl", ENDLESS)
        running = asyncio.ensure_future(editor.measure("endless.cl", "endless"))
        running.add_done_callback(lambda task: task.cancelled() or task.exception())
        children = await device_process_of(editor)
        assert children
        editor.server.kill()
        _, alive = psutil.wait_procs(children, timeout=60)
        assert not alive
