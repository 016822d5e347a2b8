"""`Predictor.predict` is the one place that makes a prediction, from a kernel's work and all else that is known of it.

The analytical model prices what was counted, exactly where a compiler's output is known. The learned model's answer
replaces its time, and measurements of the kernel replace both. What comes later is composed anew, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from cachetools import LRUCache

from model.analytic.launch_times import launch_times
from model.assumptions import assumptions_of, doubt_of
from model.compiled_occupancy import OfflineFacts
from model.costs import costs_of
from model.device import Device, DeviceType
from model.gpu_intervals import Margins, margins_of
from model.host_cost import host_cost_us
from model.launch.driver_choice import on_device
from model.launch.launch import Launch
from model.learned.estimate import estimate
from model.learned.question import Answer, Question
from model.line_remap import PlacedCounts
from model.measured import Fits
from model.measured import Sample as MeasuredSample
from model.prediction import ModelEstimate, Prediction, Quantiles
from model.shares import LineCosts
from model.throughput.cpu_code import CpuCode, KnownCode
from model.work.walk.sample import Sample
from model.work.work import Work
from model.work.work_counts import WorkCounts

# The factor between p50 and p90 (and p10) of the analytical model alone on CPUs and others: how far it was off on
# kernels of our own, by whether the device is calibrated.
_SPREAD = {True: 2.5, False: 4.0}
# Where what a CPU's runtime makes of code was measured, too: so that four of five design kernels (tests/accuracy/design
# and tests/kernels, on PoCL and on Intel's runtime) lie within p10 to p90.
_COSTS_SPREAD = 2.0
_COUNTS_KEPT = 64


@dataclass(frozen=True)
class LateInputs:
    """What is known of a launch beside its source, as far as it has come in.

    `answer` is the learned model's to `question`. `measured` are launches of the same kernel, under the same build
    options, on the same device and driver; the newest come first.
    """

    question: Question | None = None
    answer: Answer | None = None
    measured: tuple[MeasuredSample, ...] = ()

    @cached_property
    def learned(self) -> ModelEstimate | None:
        """What the answer says of the launch."""
        if self.question is None or self.answer is None:
            return None
        return estimate(self.question, self.answer)


NO_LATE_INPUTS = LateInputs()


class Predictor:
    """Predicts, and remembers: the cache is keyed by work, launch and device. Not for two threads at once."""

    def __init__(self, cache_size: int = 4096) -> None:
        self._cache: LRUCache[tuple[Work, Launch, Device, KnownCode | None, Sample | None], Prediction] = LRUCache(
            cache_size
        )
        self._counts: LRUCache[tuple[Work, Launch, Sample | None], WorkCounts] = LRUCache(_COUNTS_KEPT)
        self._fits = Fits()

    def predict(
        self,
        work: Work,
        launch: Launch,
        device: Device,
        code: KnownCode | None = None,
        late: LateInputs = NO_LATE_INPUTS,
    ) -> Prediction:
        """Return the runtime of `launch` of the kernel whose work this is. Never below its bounds.

        `code` is what the device's compiler made of the kernel; without it, that is estimated from the source.
        """
        key = (work, launch, device, code, work.sample_for(launch))
        found = self._cache.get(key)
        if found is None:
            counts = self._count(work, on_device(launch, device))
            found = self._cache[key] = _analytic(work, counts, launch, device, code)
        return found if late is NO_LATE_INPUTS else self.with_late_inputs(found, work, launch, device, late)

    def with_late_inputs(
        self, prediction: Prediction, work: Work, launch: Launch, device: Device, late: LateInputs
    ) -> Prediction:
        """Return an earlier prediction of `launch` with what has come in since; nothing is counted or priced anew.

        Parts that `late` does not hold stay as they are.
        """
        if late.learned is not None:
            prediction = prediction.answered(late.learned)
        through = self._fits.through(work, launch, device, late.measured) if late.measured else None
        return replace(prediction, through=through) if through is not None else prediction

    def unsettled(self, work: Work, launch: Launch, device: Device, late: LateInputs) -> tuple[Launch, ...]:
        """Return the measured launches that count only once some of their work-items were run: see `Fits`."""
        return self._fits.unsettled(work, launch, device, late.measured)

    def _count(self, work: Work, launch: Launch) -> WorkCounts:
        """Count a launch's work, once for all devices: it is the same on each, unless drivers choose local sizes."""
        sample = work.sample_for(launch)
        found = self._counts.get((work, launch, sample))
        if found is None:
            found = self._counts[work, launch, sample] = work.count(launch, sample)
        return found


def _analytic(work: Work, counts: WorkCounts, launch: Launch, device: Device, code: KnownCode | None) -> Prediction:
    """Return the prediction by the analytical model alone."""
    offline = code if isinstance(code, OfflineFacts) else None
    times = launch_times(counts, device, offline)
    assumptions = assumptions_of(work, counts, launch)
    margins = own_margins(device).widened(doubt_of(assumptions))
    p50 = times.bounded_us
    if isinstance(code, CpuCode):
        from model.throughput.code_time import with_code_us  # noqa: PLC0415 - loads NumPy

        p50 = with_code_us(work, counts, device, times, code)
    return Prediction(
        analytic_range_us=Quantiles(p50 * margins.below, p50, p50 * margins.above).at_least(times.floor_us),
        counted=PlacedCounts(counts, assumptions, LineCosts(counts, device)),
        device_id=device.id,
        device_name=device.name,
        calibrated=device.calibrated,
        is_guessed=any(each.is_guess for each in assumptions),
        analytic_times=times,
        code=offline,
        host_cost_us=host_cost_us(device),
    )


def own_margins(device: Device) -> Margins:
    """Return the way from p50 to p10 and p90 where nothing had to be assumed."""
    if device.type is DeviceType.GPU:
        return margins_of(device)
    spread = _COSTS_SPREAD if costs_of(device) is not None else _SPREAD[device.calibrated]
    return Margins(1 / spread, spread)
