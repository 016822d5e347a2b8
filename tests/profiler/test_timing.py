"""Measuring stops when the figure is known well enough, when the budget is spent, or after as many runs as asked."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from types import SimpleNamespace
from typing import Any

import pytest

from profiler.batches import Load, is_enough, repeat_interval, runs_of
from profiler.device_worker import timing
from profiler.device_worker.timing import Plan, Timing, clock_step_ns, time_launch
from profiler.measurement import MeasureError

LAUNCH_US = 3.0  # what the clockwork takes to start a launch


class Clockwork:
    """A device whose launches take what it is told, on a clock of its own. It hears of others like a watch."""

    def __init__(self, times_us: list[float], monkeypatch: pytest.MonkeyPatch, *, step_ns: int = 1) -> None:
        self._times: Iterator[float] = cycle(times_us)
        self._step_ns = step_ns
        self.now_s = 0.0
        self.launches = 0
        self.batches = 0
        self.since_restored = 0
        self.longest_without_restoring = 0
        self.longest_train: int | None = None
        self.disturbed_until_batch = 0
        fake = SimpleNamespace(perf_counter=lambda: self.now_s, sleep=self._sleep)
        monkeypatch.setattr(timing, "time", fake)
        monkeypatch.setattr(timing.cl, "wait_for_events", lambda events: None)

    def _sleep(self, seconds: float) -> None:
        self.now_s += seconds

    def _stamp(self) -> int:
        return int(self.now_s * 1e9) // self._step_ns * self._step_ns

    def enqueue(self) -> Any:
        took_us = next(self._times)
        self.launches += 1
        self.since_restored += 1
        self.longest_without_restoring = max(self.longest_without_restoring, self.since_restored)
        self.now_s += LAUNCH_US / 1e6
        start = self._stamp()
        self.now_s += took_us / 1e6
        return SimpleNamespace(profile=SimpleNamespace(start=start, end=self._stamp()), wait=lambda: None)

    def begin_batch(self) -> None:
        self.batches += 1

    def restore(self, launches: int) -> None:
        assert self.longest_train is None or launches <= self.longest_train
        self.since_restored = 0

    def begin(self) -> None:
        self._began_s = self.now_s

    def end(self) -> Load:
        took_s = self.now_s - self._began_s
        share = 0.5 if self.batches < self.disturbed_until_batch else 0.0
        return Load(took_s, 4, ran_s=took_s, waited_s=share * took_s, others_s=4 * share * took_s)

    def measure(self, plan: Plan) -> Timing:
        subject: Any = self
        first_us = next(self._times)
        return time_launch(subject, plan, first_us=first_us, watch=self, on_batch=lambda share: None)


def test_a_steady_kernel_is_known_after_six_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Clockwork([1000.0], monkeypatch)
    result = device.measure(Plan(budget_s=60))
    assert len(result.batches) == 6
    assert runs_of(result.batches) == [pytest.approx(1000, abs=0.01)] * len(runs_of(result.batches))
    assert device.now_s < 2


def test_an_unsteady_kernel_is_measured_until_the_budget_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Clockwork([300_000.0, 500_000.0, 900_000.0], monkeypatch)
    result = device.measure(Plan(budget_s=10))
    assert not is_enough(result.batches)
    assert 5 < device.now_s <= 11


def test_one_long_run_is_an_answer_too(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Clockwork([8e6], monkeypatch)
    assert runs_of(device.measure(Plan(budget_s=5)).batches) == [pytest.approx(8e6)]
    assert device.launches == 1


def test_tiny_kernels_run_in_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    result = Clockwork([2.0], monkeypatch).measure(Plan(budget_s=5))
    assert result.train > 1
    assert result.batches[0].runs_us[0] == pytest.approx(2.0, abs=0.01)


def test_what_a_launch_costs_beside_its_execution_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    for time_us in (2.0, 500.0):
        (first, *_) = Clockwork([time_us], monkeypatch).measure(Plan(budget_s=5)).batches
        assert first.overheads_us[0] == pytest.approx(LAUNCH_US, abs=0.01)
        assert first.walls_us[0] == pytest.approx(LAUNCH_US + time_us, abs=0.01)


def test_a_kernel_that_changes_its_input_gets_it_anew_for_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = Clockwork([500.0], monkeypatch)
    alone.longest_train = 1
    alone.measure(Plan(budget_s=5))
    assert alone.longest_without_restoring == 1

    short = Clockwork([2.0], monkeypatch)
    short.longest_train = 4  # as many sets of buffers
    assert short.measure(Plan(budget_s=5)).train == 4
    assert short.longest_without_restoring == 4


def test_disturbed_batches_are_thrown_away_and_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Clockwork([1000.0], monkeypatch)
    device.disturbed_until_batch = 10
    result = device.measure(Plan(budget_s=60))
    assert result.judged.thrown_away > 0
    assert len(result.batches) == 6
    assert not result.judged.is_busy


def test_on_a_machine_that_stays_busy_the_budget_is_kept_and_enough_batches_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = Clockwork([1000.0], monkeypatch)
    device.disturbed_until_batch = 10**6
    result = device.measure(Plan(budget_s=3))
    assert result.judged.is_busy
    assert len(result.batches) == 6
    assert device.now_s <= 4


@pytest.mark.parametrize("repeats", [1, 5, 13, 100])
@pytest.mark.parametrize("busy", [False, True])
def test_repeats_are_exact(repeats: int, monkeypatch: pytest.MonkeyPatch, *, busy: bool) -> None:
    device = Clockwork([5000.0], monkeypatch)
    device.disturbed_until_batch = 10**6 if busy else 0
    result = device.measure(Plan(5, repeats))
    assert len(runs_of(result.batches)) == repeats
    assert result.judged.is_busy == (busy and repeats > 1)  # one run is too short to have counted others


def test_warming_up_waits_until_the_clock_has_risen(monkeypatch: pytest.MonkeyPatch) -> None:
    rising = [2000.0 - i for i in range(1000)]
    device = Clockwork([*rising, *[1000.0] * 100_000], monkeypatch)
    result = device.measure(Plan(budget_s=60))
    assert repeat_interval(result.batches)[1] < 1200


def test_a_coarse_event_clock_is_noticed_and_averaged_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert clock_step_ns([0, 3000, 4000, 9000, 11000, 15000, 16000, 21000, 26000]) == 1000
    assert clock_step_ns([7, 7]) == 0
    device = Clockwork([31.7], monkeypatch, step_ns=10_000)
    result = device.measure(Plan(budget_s=5))
    assert result.step_us == 10
    assert result.train > 16
    low, high = repeat_interval(result.batches)
    assert low <= 31.7 <= high


def test_a_driver_without_profiling_times_is_a_named_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MeasureError, match="no profiling times"):
        Clockwork([0.0], monkeypatch).measure(Plan(5))
    with pytest.raises(MeasureError, match="no profiling times"):
        Clockwork([0.0], monkeypatch).measure(Plan(5, repeats=2))


def test_memory_that_slept_during_the_pause_is_awake_when_runs_count(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Clockwork([1.0], monkeypatch)
    busy_since_s = 0.0

    def sleeping(seconds: float) -> None:
        nonlocal busy_since_s
        device.now_s += seconds
        busy_since_s = device.now_s

    def times_us() -> Iterator[float]:
        while True:
            yield 4000.0 if device.now_s < busy_since_s + 0.008 else 1000.0

    monkeypatch.setattr(device, "_sleep", sleeping)
    monkeypatch.setattr(timing.time, "sleep", sleeping)
    monkeypatch.setattr(device, "_times", times_us())
    result = device.measure(Plan(budget_s=60))
    assert runs_of(result.batches) == [pytest.approx(1000, abs=0.01)] * len(runs_of(result.batches))
