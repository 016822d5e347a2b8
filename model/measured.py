"""The time of a launch that was not measured, through the measurements of other launches of the same kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cachetools import LRUCache

from model.account import Times
from model.analytic.launch_times import launch_times
from model.device import Device
from model.fit import MAX_POINTS, Fit, Point, fit
from model.launch.driver_choice import on_device
from model.launch.launch import Launch
from model.prediction import Quantiles, Through
from model.work.sampled import is_open
from model.work.work import Work

_KEPT = 1024


@dataclass(frozen=True, slots=True)
class Sample:
    """One measured launch of a kernel; samples come newest first.

    `noise` is half of the median's 95 % interval, as a part of the median.
    """

    launch: Launch
    measured_us: float
    noise: float = 0.0


@dataclass(frozen=True, slots=True)
class _Counted:
    """Analytical times of a launch. `is_open`: running some of its work-items would tell what is assumed there."""

    times: Times
    is_open: bool


@dataclass(frozen=True, slots=True)
class _Line:
    """`beaten` is what is left of a bound that a sample was faster than; 1 where none was."""

    fit: Fit
    beaten: float


class Fits:
    """Lines through samples, remembered with each launch's analytical times. Not for two threads at once."""

    def __init__(self) -> None:
        self._counted: LRUCache[tuple[object, ...], _Counted] = LRUCache(_KEPT)
        self._lines: LRUCache[tuple[object, ...], _Line | None] = LRUCache(_KEPT)

    def through(self, work: Work, launch: Launch, device: Device, samples: Sequence[Sample]) -> Through | None:
        """Return the time of `launch` as the samples' own line has it; None where there is no line.

        The samples must be of the kernel whose work this is, under the same build options, on this device and driver.
        Within its bounds, except where a sample was faster than they say: then they are as much lower. Samples that are
        `unsettled` are left out: how much work was in them is not known.
        """
        alike = _alike(launch, samples)
        line = self._line(work, alike, device)
        if line is None:
            return None
        times = self._analytic(work, launch, device).times
        work_us = _work_us(times, device)
        middle_us, spread = line.fit.runtime_us(work_us), line.fit.spread(work_us)
        runtime_us = Quantiles(middle_us / spread, middle_us, middle_us * spread).at_least(times.floor_us * line.beaten)
        items = [each.launch.work_items for each in self._settled(work, alike, device)]
        return Through(runtime_us, line.fit, min(items), max(items))

    def unsettled(self, work: Work, launch: Launch, device: Device, samples: Sequence[Sample]) -> tuple[Launch, ...]:
        """Return the measured launches whose loops or branches the data decide, and of which no work-items were run."""
        alike = _alike(launch, samples)
        return tuple(each.launch for each in alike if self._analytic(work, each.launch, device).is_open)

    def line(self, work: Work, launch: Launch, device: Device, samples: Sequence[Sample]) -> Fit | None:
        """Return what `through` predicts `launch` by."""
        found = self._line(work, _alike(launch, samples), device)
        return found.fit if found else None

    def _line(self, work: Work, samples: tuple[Sample, ...], device: Device) -> _Line | None:
        key = (work, samples, device, tuple(work.samples))
        if key not in self._lines:
            settled = self._settled(work, samples, device)
            timed = [(each, self._analytic(work, each.launch, device).times) for each in settled]
            points = [Point(_work_us(times, device), each.measured_us, each.noise) for each, times in timed]
            found = fit(points, device.rates.launch_floor_us)
            beaten = min((each.measured_us / times.floor_us for each, times in timed), default=1.0)
            self._lines[key] = None if found is None else _Line(found, min(1.0, beaten))
        return self._lines[key]

    def _settled(self, work: Work, samples: Sequence[Sample], device: Device) -> tuple[Sample, ...]:
        return tuple(each for each in samples if not self._analytic(work, each.launch, device).is_open)

    def _analytic(self, work: Work, launch: Launch, device: Device) -> _Counted:
        key = (work, launch, device, work.sample_for(launch))
        found = self._counted.get(key)
        if found is None:
            counts = work.count(on_device(launch, device))
            found = self._counted[key] = _Counted(launch_times(counts, device), is_open(work, launch, counts))
        return found


def _alike(launch: Launch, samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """Prefer those in groups of the same size: the analytical model knows other groups' cost less well than sizes'."""
    newest = {sample.launch.key: sample for sample in reversed(samples)}.values()
    known = tuple(reversed(newest))[:MAX_POINTS]
    return tuple(s for s in known if s.launch.local_size == launch.local_size) or known


def _work_us(times: Times, device: Device) -> float:
    return max(0.0, times.total_us - device.rates.launch_floor_us)
