"""The notification `kernelcast/status` from the real server: sent to those who ask for it, true, and seldom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from lsprotocol import types

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]

Start = Callable[..., Any]

SCALE = """// kernelcast: global=65536 local=64 n=65536
__kernel void scale(__global const float *a, __global float *b, int n) {
  int i = get_global_id(0);
  if (i < n) b[i] = a[i] * 2.0f;
}
"""


async def test_without_opencl_it_says_what_to_install_once_discovery_is_over(
    start_editor: Start, no_opencl: dict[str, str]
) -> None:
    async with start_editor(environment=no_opencl) as editor:
        editor.open("scale.cl", SCALE)
        told = await editor.status(lambda status: status["problems"])
        assert told["uri"] == editor.uri("scale.cl")
        assert (told["device"]["id"], told["device"]["here"]) == ("generic-cpu", False)
        assert told["basis"] == "analytical model"
        (problem,) = told["problems"]
        assert "pip install 'kernelcast[pocl]'" in problem["message"]


@pytest.mark.device
async def test_measuring_is_told_from_beginning_to_end(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        idle = await editor.status(lambda status: status["device"]["here"] and not status["busy"])
        (problem,) = idle["problems"]
        assert problem["command"]["command"] == "kernelcast.calibrate"
        assert problem["command"]["arguments"] == [idle["device"]["id"]]
        await editor.measure("scale.cl", "scale")
        done = await editor.status(lambda s: not s["busy"] and s["revision"] > idle["revision"])
        busy = [told["busy"] for told in editor.statuses]
        assert "Measuring scale" in busy
        assert done["problems"] == idle["problems"]
        revisions = [told["revision"] for told in editor.statuses]
        assert revisions == sorted(revisions)


@pytest.mark.device
async def test_no_status_ever_complains_of_what_is_still_being_found_out(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        await editor.status(lambda status: status["device"]["here"] and not status["busy"])
        told = [problem["message"] for status in editor.statuses for problem in status["problems"]]
        assert not [message for message in told if "not in this machine" in message or "Nothing can be" in message]


async def test_the_device_that_was_chosen_earlier_is_taken_and_an_unknown_one_is_a_problem(start_editor: Start) -> None:
    async with start_editor(options={"device": "voodoo"}) as editor:
        editor.open("scale.cl", SCALE)
        told = await editor.status(lambda status: any("`voodoo`" in p["message"] for p in status["problems"]))
        remedies = [problem["command"] for problem in told["problems"] if "`voodoo`" in problem["message"]]
        assert [remedy["command"] for remedy in remedies] == ["kernelcast.chooseDevice"]
        await editor.run("kernelcast.chooseDevice", "nvidia-h200")
        told = await editor.status(lambda status: status["device"]["id"] == "nvidia-h200")
        assert not any("`voodoo`" in problem["message"] for problem in told["problems"])


async def test_a_bad_kernelcast_toml_and_a_bad_setting_are_problems_until_they_are_mended(start_editor: Start) -> None:
    async with start_editor(settings={"measure": {"budgetS": -1}}) as editor:
        config = editor.folder / "kernelcast.toml"
        config.write_text("[[launch]\n")
        editor.open("scale.cl", SCALE)
        told = await editor.status(lambda status: len(status["problems"]) > 1)
        assert told["problems"][0]["severity"] == "error"
        assert told["problems"][0]["message"].startswith("kernelcast.toml, line 1: ")
        assert "kernelcast.measure.budgetS" in told["problems"][1]["message"]
        config.write_text("")
        watched = types.FileEvent(uri=config.as_uri(), type=types.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([watched]))
        await editor.configure()
        await editor.status(lambda status: not any(p["severity"] == "error" for p in status["problems"]))
        await editor.status(lambda status: not any("budgetS" in p["message"] for p in status["problems"]))


async def test_clients_that_do_not_ask_for_it_are_not_sent_it(start_editor: Start) -> None:
    async with start_editor(status=False) as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        await editor.run("kernelcast.listDevices")
        assert editor.statuses == []
