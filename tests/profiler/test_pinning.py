"""PoCL's threads stay on the processors that this process may use, one on each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from profiler.device_worker import control_groups, processors
from profiler.device_worker.pinning import pocl_may_pin, threads_for
from profiler.process.worker import run_job

JOBS = """
import os
from pathlib import Path
from profiler.device_worker.probing import opencl_devices

def where_threads_run(allowed, reporter):
    os.sched_setaffinity(0, allowed)
    before = {entry.name for entry in Path("/proc/self/task").iterdir()}
    pocl = [device for device in opencl_devices() if device.platform.name == "Portable Computing Language"]
    tasks = [int(entry.name) for entry in Path("/proc/self/task").iterdir() if entry.name not in before]
    return pocl[0].max_compute_units, [sorted(os.sched_getaffinity(task)) for task in tasks]
"""


def test_pocl_pins_by_itself_only_where_its_first_processors_are_ours() -> None:
    assert pocl_may_pin({0, 1, 2, 3}, 4)
    assert pocl_may_pin({0, 1}, 2)
    assert pocl_may_pin(frozenset(), 4)
    assert not pocl_may_pin({2, 3}, 2)


def test_there_are_no_more_threads_than_a_containers_quota_feeds() -> None:
    assert threads_for(4, None) == 4
    assert threads_for(16, 2.0) == 2
    assert threads_for(16, 0.5) == 1
    assert threads_for(2, 8.0) == 2


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({"cpu.max": "200000 100000"}, 2.0),
        ({"cpu.max": "max 100000"}, None),
        ({"a/cpu.max": "max 100000", "a/b/cpu.max": "150000 100000"}, 1.5),
        ({"cpu/a/cpu.cfs_quota_us": "-1", "cpu/a/cpu.cfs_period_us": "100000"}, None),
        ({"cpu/a/b/cpu.cfs_quota_us": "50000", "cpu/a/b/cpu.cfs_period_us": "100000"}, 0.5),
        ({"cpu.max": "nonsense"}, None),
        ({}, None),
    ],
)
def test_the_quota_is_read_from_either_version_of_control_groups(
    files: dict[str, str], quota: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = tmp_path / "groups"
    for name, text in files.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(text + "\n")
    (tmp_path / "own").write_text("7:memory:/elsewhere\n3:cpu:/a/b\n0::/a/b\n")
    monkeypatch.setattr(control_groups, "GROUPS", groups)
    monkeypatch.setattr(control_groups, "OWN_GROUPS", tmp_path / "own")
    assert processors.processor_quota() == quota


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
