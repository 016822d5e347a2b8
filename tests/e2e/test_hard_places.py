"""Clocks that are set, homes that nobody can write to, several servers at once: hints come, and nothing is lost."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from profiler.store import FILE_NAME, Store
from tests.e2e.editor import Editor, started
from tests.faults import site
from tests.faults.disk import read_only, small_disk

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]
Start = Callable[..., Any]
SCALE = """// kernelcast: global=1024 local=64 n=1024
__kernel void scale(__global float *a, int n) {
  int i = get_global_id(0);
  if (i < n) a[i] *= 2.0f;
}
"""
DAY_S = 24 * 3600


@pytest.fixture
def set_clock(tmp_path: Path) -> Callable[[int], dict[str, str]]:
    """Set the server's clock by so many seconds, before and after it was started with what this returns."""
    library, offset = tmp_path / "clock.so", tmp_path / "offset"
    source = Path(site.__file__).with_name("clock.c")
    if subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=False).returncode:
        pytest.skip("there is no C compiler, with which a clock of our own could be put in the way")

    def put(seconds: int) -> dict[str, str]:
        offset.write_text(str(seconds))
        return {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(offset)}

    return put


async def measured_at(editor: Editor) -> str:
    """Measure it; what the hover then says about when that was."""
    answer = await editor.measure("scale.cl", "scale")
    assert "error" not in answer, answer
    return await shown_moment(editor)


async def shown_moment(editor: Editor) -> str:
    found = re.search(r"^Measured .* runs, (\d{4}-\d\d)-", await editor.hover("scale.cl", 1, 16), re.MULTILINE)
    assert found
    return found[1]


@pytest.mark.device
async def test_the_clock_may_be_set_while_the_server_runs(
    start_editor: Start, set_clock: Callable[[int], dict[str, str]]
) -> None:
    def month(seconds: int) -> str:
        return datetime.fromtimestamp(datetime.now(UTC).timestamp() + seconds, UTC).isoformat()[:7]

    async with start_editor(environment=set_clock(0)) as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        for seconds in (0, 4000 * DAY_S, -4000 * DAY_S, 0):
            set_clock(seconds)
            assert await measured_at(editor) == month(seconds)
        editor.edit("scale.cl", 3, 2, "for (int k = 0; k < 99; k++) ")
        await editor.wait_for_hint("scale.cl", lambda label: label.endswith("stale"))
        editor.edit("scale.cl", 3, 2, "", end=(3, 2 + len("for (int k = 0; k < 99; k++) ")))
        await editor.wait_for_hint("scale.cl", lambda label: "measured" in label)
        assert await shown_moment(editor) == month(0)
        assert await editor.leave() == 0
    async with start_editor(environment=set_clock(0)) as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl", lambda label: "measured" in label)
        assert await shown_moment(editor) == month(0), "not what was measured while the clock was ahead"


@pytest.mark.device
async def test_in_a_home_that_nobody_can_write_to_all_works_and_nothing_new_is_remembered(
    kernelcast: str, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "data"):
        async with started(kernelcast, tmp_path) as editor:
            editor.open("scale.cl", SCALE)
            assert "error" not in await editor.measure("scale.cl", "scale")
            shown = await editor.wait_for_hint("scale.cl", lambda label: "measured" in label)
            assert await editor.leave() == 0
        own = {"HOME": str(tmp_path / "data"), "XDG_CACHE_HOME": str(tmp_path / "data" / "cache")}
        with read_only(tmp_path / "data"):
            if os.access(tmp_path / "data", os.W_OK):
                pytest.skip("root can write to every folder here, and may mount none")
            async with started(kernelcast, tmp_path, environment=own) as editor:
                editor.open("scale.cl", SCALE)
                assert await editor.wait_for_hint("scale.cl", lambda label: "measured" in label) == shown
                assert "error" not in await editor.measure("scale.cl", "scale")
                await editor.until(lambda: any("not remembered" in message for message in editor.messages))
                assert any("cannot be written" in message for message in editor.messages)
                assert await editor.leave() == 0


@pytest.mark.device
async def test_several_servers_at_once_keep_what_each_of_them_measures(kernelcast: str, tmp_path: Path) -> None:
    async def one(number: int) -> None:
        async with started(kernelcast, tmp_path) as editor:
            for place in range(3):
                name = f"scale_{number}_{place}"
                editor.open(f"{name}.cl", SCALE.replace("scale", name))
                answer = await editor.measure(f"{name}.cl", name)
                assert "error" not in answer, answer
            assert not [message for message in editor.messages if "not remembered" in message]
            assert await editor.leave() == 0

    async with asyncio.TaskGroup() as together:
        for number in range(3):
            together.create_task(one(number))
    kept = Store.open(tmp_path / "data" / FILE_NAME).everything()
    assert sorted(entry.measurement.kernel for entry in kept) == [f"scale_{n}_{p}" for n in range(3) for p in range(3)]
