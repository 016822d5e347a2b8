"""What others did to the processors of a launch, and to those alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from profiler.device_worker.corpus import load_window
from profiler.device_worker.corpus.load_window import LoadWindow


class Machine:
    """A clock, our processor time, and a file like /proc/stat that the test writes."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.at_s = self.ran_s = 0.0
        self.busy = [0, 0, 0, 0]  # ticks of 10 ms, by processor
        self.stolen = [0, 0, 0, 0]
        self.write()
        monkeypatch.setattr(load_window.time, "perf_counter", lambda: self.at_s)
        monkeypatch.setattr(load_window.time, "process_time", lambda: self.ran_s)
        monkeypatch.setattr(load_window.os, "sysconf", lambda _: 100)
        monkeypatch.setattr(load_window.os, "cpu_count", lambda: 4)

    def write(self) -> None:
        rows = [("cpu", sum(self.busy), sum(self.stolen))]
        rows += [(f"cpu{n}", busy, stolen) for n, (busy, stolen) in enumerate(zip(self.busy, self.stolen, strict=True))]
        self.path.write_text("".join(f"{name} {busy} 0 0 9 0 0 0 {stolen} 0 0\n" for name, busy, stolen in rows))

    def pass_time(self, seconds: float, ours_s: float = 0.0, busy: dict[int, int] | None = None) -> None:
        self.at_s += seconds
        self.ran_s += ours_s
        for processor, ticks in (busy or {}).items():
            self.busy[processor] += ticks
        self.write()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path / "stat", monkeypatch)


def test_what_runs_on_other_processors_does_not_count(machine: Machine) -> None:
    window = LoadWindow((2,), machine.path)
    window.begin()
    machine.pass_time(1.0, ours_s=0.9, busy={0: 100, 1: 100, 2: 95, 3: 100})
    seen = window.end()
    assert seen.others == pytest.approx(0.05)
    assert not seen.is_disturbing


def test_what_others_run_on_ours_does(machine: Machine) -> None:
    window = LoadWindow((2,), machine.path)
    window.begin()
    machine.pass_time(1.0, ours_s=0.5, busy={2: 100})
    seen = window.end()
    assert seen.others == pytest.approx(0.5)
    assert seen.is_disturbing


def test_what_a_hypervisor_takes_is_told_apart(machine: Machine) -> None:
    window = LoadWindow((), machine.path)
    window.begin()
    machine.stolen[1] += 40
    machine.pass_time(1.0, ours_s=3.0, busy=dict.fromkeys(range(4), 75))
    seen = window.end()
    assert seen.stolen == pytest.approx(0.1)
    assert seen.others == pytest.approx(0.0)
    assert seen.is_disturbing


def test_a_short_launch_is_judged_with_those_just_before_it(machine: Machine) -> None:
    window = LoadWindow((0,), machine.path)
    window.begin()
    machine.pass_time(10.0, busy={0: 1000})  # long ago
    for _ in range(20):
        window.begin()
        machine.pass_time(0.04, ours_s=0.03, busy={0: 4})
        seen = window.end()
    assert seen.others == pytest.approx(0.25)


def test_a_long_launch_is_judged_from_its_own_beginning(machine: Machine) -> None:
    window = LoadWindow((0,), machine.path)
    machine.pass_time(0.1, busy={0: 10})
    window.begin()
    machine.pass_time(2.0, ours_s=2.0, busy={0: 200})
    assert window.end().others == pytest.approx(0.0)


def test_where_the_system_does_not_tell(tmp_path: Path) -> None:
    window = LoadWindow((), tmp_path / "missing")
    window.begin()
    seen = window.end()
    assert (seen.others, seen.stolen, seen.is_disturbing) == (None, None, False)
