"""Measuring stops when the figure is known well enough, when the budget is spent, or after as many runs as asked."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from types import SimpleNamespace
from typing import Any

import pytest

from profiler.child import timing
from profiler.child.timing import Plan, Timing, time_launch
from profiler.measurement import MeasureError


class Clockwork:
    """A device whose launches take what it is told, on a clock of its own."""

    def __init__(self, times_us: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
        self._times: Iterator[float] = cycle(times_us)
        self.now_s = 0.0
        self.launches = 0
        self.resets = 0
        monkeypatch.setattr(timing, "time", SimpleNamespace(monotonic=lambda: self.now_s, sleep=self._sleep))
        monkeypatch.setattr(timing.cl, "wait_for_events", lambda events: None)

    def _sleep(self, seconds: float) -> None:
        self.now_s += seconds

    def launch(self) -> Any:
        took_us = next(self._times)
        self.launches += 1
        self.now_s += took_us / 1e6
        return SimpleNamespace(profile=SimpleNamespace(start=0, end=took_us * 1000))

    def reset(self) -> None:
        self.resets += 1

    def measure(self, plan: Plan) -> Timing:
        queue: Any = SimpleNamespace(finish=lambda: None)
        return time_launch(self.launch, queue, plan, reset=self.reset, on_batch=lambda share: None)


def test_a_steady_kernel_is_known_after_six_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Clockwork([1000.0], monkeypatch)
    result = device.measure(Plan(budget_s=60))
    assert len(result.batches_us) == 6
    assert result.interval_us() == (1000, 1000)
    assert device.resets == 6


def test_an_unsteady_kernel_is_measured_until_the_budget_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Clockwork([300_000.0, 500_000.0, 900_000.0], monkeypatch)
    result = device.measure(Plan(budget_s=10))
    assert not result.is_settled()
    assert 5 < device.now_s <= 11


def test_one_long_run_is_an_answer_too(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Clockwork([8e6], monkeypatch)
    assert device.measure(Plan(budget_s=5)).runs_us == [8e6]


def test_tiny_kernels_run_in_trains_but_not_so_long_that_their_data_decay(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Clockwork([2.0], monkeypatch)
    result = device.measure(Plan(budget_s=5))
    assert result.runs_us[0] == pytest.approx(2.0)
    assert device.launches / device.resets <= 70


@pytest.mark.parametrize("repeats", [1, 5, 13, 100])
def test_repeats_are_exact(repeats: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(Clockwork([50.0], monkeypatch).measure(Plan(5, repeats)).runs_us) == repeats


def test_a_driver_without_profiling_times_is_a_named_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MeasureError, match="no profiling times"):
        Clockwork([0.0], monkeypatch).measure(Plan(5))
