"""What others did is read from the system, less what was our own doing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from profiler.batches import Batch, is_disturbed, others_meanwhile
from profiler.device_worker import machine_load
from profiler.device_worker.machine_load import LoadWatch


class Machine:
    """A machine's /proc, and the processor time of this process."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.own_s = 1.0
        tasks = folder / "task"
        for thread in ("1", "2"):
            (tasks / thread).mkdir(parents=True)
        monkeypatch.setattr(machine_load, "STAT", folder / "stat")
        monkeypatch.setattr(machine_load, "TASKS", tasks)
        monkeypatch.setattr(machine_load, "OWN_STATISTICS", tasks / "1" / "schedstat")
        monkeypatch.setattr(machine_load.os, "times", lambda: SimpleNamespace(user=self.own_s, system=0.0))
        monkeypatch.setattr(machine_load.os, "sysconf", lambda name: 100)

    def shows(self, *, busy: int, idle: int, stolen: int = 0, waits_ns: tuple[int, int] = (0, 0)) -> None:
        (self.folder / "stat").write_text(f"cpu  {busy} 0 0 {idle} 7 0 0 {stolen} 5 5\ncpu0 1 2 3\n")
        for thread, wait_ns in zip(("1", "2"), waits_ns, strict=True):
            (self.folder / "task" / thread / "schedstat").write_text(f"123 {wait_ns} 4\n")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_others_used_what_was_busy_or_stolen_and_not_ours(machine: Machine) -> None:
    machine.shows(busy=100, idle=100)
    watch = LoadWatch()
    watch.begin()
    machine.own_s += 0.5
    machine.shows(busy=170, idle=200, stolen=10, waits_ns=(1_000_000, 2_000_000))
    load = watch.end()
    assert load.ran_s == pytest.approx(0.5)
    assert load.others_s == pytest.approx(0.7 + 0.1 - 0.5)
    assert load.stolen_s == pytest.approx(0.1)
    assert load.waited_s == pytest.approx(0.003)


def test_a_thread_that_began_or_ended_meanwhile_does_no_harm(machine: Machine) -> None:
    machine.shows(busy=100, idle=100, waits_ns=(5, 5))
    watch = LoadWatch()
    watch.begin()
    (machine.folder / "task" / "2" / "schedstat").unlink()
    (machine.folder / "task" / "3").mkdir()
    (machine.folder / "task" / "3" / "schedstat").write_text("1 7 1")
    assert watch.end().waited_s == pytest.approx(7e-9)


def test_a_system_that_tells_nothing_is_not_taken_for_an_idle_one(machine: Machine) -> None:
    watch = LoadWatch()
    watch.begin()
    load = watch.end()
    assert (load.waited_s, load.others_s) == (None, None)


@pytest.mark.parametrize(("busy", "stolen", "expected"), [(102, 0, False), (130, 0, True), (100, 30, True)])
def test_a_launch_that_was_timed_on_a_busy_machine_is_disturbed(
    machine: Machine, busy: int, stolen: int, expected: bool
) -> None:
    """One of two processors is ours for half a second; the other is idle, another program's, or another guest's."""
    machine.shows(busy=50, idle=100)
    watch = LoadWatch()
    watch.begin()
    machine.own_s += 0.5
    machine.shows(busy=busy, idle=150, stolen=stolen)
    load = replace(watch.end(), elapsed_s=0.5, processors=2)
    batches = [Batch((100.0,), load=load)]
    assert is_disturbed(batches, others_meanwhile(batches)) is expected
