"""Measuring a kernel at several sizes from the editor: its other launches are predicted through them at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import psutil
import pytest

from tests.e2e.test_learned import told_us

pytestmark = [pytest.mark.e2e, pytest.mark.device, pytest.mark.asyncio]

Start = Callable[..., Any]

SCALE = """// kernelcast: global=65536 local=64 n=65536 name=small
// kernelcast: global=1048576 local=64 n=1048576 name=large
__kernel void scale(__global const float *a, __global float *b, int n) {
  int i = get_global_id(0);
  if (i < n) b[i] = a[i] * 2.0f;
}
"""
ENDLESS = """// kernelcast: global=4096 local=64 a=4096
__kernel void endless(volatile __global int *a) {
  while (a[0] != 12345) { a[get_global_id(0)] = a[0] + 1; }
}
"""
ENDLESS_FROM_65536 = """// kernelcast: global=65536 local=64 n=65536
__kernel void slow(volatile __global int *a, int n) {
  int i = get_global_id(0);
  if (i < n) {
    while (n > 40000 && a[0] != 12345) a[1] = a[0] + 1;
    a[i] = n;
  }
}
"""
ESCAPES = """// kernelcast: global=65536 local=64 out=65536 most=2000 name=long
// kernelcast: global=65536 local=64 out=65536 most=20 name=short
__kernel void escapes(__global int *out, int most) {
  float x = 0, c = -1.5f + get_global_id(0) / 65536.0f; int k = 0;
  while (x * x < 4.0f && k < most) { x = x * x + c; k++; }
  out[get_global_id(0)] = k;
}
"""
MARK = "measurements of this kernel"


async def test_other_launches_are_predicted_through_the_sizes_until_the_kernel_changes(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        await editor.device_is_here()
        (title,) = [t for t in await editor.actions("scale.cl", 3) if "at several sizes" in t]
        assert title.startswith("Measure `scale` at several sizes on ")
        answer = await editor.run("kernelcast.measureSizes", editor.uri("scale.cl"), "scale")
        assert [size["work_items"] for size in answer["sizes"]] == [16384, 32768, 65536, 131072]
        assert all(size["runtime_us"]["median"] > 0 for size in answer["sizes"])
        assert len(answer["fit"]["points"]) == 4
        assert not answer["failed"]
        assert not answer["cancelled"]
        assert "4 sizes measured" in editor.progress[-1]["message"]

        told = await editor.hover_with("scale.cl", 2, 16, MARK)
        words = " ".join(told.split())
        assert "4 measurements of this kernel (16.4 k to 131 k work-items)" in words
        assert "Measured" in told.split("**Launch large**")[0]
        assert "Measured" not in told.split("**Launch large**")[1]
        assert MARK in told.split("**Launch large**")[1]

        shown = await editor.wait_for_hint("scale.cl")
        editor.edit("scale.cl", 4, 2, "for (int k = 0; k < 99; k++) ")
        await editor.wait_for_hint("scale.cl", lambda label: "stale" in label or "~" in label)
        assert MARK not in await editor.hover("scale.cl", 2, 16)
        editor.edit("scale.cl", 4, 2, "", end=(4, 2 + len("for (int k = 0; k < 99; k++) ")))
        await editor.wait_for_hint("scale.cl", lambda label: label == shown)
        assert MARK in await editor.hover("scale.cl", 2, 16)
        assert await editor.leave() == 0

    async with start_editor() as editor:
        editor.open("scale.cl", SCALE.replace("1048576", "2097152"))
        await editor.wait_for_hint("scale.cl", lambda label: "~" not in label)
        assert MARK in await editor.hover("scale.cl", 2, 16)


async def test_a_launch_that_is_measured_by_itself_tells_of_the_others(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        answer = await editor.run("kernelcast.measure", editor.uri("scale.cl"), "scale", "small")
        assert {"launch_overhead_us", "checked", "settled", "notes"} <= answer.keys()
        told = await editor.hover_with("scale.cl", 2, 16, "one measurement of this kernel")
        assert "one measurement of this kernel" in told.split("**Launch large**")[1]
        assert "launch overhead" in told.split("**Launch large**")[0]


async def test_a_loop_that_data_end_counts_for_a_measured_launch_as_it_ran_there(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("escapes.cl", ESCAPES)
        await editor.wait_for_hint("escapes.cl")
        answer = await editor.run("kernelcast.measure", editor.uri("escapes.cl"), "escapes", "long")
        assert await editor.leave() == 0
    async with start_editor() as editor:
        only_short = "".join(line for line in ESCAPES.splitlines(keepends=True) if "name=long" not in line)
        editor.open("escapes.cl", only_short)
        await editor.wait_for_hint("escapes.cl")
        await editor.hover_with("escapes.cl", 1, 16, "one measurement of this kernel")
        ((_, _, label),) = await editor.hints("escapes.cl")
        assert told_us(label) < answer["runtime_us"]["median"] / 10


async def test_cancelling_ends_all_sizes_and_the_next_measurement_works(start_editor: Start) -> None:
    async with start_editor(settings={"measure": {"budgetS": 0.2, "timeLimitS": 60}}) as editor:
        editor.open("endless.cl", ENDLESS)
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("endless.cl")
        running = asyncio.ensure_future(
            editor.run("kernelcast.measureSizes", editor.uri("endless.cl"), "endless", "#0")
        )
        await editor.until(lambda: any(" / 64: " in str(value.get("message")) for value in editor.progress))
        children = editor.device_processes()
        editor.press_cancel()
        assert (await running)["error"]["code"] == "cancelled"
        assert not editor.messages
        _, alive = psutil.wait_procs(children, timeout=60)
        assert not alive
        assert "error" not in await editor.measure("scale.cl", "scale")


async def test_cancelling_midway_keeps_the_sizes_that_were_measured(start_editor: Start) -> None:
    async with start_editor(settings={"measure": {"budgetS": 0.2, "timeLimitS": 60}}) as editor:
        editor.open("slow.cl", ENDLESS_FROM_65536)
        await editor.wait_for_hint("slow.cl")
        running = asyncio.ensure_future(editor.run("kernelcast.measureSizes", editor.uri("slow.cl"), "slow", "#0"))
        await editor.until(lambda: any("65536 / 64: " in str(value.get("message")) for value in editor.progress))
        editor.press_cancel()
        answer = await running
        assert [size["work_items"] for size in answer["sizes"]] == [16384, 32768]
        assert answer["cancelled"]
        assert answer["failed"] == []
        assert editor.progress[-1]["message"].startswith("cancelled, slow: 2 of 4 sizes measured")
        assert not editor.messages
        assert f"2 {MARK}" in await editor.hover_with("slow.cl", 1, 16, MARK)
    async with start_editor() as editor:
        editor.open("slow.cl", ENDLESS_FROM_65536)
        await editor.wait_for_hint("slow.cl")
        assert f"2 {MARK}" in await editor.hover_with("slow.cl", 1, 16, MARK)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["gone"], "no kernel 'gone'"), ([], "no kernel was named"), (["scale", "gone"], "no longer has a launch `gone`")],
)
async def test_what_is_not_there_is_not_measured(start_editor: Start, arguments: list[str], said: str) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        answer = await editor.run("kernelcast.measureSizes", editor.uri("scale.cl"), *arguments)
        assert said in answer["error"]["message"]


async def test_nothing_is_run_in_a_workspace_that_is_not_trusted(start_editor: Start) -> None:
    async with start_editor(options={"trusted": False}) as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        assert not [title for title in await editor.actions("scale.cl", 3) if "several sizes" in title]
        answer = await editor.run("kernelcast.measureSizes", editor.uri("scale.cl"), "scale")
        assert "not trusted" in answer["error"]["message"]
