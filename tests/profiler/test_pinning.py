"""PoCL's threads stay on the processors that this process may use, one on each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from profiler.child.pinning import pocl_may_pin
from profiler.worker import run_job

JOBS = """
import os
from pathlib import Path
from profiler.child.probing import opencl_devices

def where_threads_run(allowed, reporter):
    os.sched_setaffinity(0, allowed)
    before = {entry.name for entry in Path("/proc/self/task").iterdir()}
    pocl = [device for device in opencl_devices() if device.platform.name == "Portable Computing Language"]
    tasks = [int(entry.name) for entry in Path("/proc/self/task").iterdir() if entry.name not in before]
    return pocl[0].max_compute_units, [sorted(os.sched_getaffinity(task)) for task in tasks]
"""


def test_pocl_pins_by_itself_only_where_its_first_processors_are_ours() -> None:
    assert pocl_may_pin({0, 1, 2, 3}, 4)
    assert pocl_may_pin(frozenset(), 4)
    assert not pocl_may_pin({2, 3}, 4)
    assert not pocl_may_pin({0, 1}, 4)


@pytest.mark.device
@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system has no sets of allowed processors")
@pytest.mark.parametrize("roaming", [False, True])
def test_with_some_processors_only_each_thread_has_one_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, roaming: bool
) -> None:
    (tmp_path / "pinning_jobs.py").write_text(JOBS)
    monkeypatch.syspath_prepend(str(tmp_path))
    if roaming:
        monkeypatch.setenv("POCL_AFFINITY", "0")
    allowed = sorted(os.sched_getaffinity(0))
    last = allowed[len(allowed) // 2 :]
    units, places = run_job("pinning_jobs:where_threads_run", (last,), returns=tuple)
    if roaming:
        assert all(place == last for place in places)
    else:
        assert sorted(places) == [[processor] for processor in last]
        assert units == len(last)
