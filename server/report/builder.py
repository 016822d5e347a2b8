"""Puts the facts of a report together from forecasts, the device catalogue and what was measured.

Blocks on the disk and computes for milliseconds a kernel, so it belongs into a thread of its own; it needs no engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from math import prod
from pathlib import Path

from model.device import Device
from model.device_catalog import well_known_devices
from model.faults import contained
from model.forecast import FileForecast, Forecast, Problem
from model.launch.launch import Launch
from model.launch.scaling import scale
from model.measured import Fits
from model.opencl.kernel import Kernel
from model.roofline import roofline
from profiler.devices import distinct_devices
from profiler.measurement import Measurement
from profiler.store import StoredMeasurement, StoreError
from server.analysis.elsewhere import Elsewhere
from server.analysis.sources import MeasuredLaunch, Sources, samples_of
from server.report.facts import (
    DeviceRow,
    HistoryRow,
    KernelFacts,
    LaunchFacts,
    Report,
    SizeMeasured,
    SizePoint,
    Sizes,
)
from server.snapshot import slots_of

History = Callable[[Path | None, str], tuple[StoredMeasurement, ...]]


@dataclass(frozen=True, slots=True)
class Subject:
    """One file of a report. `measured` is what is known beside the store, as from a session that cannot use it."""

    path: Path | None
    label: str
    forecast: FileForecast
    device: Device
    measured: tuple[Measurement, ...] = ()


def gather(
    title: str,
    subjects: Sequence[Subject],
    here: Sequence[Device],
    remembered: Sequence[Device],
    history: History,
    sources: Sources | None = None,
) -> Report:
    """Build the report's content.

    `here` are the devices of this machine, `remembered` those calibrated here once; both with calibrated rates.
    `history` reads the store, and may raise `StoreError`: then the report says why it knows of no measurements. Other
    sizes and devices are predicted from `sources`, as the forecasts were.
    """
    gatherer = _Gatherer(here, remembered, history, sources or Sources())
    kernels = tuple(fact for subject in subjects for fact in gatherer.kernels(subject))
    problems = tuple(f"{subject.label}: {_said(p)}" for subject in subjects for p in subject.forecast.problems)
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    return Report(title, made_at, version("kernelcast"), kernels, problems)


class _Gatherer:
    def __init__(
        self, here: Sequence[Device], remembered: Sequence[Device], history: History, sources: Sources
    ) -> None:
        self._here = {device.id for device in here}
        self._own = (*here, *remembered)
        self._history = history
        self._elsewhere = Elsewhere(sources)
        self._fits = Fits()

    def kernels(self, subject: Subject) -> list[KernelFacts]:
        return [self._kernel(subject, kernel) for kernel in subject.forecast.kernels]

    def _kernel(self, subject: Subject, kernel: Kernel) -> KernelFacts:
        forecasts = [forecast for _, forecast in slots_of(subject.forecast, kernel)]
        stored, problem = self._stored(subject, kernel)
        return KernelFacts(
            kernel.name,
            subject.label,
            kernel.name_range.start_line + 1,
            subject.device,
            tuple(self._launch_or_problem(subject, forecast, stored) for forecast in forecasts),
            tuple(_history_row(each, kernel, forecasts) for each in stored),
            problem,
            subject.device.id in self._here,
        )

    def _stored(self, subject: Subject, kernel: Kernel) -> tuple[list[StoredMeasurement], str]:
        """Return the newest first, those of this session among them even if they could not be kept."""
        problem, found = "", list[StoredMeasurement]()
        try:
            found = list(self._history(subject.path, kernel.name))
        except StoreError as error:
            problem = error.message
        kept = {stored.measurement for stored in found}
        predicted = {
            f.launch.key: f.prediction.runtime_us.p50 for f in subject.forecast.forecasts if f.launch and f.prediction
        }
        own = [m for m in subject.measured if m.kernel == kernel.name and m not in kept]
        found += [StoredMeasurement(m, predicted.get(m.launch_key), "") for m in own]
        return sorted(found, key=lambda stored: stored.measurement.measured_at, reverse=True), problem

    def _launch_or_problem(
        self, subject: Subject, forecast: Forecast, stored: Sequence[StoredMeasurement]
    ) -> LaunchFacts:
        """Return a launch that a mistake of ours spoils says so in its place; the others are reported."""
        found = contained("reporting a launch", partial(self._launch, subject, forecast, stored))
        if isinstance(found, LaunchFacts):
            return found
        problem = Problem(found.code, found.message, found.line)
        return LaunchFacts("no launch", replace(forecast, launch=None, prediction=None, problem=problem))

    def _launch(self, subject: Subject, forecast: Forecast, stored: Sequence[StoredMeasurement]) -> LaunchFacts:
        launch, prediction = forecast.launch, forecast.prediction
        if launch is None or prediction is None:
            return LaunchFacts("no launch", forecast)
        every = [MeasuredLaunch(s.measurement, s.launch) for s in stored]
        runs = [run for run in every if _is_of(run.measurement, forecast.kernel, subject.device)]
        same = [run.measurement for run in runs]
        return LaunchFacts(
            launch.name or launch.describe(),
            forecast,
            next((m for m in same if m.launch_key == launch.key), None),
            roofline(prediction, subject.device),
            self._sizes(forecast, subject, same, runs),
            self._devices(forecast, subject, every),
        )

    def _sizes(
        self, forecast: Forecast, subject: Subject, measured: Sequence[Measurement], runs: Sequence[MeasuredLaunch]
    ) -> Sizes | None:
        kernel, work, spec, launch = forecast.kernel, forecast.work, forecast.spec, forecast.launch
        if work is None or spec is None or launch is None:
            return None
        device = subject.device
        scaled = scale(kernel, work, spec, launch, device)
        points = []
        samples = samples_of(runs, launch, device, {launch.key: launch})
        line = self._fits.line(work, launch, device, samples)
        wanted = [(each.launch, device) for each in scaled.launches]
        predictions = self._elsewhere.predicted(forecast, device, wanted, runs, subject.path)
        for each, prediction in zip(scaled.launches, predictions, strict=True):
            is_current = each.launch is launch
            points.append(
                SizePoint(
                    each.launch.work_items,
                    each.factor,
                    each.launch.describe(),
                    prediction.runtime_us,
                    prediction.bound,
                    is_current,
                )
            )
        return Sizes(scaled.plan, tuple(points), _at_sizes(measured, launch), scaled.stopped, line)

    def _devices(self, forecast: Forecast, subject: Subject, runs: Sequence[MeasuredLaunch]) -> tuple[DeviceRow, ...]:
        """Return the devices, fastest first; those that cannot run the launch last."""
        current = subject.device
        known = distinct_devices([current, *self._own], well_known_devices())
        others = [each for each in known if each.id != current.id]
        found = self._elsewhere.on_devices(forecast, current, others, runs, subject.path)
        rows = [
            DeviceRow(
                each.device,
                each.device.id in self._here,
                each.device.id == current.id,
                each.prediction,
                each.problem,
                each.ratio,
            )
            for each in found
        ]
        return tuple(sorted(rows, key=lambda r: (r.prediction is None, _p50(r), r.device.name)))


def _history_row(stored: StoredMeasurement, kernel: Kernel, forecasts: Sequence[Forecast]) -> HistoryRow:
    m = stored.measurement
    launches = [f.launch for f in forecasts if f.launch is not None]
    name = next((x.name or x.describe() for x in launches if x.key == m.launch_key), None)
    return HistoryRow(m, stored.predicted_us, stored.error_percent, name, m.kernel_fingerprint == kernel.fingerprint)


def _is_of(m: Measurement, kernel: Kernel, device: Device) -> bool:
    return m.kernel_fingerprint == kernel.fingerprint and m.device_id == device.id


def _at_sizes(measured: Sequence[Measurement], launch: Launch) -> tuple[SizeMeasured, ...]:
    """Return the newest measurement at each size that was run with the same work-groups.

    A launch of the same size with other arguments is another problem, and has no place on this chart.
    """
    found: dict[int, SizeMeasured] = {}
    local = launch.describe().partition(" / ")[2]
    for m in measured:
        size, _, group = m.launch.partition(" / ")
        items = prod(int(number) for number in re.findall(r"\d+", size))
        is_other_problem = items == launch.work_items and m.launch_key != launch.key
        if group == local and items and not is_other_problem:
            found.setdefault(items, SizeMeasured(items, m.median_us, m.p10_us, m.p90_us))
    return tuple(found[items] for items in sorted(found))


def _p50(row: DeviceRow) -> float:
    return row.prediction.runtime_us.p50 if row.prediction else 0.0


def _said(problem: Problem) -> str:
    return f"{problem.message} (line {problem.line})" if problem.line else problem.message
