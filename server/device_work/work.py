"""Functions for the device thread: each blocks, and hands the work to a child process."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from model.compile_targets import target_named
from model.compiled import FactsKey, key_of
from model.device import Device
from model.device_catalog import builtin_devices, well_known_devices
from model.errors import LaunchError
from model.fit import Fit
from model.forecast import Forecast
from model.launch.launch import Launch
from model.learned.lessons import Lessons, packed
from model.measured import Fits
from model.opencl.kernel import Kernel
from model.opencl.options import BuildOptions
from model.sizes_to_measure import SizeChoice, sizes_to_measure
from profiler.calibrate import calibrate
from profiler.compile_cache import Outcome, collect_facts
from profiler.compiling import CompileLimits, CompileRequest, compile_program
from profiler.devices import discover, distinct_devices, with_calibrations
from profiler.measure import MeasureLimits, measure_all
from profiler.measurement import MeasureError, Measurement, MeasureRequest
from profiler.offline.compiling import compile_offline, offline_driver
from profiler.process.messages import Phase
from profiler.process.worker import CancelToken, Limits, run_job
from profiler.side_by_side import SideBySide, measure_side_by_side
from profiler.store import BUSY_TIMEOUT_S, Store, StoredMeasurement, StoreError, kernel_id
from server.analysis.composer import Composer
from server.analysis.sources import MeasuredLaunch, Sources, samples_of
from server.analysis.store_cache import PATIENCE_S
from server.device_work.jobs import OnProgress
from server.device_work.orders import BUDGET_S as TUNE_BUDGET_S
from server.device_work.orders import ProgramOrder, ProgramPage, TuneOrder, TuneOutcome
from server.device_work.verified_launches import with_proofs
from server.text.learned import figure_words, learned_words

if TYPE_CHECKING:
    from profiler.learning import Turns

# Nobody waits for these, and whoever types must not feel them: on a busy machine they take many times as long.
TUNE_LIMIT_S = 3600.0
PROGRAM_LIMIT_S = 600.0
UNHURRIED = CompileLimits(open_s=120.0, build_s=120.0, niceness=10)


@dataclass(frozen=True, slots=True)
class Learned:
    """`text` says what is known of a device now, `figures` how good predictions are there."""

    text: str
    kernels: int
    launches: int
    figures: tuple[str, ...]
    disturbed: int = 0  # launches that are left out, as others used the machine
    is_mostly_disturbed: bool = False


class DeviceWork:
    """All work that needs a device or the disk."""

    def discover(self, cancel: threading.Event) -> tuple[Device, ...]:
        """Return all devices of this machine, without their calibrations if the store cannot be read."""
        return with_calibrations(discover(cancel=cancel), self._profiles())

    def measure_all(
        self,
        requests: Sequence[MeasureRequest],
        driver: str,
        time_limit_s: float,
        on_progress: OnProgress,
        cancel: threading.Event,
    ) -> tuple[Measurement | MeasureError, ...]:
        limits = MeasureLimits(first_run_s=time_limit_s)
        # A locked store is waited for once, when the result is kept: without earlier proofs they are made anew.
        proved = with_proofs(requests, driver, self._store(PATIENCE_S))
        return measure_all(proved, limits=limits, on_progress=on_progress, cancel=cancel)

    def side_by_side(
        self,
        requests: Sequence[MeasureRequest],
        budget_s: float,
        time_limit_s: float,
        on_progress: OnProgress,
        cancel: threading.Event,
    ) -> SideBySide:
        """Measure versions of one launch in turns, and compare what they write with the first one's outputs."""
        limits = MeasureLimits(first_run_s=time_limit_s)
        return measure_side_by_side(requests, budget_s=budget_s, limits=limits, on_progress=on_progress, cancel=cancel)

    def sizes(self, forecast: Forecast, device: Device) -> SizeChoice:
        """Return the sizes at which to measure the launch of a forecast. Needs no device; takes milliseconds."""
        if forecast.work is None or forecast.spec is None or forecast.launch is None:
            raise LaunchError("its launch is not known")
        return sizes_to_measure(forecast.kernel, forecast.work, forecast.spec, forecast.launch, device)

    def fit(self, forecast: Forecast, runs: Sequence[MeasuredLaunch], device: Device) -> Fit | None:
        """Return the line through these runs of a forecast's kernel."""
        if forecast.work is None or forecast.launch is None:
            return None
        return Fits().line(forecast.work, forecast.launch, device, samples_of(runs, forecast.launch, device))

    def asked(self, forecast: Forecast) -> bytes:
        """Return the model input of a launch, to be kept beside its measurement."""
        return packed(forecast.question) if forecast.question is not None else b""

    def asked_at(self, forecast: Forecast, launch: Launch, device: Device) -> bytes:
        """Return the model input of another launch of the forecast's kernel. Takes milliseconds."""
        if forecast.question is None or forecast.work is None:
            return b""
        return self.asked(Composer().at(forecast, launch, device, Sources(is_taught=lambda _: True)))

    def tune_order(
        self,
        *,
        text: str,
        path: Path,
        forecast: Forecast,
        number: int,
        device: Device,
        options: BuildOptions,
        limits_s: tuple[float, float],
    ) -> TuneOrder:
        """Return what `tune` is to search; `limits_s` are of timed turns for each candidate, and of one run."""
        kernel, (budget_s, time_limit_s) = forecast.kernel, limits_s
        budget_s = min(TUNE_BUDGET_S, budget_s)
        return TuneOrder(text, path, kernel.name, kernel.range, number, device, options, budget_s, time_limit_s)

    def tune(self, order: TuneOrder, on_progress: OnProgress, cancel: threading.Event) -> TuneOutcome:
        """Search in a process of its own: it loads the learned model, and is gone as soon as it is cancelled."""
        limits = Limits(Phase("the search for a faster launch", TUNE_LIMIT_S))
        target = "server.tuning.job:run"
        return run_job(target, (order,), returns=TuneOutcome, limits=limits, on_progress=on_progress, cancel=cancel)

    def program(self, order: ProgramOrder, on_progress: OnProgress, cancel: threading.Event) -> ProgramPage:
        """Predict a whole program in a process of its own: it loads the learned model."""
        limits = Limits(Phase("the prediction of the program", PROGRAM_LIMIT_S))
        target = "server.program.job:run"
        return run_job(target, (order,), returns=ProgramPage, limits=limits, on_progress=on_progress, cancel=cancel)

    def run(self, measurement: Measurement, launch: Launch, question: bytes, document: str) -> MeasuredLaunch:
        return MeasuredLaunch(measurement, launch, question, document)

    def keep(self, entries: Sequence[tuple[Measurement, float | None, Launch, bytes]], path: str | None) -> None:
        """Keep measurements, each with its predicted time, its launch and its model input."""
        Store.open().add(
            *(
                StoredMeasurement(m, predicted, kernel_id(path, m.kernel), launch, question)
                for m, predicted, launch, question in entries
            )
        )

    def compile_request(
        self, source: str, path: str | None, kernel: Kernel, launch: Launch, device_id: str
    ) -> CompileRequest:
        return CompileRequest(source, path, kernel, launch, device_id)

    def launch_of(self, options: BuildOptions) -> Launch:
        """Return a launch that decides nothing but how its kernel is built."""
        return Launch((1,), None, (), (), options=options)

    def compile(
        self, requests: Sequence[CompileRequest], driver: str, cancel: threading.Event
    ) -> dict[FactsKey, Outcome]:
        """Return what is known of these kernels' code, compiling what is not known; all have one source and options."""
        return collect_facts(self._store(), requests, driver, cancel, _compiled_unhurried)

    def compile_offline(
        self, requests: Sequence[CompileRequest], target: str, cancel: threading.Event
    ) -> dict[FactsKey, Outcome]:
        """Compile these kernels with the offline compilers, for a GPU that is not here. Raises ToolMissing."""
        driver = offline_driver(target_named(target))
        orders = [replace(request, device_id=target) for request in requests]
        found = collect_facts(self._store(), orders, driver, cancel, _compiled_offline)
        return {
            key_of(r.kernel, r.launch, r.device_id): found[key_of(order.kernel, order.launch, target)]
            for r, order in zip(requests, orders, strict=True)
        }

    def _store(self, busy_timeout_s: float = BUSY_TIMEOUT_S) -> Store | None:
        try:
            return Store.open(busy_timeout_s=busy_timeout_s)
        except StoreError:  # said by the analysis thread already
            return None

    def _profiles(self) -> tuple[Device, ...]:
        try:
            return Store.open().profiles()
        except StoreError:  # said by the analysis thread already
            return ()

    def calibrate(self, device: Device, on_progress: OnProgress, cancel: threading.Event) -> Device:
        profile = calibrate(device.id, on_progress=on_progress, cancel=cancel)
        Store.open().save_profile(profile)
        return profile

    def learn(
        self, device: Device, minutes: float | None, on_progress: OnProgress, cancel: threading.Event, turns: Turns
    ) -> Learned:
        """Measure kernels of the corpus; without `minutes` as many as belong to a calibration. Kept when cancelled.

        Whoever wants the device meanwhile has it first: `turns`.
        Figures are made in a process of their own, which may load the learned model. Raises StoreError.
        """
        from profiler.learning import KERNELS, MINUTES, learn  # noqa: PLC0415 - loads all of the generator

        most = KERNELS if minutes is None else None
        done = learn(
            device,
            Store.open(),
            minutes=minutes or MINUTES,
            most_kernels=most,
            on_progress=on_progress,
            cancel=cancel,
            turns=turns,
        )
        lessons = Lessons.of(Store.open().lessons(device.id, device.driver))
        figures: tuple[str, ...] = ()
        with contextlib.suppress(MeasureError):  # what was learned counts without them
            found = run_job("profiler.device_worker.judging:run", (lessons,), returns=tuple)
            figures = tuple(text for each in found for text in figure_words(each))
        text = learned_words(device.id, done)
        return Learned(text, done.kernels, done.launches, figures, done.disturbed, done.is_mostly_disturbed)

    def known(self, found: tuple[Device, ...]) -> tuple[Device, ...]:
        """Return all devices that predictions can be for; this machine's first, well-known ones next."""
        remembered = self._profiles()
        return distinct_devices(
            (*with_calibrations(found, remembered), *remembered), (*well_known_devices(), *builtin_devices())
        )

    def shipped(self) -> tuple[Device, ...]:
        """Return the well-known devices to offer; settings and `kernelcast.toml` accept the ids of all others too."""
        return well_known_devices()


def _compiled_unhurried(requests: Sequence[CompileRequest], cancel: CancelToken) -> Sequence[Outcome]:
    return compile_program(requests, limits=UNHURRIED, cancel=cancel)


def _compiled_offline(requests: Sequence[CompileRequest], _cancel: CancelToken) -> Sequence[Outcome]:
    return compile_offline(requests)
