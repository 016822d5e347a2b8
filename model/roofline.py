"""The roofline of one prediction: how fast the launch computes for each byte it asks for, under the device's roofs.

Source: Williams et al., "Roofline", CACM 2009. Bytes are counted as executed loads and stores request them, before
caches; so a launch that reuses its data may stand above the slope of the device's memory, under that of a cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model.device import BandwidthPoint, Device, DeviceType, Rates
from model.prediction import Prediction
from model.work.counts import OpKind
from model.work.work_counts import WorkCounts

_LEVEL_STEP = 1.3  # points whose bandwidths differ by less belong to one level of memory
_MOST_LEVELS = 3
_INTEGER = (OpKind.INTEGER, OpKind.INT_MUL, OpKind.INT_DIVIDE)


@dataclass(frozen=True, slots=True)
class Slope:
    """Bandwidth of one level of memory. `up_to_bytes` is the footprint that it serves; None beyond the caches."""

    read_gb_s: float
    up_to_bytes: int | None


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The rate of all the launch's operations at which those named here keep the device busy.

    Where they are a part of the operations only, the others are taken to cost nothing: a roof is never too low.
    """

    name: str
    gop_s: float


@dataclass(frozen=True, slots=True)
class Roofline:
    """`unit` is `flop`, or `int op` for kernels that compute with integers alone, or empty where nothing computes."""

    unit: str
    operations: float
    requested_bytes: float
    slopes: tuple[Slope, ...]  # fastest first; the last is the device's memory
    ceilings: tuple[Ceiling, ...]  # highest first

    @property
    def intensity(self) -> float | None:
        """Operations per byte; None where either is missing."""
        return self.operations / self.requested_bytes if self.operations and self.requested_bytes else None

    def gop_s(self, runtime_us: float) -> float:
        return 1e-3 * self.operations / runtime_us

    def gb_s(self, runtime_us: float) -> float:
        return 1e-3 * self.requested_bytes / runtime_us


def roofline(prediction: Prediction, device: Device) -> Roofline:
    """Return the roofs of `device` that matter to this launch."""
    work = prediction.work
    integers = _count(work, *_INTEGER)
    unit, operations = ("flop", work.flops) if work.flops else ("int op", integers) if integers else ("", 0.0)
    return Roofline(
        unit,
        operations,
        work.global_load_bytes + work.global_store_bytes,
        memory_levels(device.rates.bandwidth),
        _ceilings(unit, work, device),
    )


def memory_levels(points: Sequence[BandwidthPoint]) -> tuple[Slope, ...]:
    """Where bandwidth drops, a level of memory ends; fastest first, at most three, memory itself always the last."""
    if not points:
        return ()
    levels = [Slope(points[-1].read_gb_s, None)]
    for point in reversed(points[:-1]):
        if point.read_gb_s > levels[0].read_gb_s * _LEVEL_STEP:
            levels.insert(0, Slope(point.read_gb_s, point.footprint_bytes))
    while len(levels) > _MOST_LEVELS:
        # The level nearest to its neighbour tells least.
        gaps = [levels[i - 1].read_gb_s / levels[i].read_gb_s for i in range(1, len(levels) - 1)]
        del levels[1 + gaps.index(min(gaps))]
    return tuple(levels)


def _ceilings(unit: str, work: WorkCounts, device: Device) -> tuple[Ceiling, ...]:
    rates = device.rates
    if unit == "int op":
        found = [Ceiling("int32", rates.int32_gop_s)]
        divisions = _count(work, OpKind.INT_DIVIDE)
        if divisions:
            found.append(Ceiling("integer division", rates.int_divide_gop_s * _count(work, *_INTEGER) / divisions))
        return _sorted(found)
    if unit != "flop":
        return ()
    found = [Ceiling("fp32", rates.fp32_gflop_s)]
    elements = {o.element for o in work.ops}
    if "f64" in elements and rates.fp64_gflop_s:
        found.append(Ceiling("fp64", rates.fp64_gflop_s))
    if "f16" in elements and rates.fp16_gflop_s:
        found.append(Ceiling("fp16", rates.fp16_gflop_s))
    partial = _special(work, rates)
    if device.type is DeviceType.CPU and work.chain_ops:
        chained = rates.scalar_fp32_gflop_s / 2 * work.flops / work.chain_ops
        partial.append(Ceiling("operations that wait for each other", chained))
    top = max(ceiling.gop_s for ceiling in found)
    return _sorted([*found, *(ceiling for ceiling in partial if ceiling.gop_s < top)])


def _special(work: WorkCounts, rates: Rates) -> list[Ceiling]:
    """Functions that take far longer than an addition, where they are a good part of the work."""
    counts = {
        ("special functions", rates.special_gop_s): _count(work, OpKind.SPECIAL),
        ("native functions", rates.native_gop_s): _count(work, OpKind.NATIVE),
        ("division", rates.divide_gop_s): _count(work, OpKind.DIVIDE, OpKind.SQRT),
    }
    if sum(counts.values()) < 0.05 * work.flops:
        return []
    (name, rate), count = max(counts.items(), key=lambda item: item[1] / max(item[0][1], 1e-9))
    return [Ceiling(name, rate * work.flops / count)]


def _count(work: WorkCounts, *kinds: OpKind) -> float:
    return sum(o.count for o in work.ops if o.kind in kinds)


def _sorted(ceilings: list[Ceiling]) -> tuple[Ceiling, ...]:
    return tuple(sorted((c for c in ceilings if c.gop_s > 0), key=lambda c: -c.gop_s))
