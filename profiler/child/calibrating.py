"""A whole calibration inside the device process: probe after probe, then one profile."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from statistics import median
from typing import TypeVar

import numpy as np

from model.device import Cost, Device, DeviceType, ProfileSource, Rates
from model.device_rates import FOOTPRINTS, MIB, STRIDES
from profiler.child import costs, probes
from profiler.child.bench import Bench
from profiler.child.costs import CostBench
from profiler.child.failures import named_failures
from profiler.child.main import Reporter
from profiler.child.probing import facts_of, open_device
from profiler.child.timing import Plan
from profiler.devices import device_of

T = TypeVar("T")
PROBES = 22  # how many `Step.run` calls a calibration makes


@dataclass(frozen=True, slots=True)
class Effort:
    """How thoroughly to measure."""

    plan: Plan
    target_us: float  # of one launch of a probe
    footprints: tuple[int, ...]
    strides: tuple[int, ...]


THOROUGH = Effort(Plan(budget_s=0.6), 4000, FOOTPRINTS, STRIDES)
QUICK = Effort(
    Plan(budget_s=0.15, batch_s=0.015, pause_s=0.005),
    1500,
    (16 * 1024, 512 * 1024, 4 * MIB, 32 * MIB, 128 * MIB),
    (1, 4, 16, 64),
)


class Steps:
    """Counts probes, for progress."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._done = 0

    def run(self, what: str, probe: Callable[[], T]) -> T:
        self._reporter.progress(self._done / PROBES, what)
        self._done += 1
        with named_failures(f"calibrating ({what})"):
            return probe()


def run(device_id: str, quick: bool, reporter: Reporter) -> Device:
    """Measure all rates of a device. Takes one to one and a half minutes, or about half a minute if `quick`."""
    effort = QUICK if quick else THOROUGH
    load_average = os.getloadavg()[0]
    opened = open_device(device_id)
    facts = facts_of(opened)
    with named_failures("building the calibration kernels"):
        bench = Bench(opened, facts, effort.plan, effort.target_us)
    rates = _rates(bench, device_of(device_id, facts), effort, Steps(reporter))
    return replace(
        device_of(device_id, facts),
        rates=rates,
        source=ProfileSource.CALIBRATED,
        measured_at=datetime.now(UTC).isoformat(timespec="seconds"),
        noise_percent=round(median(bench.spreads_percent), 2),
        note=f"measured {'quickly' if quick else 'thoroughly'}, at a load average of {load_average:.1f}",
    )


def _costs(bench: Bench, device: Device, steps: Steps, *, quick: bool) -> tuple[Cost, ...]:
    """What CPU runtimes differ in most: what they vectorise, and what each function takes."""
    small = CostBench(bench)
    return (
        *steps.run("loops, branches and barriers", lambda: tuple(costs.surroundings(small, quick=quick))),
        *steps.run("stores and images", lambda: tuple(costs.memory(small, device.has_images))),
        *steps.run("each function", lambda: tuple(costs.functions(small, device.has_fp64, quick=quick))),
    )


def _rates(bench: Bench, device: Device, effort: Effort, steps: Steps) -> Rates:
    # Half of the largest buffer, and a power of two: masks in the kernels rely on it.
    largest = 1 << ((device.max_alloc_bytes // 2).bit_length() - 1)
    footprints = tuple(size for size in effort.footprints if size <= largest)
    beyond_caches = min(largest, 128 * MIB)
    floor_us, group_ns, item_ns = steps.run("launch, group and work-item overhead", lambda: probes.overheads(bench))
    spread, contended = steps.run("atomics", lambda: probes.atomics(bench))
    multiply_adds = probes.multiply_adds
    return Rates(
        launch_floor_us=floor_us,
        group_overhead_ns=group_ns,
        item_overhead_ns=item_ns,
        fp32_gflop_s=steps.run("fp32", lambda: multiply_adds(bench, "fp32", np.float32)),
        fp64_gflop_s=steps.run("fp64", lambda: multiply_adds(bench, "fp64", np.float64) if device.has_fp64 else 0.0),
        fp16_gflop_s=steps.run("fp16", lambda: multiply_adds(bench, "fp16", np.float16) if device.has_fp16 else 0.0),
        int32_gop_s=steps.run("int32", lambda: probes.integers(bench)),
        scalar_fp32_gflop_s=steps.run("fp32 in a counted loop", lambda: probes.counted_multiply_adds(bench)),
        divide_gop_s=steps.run("division", lambda: probes.divides(bench)),
        special_gop_s=steps.run("special functions", lambda: probes.special_functions(bench, "special")),
        native_gop_s=steps.run("native functions", lambda: probes.special_functions(bench, "native")),
        int_divide_gop_s=steps.run("integer division", lambda: probes.int_divides(bench)),
        local_bandwidth_gb_s=steps.run("local memory", lambda: probes.local_memory(bench)),
        private_bandwidth_gb_s=steps.run("private arrays", lambda: probes.private_arrays(bench)),
        atomic_gop_s=spread,
        contended_atomic_gop_s=contended,
        barrier_ns=steps.run("barriers", lambda: probes.barrier_ns(bench)),
        image_read_gop_s=steps.run("images", lambda: probes.image_reads(bench) if device.has_images else 0.0),
        bandwidth=steps.run("bandwidth by footprint", lambda: probes.bandwidths(bench, footprints)),
        gather=steps.run("gathers by footprint", lambda: probes.gathers(bench, footprints)),
        strided=steps.run("strides", lambda: probes.strides(bench, effort.strides, beyond_caches)),
        groups_to_fill=steps.run("parallel scaling", lambda: probes.groups_to_fill(bench, device.compute_units)),
        costs=_costs(bench, device, steps, quick=effort is QUICK) if device.type is DeviceType.CPU else (),
    )
