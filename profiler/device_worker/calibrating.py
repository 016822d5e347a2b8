"""A whole calibration inside the device process: prepare every probe, time them all in rounds, then one profile."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from statistics import median

from model.device import Device, DeviceType, ProfileSource, Rates
from model.device_curves import CALIBRATION_VERSION, Calibration
from profiler.device_worker.calibration import arithmetic, groups, host_side, memory
from profiler.device_worker.calibration.bench import Bench, Target
from profiler.device_worker.calibration.costs import CostProbes, with_outcomes
from profiler.device_worker.calibration.probe import Finish, Probe
from profiler.device_worker.calibration.rounds import Outcome, Plan, Timed, run_rounds
from profiler.device_worker.failures import named_failures
from profiler.device_worker.machine_load import LoadWatch
from profiler.device_worker.main import Reporter
from profiler.device_worker.probing import facts_of, open_device
from profiler.devices import device_of
from profiler.measurement import MeasureError
from profiler.process.messages import AtStake, Phase

PROBE_LIMIT_S = 60.0  # to prepare a probe or to time one of its launches: compilers have been seen to hang
PREPARED = 0.6  # the share of a calibration that goes into preparing it
MOST_FAILURES = 0.5  # of the probes; beyond that, something is wrong with the device


@dataclass(frozen=True, slots=True)
class Effort:
    """How thoroughly to measure."""

    plan: Plan
    target: Target


THOROUGH = Effort(Plan(rounds=5, repeat_s=8.0), Target(1500, 9000))
QUICK = Effort(Plan(rounds=3, repeat_s=1.0), Target(1000, 4000))


def run(device_id: str, quick: bool, skipped: Mapping[int, str], reporter: Reporter) -> Device:
    """Measure all rates of a device, in about a minute on a quiet CPU, or half of that if `quick`.

    What fails is named in `Device.calibration`, and costs its own rates only; so do the probes that are `skipped`, by
    their number and with the reason. Raises MeasureError where most of it fails.
    """
    began = time.monotonic()
    load_average = os.getloadavg()[0]
    effort = QUICK if quick else THOROUGH
    opened = open_device(device_id)
    device = device_of(device_id, facts_of(opened))
    with named_failures("preparing the calibration"):
        bench = Bench(opened, device, effort.target)
    probes = _probes(device, quick=quick)
    if not skipped:  # else what crashed would do so again with all that it is built with
        bench.foresee([source for probe in probes for source in probe.sources])
    session = Session(probes, reporter, dict(skipped))
    session.prepare(bench)
    outcome = run_rounds(bench.launches, effort.plan, LoadWatch, session.on_sample)
    rates = _finished(device, session.finishes(bench))
    failures = session.failures()
    return replace(
        device,
        rates=rates,
        source=ProfileSource.CALIBRATED,
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        noise_percent=round(median(timed.noise_percent for timed in bench.launches if timed.samples), 2),
        note=_note(quick=quick, load_average=load_average, outcome=outcome, failures=failures),
        calibration=Calibration(
            version=CALIBRATION_VERSION,
            is_quick=quick,
            duration_s=round(time.monotonic() - began, 1),
            rounds=effort.plan.rounds,
            repeats=outcome.repeats,
            threads=_threads(device),
            load_average=round(load_average, 2),
            other_load_percent=outcome.other_load_percent,
            failures=failures,
        ),
    )


class Session:
    """The probes of one calibration: which are prepared, which failed and why, and how far it is."""

    def __init__(self, probes: Sequence[Probe], reporter: Reporter, failed: dict[int, str]) -> None:
        self._probes = probes
        self._reporter = reporter
        self._failed = failed
        self._finishes: dict[int, Finish] = {}

    def prepare(self, bench: Bench) -> None:
        """Build and size every probe; a failure is remembered, and the rest stands."""
        for number, probe in enumerate(self._probes):
            if number in self._failed:
                continue
            subject = self._begin(number, PREPARED * number / len(self._probes), probe.what)
            bench.probe = number
            before = len(bench.launches)
            try:
                with named_failures(subject):
                    self._finishes[number] = probe.prepare(bench)
            except MeasureError as error:
                del bench.launches[before:]
                self._fail(number, error.message.removeprefix(f"{subject}: "))

    def on_sample(self, share: float, timed: Timed, when: str) -> None:
        self._begin(timed.probe, PREPARED + (1 - PREPARED) * share, f"{self._probes[timed.probe].what} ({when})")

    def finishes(self, bench: Bench) -> list[Finish]:
        """Of all probes whose launches could be timed, in their order."""
        for timed in bench.launches:
            if timed.failure and timed.probe not in self._failed:
                self._fail(timed.probe, timed.failure)
        return [finish for number, finish in self._finishes.items() if number not in self._failed]

    def failures(self) -> tuple[str, ...]:
        return tuple(f"{self._probes[number].what}: {why}" for number, why in sorted(self._failed.items()))

    def _begin(self, number: int, fraction: float, text: str) -> str:
        subject = f"calibrating ({self._probes[number].what})"
        self._reporter.send(AtStake((number,)))
        self._reporter.begin(fraction, text, Phase(subject, PROBE_LIMIT_S))
        return subject

    def _fail(self, number: int, why: str) -> None:
        self._failed[number] = why
        if len(self._failed) > MOST_FAILURES * len(self._probes):
            raise MeasureError(f"most probes fail on this device; the first: {self.failures()[0]}")


def _probes(device: Device, *, quick: bool) -> list[Probe]:
    return [
        *groups.probes(device, quick=quick),
        *arithmetic.probes(device, quick=quick),
        *memory.probes(device, quick=quick),
        *host_side.probes(device, quick=quick),
        *CostProbes(device, quick=quick).found,
    ]


def _finished(device: Device, prepared: Sequence[Finish]) -> Rates:
    """Return the rates that the driver's facts gave, each replaced by what was measured."""
    rates = replace(device.rates, bandwidth=(), gather=(), strided=(), costs=())
    for finish in prepared:
        rates = finish(rates)
    if not device.has_images:
        rates = replace(rates, image_read_gop_s=0.0)
    rates = memory.with_levels(rates)
    return with_outcomes(rates) if device.type is DeviceType.CPU else rates


def _threads(device: Device) -> int | None:
    """PoCL takes its number from the environment; other runtimes for CPUs, from the cores that they may use."""
    limit = os.environ.get("POCL_MAX_PTHREAD_COUNT", "")
    if device.id.startswith("pocl") and limit.isdecimal():
        return int(limit)
    return device.compute_units if device.type is DeviceType.CPU else None


def _note(*, quick: bool, load_average: float, outcome: Outcome, failures: Sequence[str]) -> str:
    parts = [f"measured {'quickly' if quick else 'thoroughly'}, at a load average of {load_average:.1f}"]
    if outcome.other_load_percent:
        parts.append(f"while others used {outcome.other_load_percent:.0f} % of the machine")
    if failures:
        parts.append(f"without {len(failures)} probes that failed")
    return ", ".join(parts)
