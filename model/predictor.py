"""`Predictor`: kernel's work + launch + device -> prediction by the laws. `model.learned` makes it better."""

from __future__ import annotations

from cachetools import LRUCache

from model.assumptions import assumptions_of, doubt_of
from model.bounds import within_bounds
from model.compiled_occupancy import OfflineFacts
from model.costs import costs_of
from model.device import Device, DeviceType
from model.gpu_intervals import Margins, margins_of
from model.host_cost import host_cost_us
from model.launch.driver_choice import on_device
from model.launch.launch import Launch
from model.laws import launch_times
from model.prediction import Basis, Prediction, Quantiles
from model.shares import LineCosts
from model.throughput.cpu_code import CpuCode, KnownCode
from model.work.walk.sample import Sample
from model.work.work import Work
from model.work.work_counts import WorkCounts

# The factor between p50 and p90 (and p10) of the laws alone on CPUs and others: how far they were off on kernels of our
# own, by whether the device is calibrated.
_SPREAD = {True: 2.5, False: 4.0}
# Where what a CPU's runtime makes of code was measured, too: so that four of five design kernels (tests/accuracy/design
# and tests/kernels, on PoCL and on Intel's runtime) lie within p10 to p90.
_COSTS_SPREAD = 2.0
_COUNTS_KEPT = 64


class Predictor:
    """Predicts, and remembers: the cache is keyed by work, launch and device. Not for two threads at once."""

    def __init__(self, cache_size: int = 4096) -> None:
        self._cache: LRUCache[tuple[Work, Launch, Device, KnownCode | None, Sample | None], Prediction] = LRUCache(
            cache_size
        )
        self._counts: LRUCache[tuple[Work, Launch, Sample | None], WorkCounts] = LRUCache(_COUNTS_KEPT)

    def predict(self, work: Work, launch: Launch, device: Device, code: KnownCode | None = None) -> Prediction:
        """The runtime of `launch` of the kernel whose work this is. Never below its bounds.

        `code` is what the device's compiler made of the kernel; without it, that is estimated from the source.
        """
        key = (work, launch, device, code, work.sample_for(launch))
        found = self._cache.get(key)
        if found is None:
            counts = self._count(work, on_device(launch, device))
            found = self._cache[key] = _predicted(work, counts, launch, device, code)
        return found

    def _count(self, work: Work, launch: Launch) -> WorkCounts:
        """The same on every device, unless drivers choose local sizes: whoever compares devices counts once."""
        sample = work.sample_for(launch)
        found = self._counts.get((work, launch, sample))
        if found is None:
            found = self._counts[work, launch, sample] = work.count(launch, sample)
        return found


def _predicted(work: Work, counts: WorkCounts, launch: Launch, device: Device, code: KnownCode | None) -> Prediction:
    offline = code if isinstance(code, OfflineFacts) else None
    times = launch_times(counts, device, offline)
    assumptions = assumptions_of(work, counts, launch)
    margins = own_margins(device).widened(doubt_of(assumptions))
    p50 = times.bounded_us
    if isinstance(code, CpuCode):
        from model.throughput.code_time import with_code_us  # noqa: PLC0415 - loads NumPy

        p50 = with_code_us(work, counts, device, times, code)
    return Prediction(
        runtime_us=within_bounds(Quantiles(p50 * margins.below, p50, p50 * margins.above), times.floor_us),
        basis=Basis.ANALYTIC,
        work=counts,
        assumptions=assumptions,
        device_id=device.id,
        device_name=device.name,
        calibrated=device.calibrated,
        line_costs=LineCosts(counts, device),
        is_guessed=any(each.is_guess for each in assumptions),
        laws=times,
        host_cost_us=host_cost_us(device),
        code=offline,
    )


def own_margins(device: Device) -> Margins:
    """From p50 to p10 and p90 where nothing had to be assumed."""
    if device.type is DeviceType.GPU:
        return margins_of(device)
    spread = _COSTS_SPREAD if costs_of(device.rates) is not None else _SPREAD[device.calibrated]
    return Margins(1 / spread, spread)
