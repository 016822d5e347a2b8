"""What a driver cannot do costs the rates of one probe, by name; the rest of the calibration stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from model.device import Device, Rates
from model.device_catalog import find_builtin
from profiler import calibrate as calibrating
from profiler.device_worker.calibrating import Session
from profiler.device_worker.calibration.probe import Finish, Probe
from profiler.device_worker.calibration.rounds import Sample, Timed
from profiler.measurement import KernelCrashed, MeasureError, TimedOut
from profiler.process.messages import AtStake


class Reporter:
    """What the user would hear."""

    def __init__(self) -> None:
        self.heard: list[tuple[float, str]] = []

    def send(self, message: object) -> None:
        pass

    def begin(self, fraction: float, text: str, _phase: object) -> None:
        self.heard.append((fraction, text))


class Bench:
    """Takes launches, and has no device."""

    def __init__(self) -> None:
        self.launches: list[Timed] = []
        self.probe = 0


def sound(rate: float) -> Probe:
    def prepare(bench: Any) -> Finish:
        timed = Timed(lambda: 1.0, items=1, runs=1, probe=bench.probe, samples=[Sample(1.0, is_disturbed=False)])
        bench.launches.append(timed)
        return lambda rates: replace(rates, fp32_gflop_s=rate)

    return Probe("float arithmetic", prepare)


def broken(bench: Any) -> Finish:
    bench.launches.append(Timed(lambda: 1.0, items=1, runs=1, probe=bench.probe))
    raise MeasureError("calibrating (half arithmetic): the compiler gave up")


def session(probes: list[Probe], skipped: dict[int, str] | None = None) -> tuple[Any, Any, Reporter]:
    reporter, bench = Reporter(), Bench()
    return Session(probes, reporter, skipped or {}), bench, reporter  # type: ignore[arg-type]


@pytest.fixture
def rates() -> Rates:
    found = find_builtin("generic-gpu")
    assert found is not None
    return found.rates


def test_a_probe_that_does_not_build_is_named_and_the_next_still_measured(rates: Rates) -> None:
    made, bench, _ = session([Probe("half arithmetic", broken), sound(7.0), sound(8.0)])
    made.prepare(bench)
    for finish in made.finishes(bench):
        rates = finish(rates)
    assert rates.fp32_gflop_s == 8.0
    assert made.failures() == ("half arithmetic: the compiler gave up",)
    assert {timed.probe for timed in bench.launches} == {1, 2}


def test_a_probe_that_fails_while_it_is_timed_is_named_too() -> None:
    made, bench, _ = session([sound(7.0), sound(8.0), sound(9.0)])
    made.prepare(bench)
    bench.launches[1].failure = "the device ran out of registers"
    assert len(made.finishes(bench)) == 2
    assert made.failures() == ("float arithmetic: the device ran out of registers",)


def test_a_device_on_which_most_probes_fail_is_not_called_calibrated() -> None:
    made, bench, _ = session([Probe("half arithmetic", broken)] * 3)
    with pytest.raises(MeasureError, match=r"most probes fail .* half arithmetic: the compiler gave up"):
        made.prepare(bench)


def test_a_probe_that_ended_an_earlier_process_is_not_tried_again() -> None:
    made, bench, reporter = session([sound(7.0), sound(8.0)], {0: "it crashed"})
    made.prepare(bench)
    assert len(bench.launches) == 1
    assert made.failures() == ("float arithmetic: it crashed",)
    assert len(reporter.heard) == 1


class Attempts:
    """Stands in for device processes: each is at some probe when it ends as told."""

    def __init__(self, *ends: tuple[int | None, MeasureError], device: Device) -> None:
        self.ends = list(ends)
        self.device = device
        self.skipped: list[dict[int, str]] = []

    def __call__(self, _target: str, arguments: tuple[str, bool, Mapping[int, str]], **how: Any) -> Device:
        self.skipped.append(dict(arguments[2]))
        how["on_progress"](0.1 / len(self.skipped), "some probe")
        if not self.ends:
            return self.device
        probe, error = self.ends.pop(0)
        if probe is not None:
            how["on_task"](AtStake((probe,)))
        raise error


@pytest.fixture
def gpu() -> Device:
    found = find_builtin("generic-gpu")
    assert found is not None
    return found


def attempt(monkeypatch: pytest.MonkeyPatch, attempts: Attempts) -> tuple[Device, list[float]]:
    monkeypatch.setattr(calibrating, "run_job", attempts)
    heard: list[float] = []
    return calibrating.calibrate("gpu", on_progress=lambda fraction, _: heard.append(fraction)), heard


def test_a_probe_that_crashes_or_hangs_the_driver_is_left_out_of_the_next_attempt(
    monkeypatch: pytest.MonkeyPatch, gpu: Device
) -> None:
    attempts = Attempts((3, KernelCrashed("it crashed")), (9, TimedOut("it hung")), device=gpu)
    device, heard = attempt(monkeypatch, attempts)
    assert device == gpu
    assert attempts.skipped == [{}, {3: "it crashed"}, {3: "it crashed", 9: "it hung"}]
    assert heard == sorted(heard)


def test_a_driver_that_crashes_before_any_probe_is_reported_at_once(
    monkeypatch: pytest.MonkeyPatch, gpu: Device
) -> None:
    with pytest.raises(KernelCrashed):
        attempt(monkeypatch, Attempts((None, KernelCrashed("it crashed")), device=gpu))


def test_a_driver_that_crashes_again_and_again_is_given_up(monkeypatch: pytest.MonkeyPatch, gpu: Device) -> None:
    crashes = [(probe, KernelCrashed(f"it crashed at {probe}")) for probe in range(50)]
    attempts = Attempts(*crashes, device=gpu)
    with pytest.raises(KernelCrashed):
        attempt(monkeypatch, attempts)
    assert len(attempts.skipped) < 10
