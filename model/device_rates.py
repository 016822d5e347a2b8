"""Rates that nobody measured: scaled from a datasheet, or from the little that a driver reports.

Every scaling below is a rule of thumb with its reason beside it. They give a prediction its order of magnitude
until `profiler.calibrate` has measured the device.
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass, replace
from math import ceil, log2

from model.architectures import Architecture, architecture_named, architectures
from model.device import BandwidthPoint, DeviceType, GatherPoint, Rates, StridePoint
from model.device_curves import MemoryLevel
from model.host_cost import host_launch_us

SUSTAINED_SHARE = 0.85  # of datasheet bandwidth; the median over 46 GPUs in clpeak's public results is 0.86
L2_OVER_DRAM = 3  # rate of caches whose own is not known
SECTOR_BYTES = 32  # what a GPU moves for a lone access: one sector of a cache line
LINE_BYTES = 128  # what a CPU moves for a lone access: its cache line and the neighbour that is fetched with it
UNITS_PER_CLUSTER = 16  # of a GPU: NVIDIA's GPC, AMD's shader engine, each with a scheduler of its own
KIB, MIB = 1024, 1024 * 1024
STRIDES = (1, 2, 4, 8, 16, 32, 64)
FOOTPRINTS = (*(16 * KIB * 4**step for step in range(7)), 128 * MIB)  # 16 KiB ... 64 MiB, 128 MiB


@dataclass(frozen=True, slots=True)
class GpuFigures:
    """What a GPU's datasheet says."""

    compute_units: int
    lanes_per_unit: int  # fp32 lanes: "CUDA cores" of one SM, stream processors of one CU
    clock_mhz: int
    fp32_gflop_s: float  # vector units, without matrix or tensor cores
    fp64_ratio: float  # of fp32
    fp16_ratio: float  # of fp32; 0 where OpenCL does not expose cl_khr_fp16
    int_ratio: float  # int32 lanes per fp32 lane
    dram_bandwidth_gb_s: float
    l2_bytes: int
    launch_floor_us: float
    cores: int = 0  # see `Device.cores`; 0: as many as compute units
    host_us: float = 0.0  # what the host waits for a launch beyond the device's time; 0: unknown
    architecture: str = ""  # a name in `model.architectures`


def gpu_rates(figures: GpuFigures) -> Rates:
    """Rates of a GPU from its datasheet. A unit is what holds whole work-groups.

    - special functions at full precision at a quarter of the native rate, because argument reduction and a polynomial
      go around them;
    - divide: about 8 instructions; int divide: about 20 (there is no such instruction on GPUs);
    - private arrays live in L1, at 64 bytes a clock and unit;
    - caches beyond L1 at what the architecture was measured at, else at three times DRAM (A100, H100: 2.5 to 4);
    - a lone access moves one sector of 32 bytes.
    """
    architecture = architectures().get(figures.architecture) or architectures()["generic"]
    clock_ghz = figures.clock_mhz / 1000
    units = figures.cores or figures.compute_units
    instruction_gop_s = figures.compute_units * figures.lanes_per_unit * clock_ghz
    dram_gb_s = figures.dram_bandwidth_gb_s * SUSTAINED_SHARE
    int_gop_s = instruction_gop_s * figures.int_ratio
    native_gop_s = units * architecture.special_lanes_per_core * clock_ghz
    levels = _caches(figures, architecture, dram_gb_s)
    return Rates(
        launch_floor_us=figures.launch_floor_us,
        group_overhead_ns=round(1 / clock_ghz / ceil(units / UNITS_PER_CLUSTER), 4),  # each cluster starts one a clock
        item_overhead_ns=round(10 / instruction_gop_s, 6),  # ~10 instructions before the body
        fp32_gflop_s=figures.fp32_gflop_s,
        fp64_gflop_s=round(figures.fp32_gflop_s * figures.fp64_ratio, 1),
        fp16_gflop_s=round(figures.fp32_gflop_s * figures.fp16_ratio, 1),
        int32_gop_s=round(int_gop_s, 1),
        scalar_fp32_gflop_s=figures.fp32_gflop_s,  # lanes are work-items: no vectoriser
        divide_gop_s=round(instruction_gop_s / 8, 1),
        special_gop_s=round(native_gop_s / 4, 1),
        native_gop_s=round(native_gop_s, 1),
        int_divide_gop_s=round(int_gop_s / 20, 1),
        local_bandwidth_gb_s=round(units * architecture.local_bytes_per_clock * clock_ghz, 1),
        private_bandwidth_gb_s=round(units * 64 * clock_ghz, 1),
        atomic_gop_s=round(units * clock_ghz / 2, 1),  # in L2: one a clock and slice
        contended_atomic_gop_s=round(clock_ghz, 3),  # one address, one slice
        barrier_ns=round(30 / clock_ghz / (units * 8), 4),  # 30 clocks, 8 groups a unit overlap
        image_read_gop_s=round(units * 4 * clock_ghz, 1),  # one texture quad a clock and unit
        bandwidth=_bandwidth(levels, dram_gb_s, write_share=0.95),
        gather=_gather(levels, dram_gb_s, SECTOR_BYTES),
        strided=_strided(dram_gb_s, SECTOR_BYTES),
        groups_to_fill=units * 4,  # 1024 items a unit in groups of 256
        launch_wall_us=figures.launch_floor_us + figures.host_us if figures.host_us else 0.0,
        memory_levels=_memory_levels(levels, dram_gb_s, write_share=0.95),
        peak_bandwidth_gb_s=figures.dram_bandwidth_gb_s,
    )


def _caches(figures: GpuFigures, architecture: Architecture, dram_gb_s: float) -> Levels:
    """Return L1, L2 and, where there is one, the cache beyond L2: capacity and rate of all cores together."""
    units = figures.cores or figures.compute_units

    def rate(bytes_per_clock: int) -> float:
        known_gb_s = units * bytes_per_clock * figures.clock_mhz / 1000
        return max(1.5 * dram_gb_s, known_gb_s) if bytes_per_clock else L2_OVER_DRAM * dram_gb_s

    beyond = [(figures.l2_bytes, rate(architecture.l2_bytes_per_clock))]
    l2_bytes = units * architecture.l2_bytes_per_core
    if 0 < l2_bytes < figures.l2_bytes:
        beyond = [(l2_bytes, beyond[0][1]), (figures.l2_bytes, rate(architecture.l3_bytes_per_clock))]
    return ((units * 64 * KIB, max(beyond[0][1], rate(architecture.l1_bytes_per_clock))), *beyond)


def intel_cores(name: str, compute_units: int) -> int:
    """Return how many sub-slices or Xe-cores an Intel GPU has, of which drivers count the execution units.

    Sub-slices hold 8 units (10 in Gen7.5), dual sub-slices and Xe-cores of Gen12 and Arc 16, those of Xe2 8 again.
    Sources: Intel's "The Architecture of Intel Processor Graphics" (Gen7.5, Gen9, Gen11), "oneAPI GPU Optimization
    Guide" (Xe).
    """
    spoken = name.lower()
    is_xe = re.search(r"\bxe\b|xe graphics|\barc\b|\buhd graphics 7\d\d|\bmax\b|\bflex\b", spoken) is not None
    is_xe2 = re.search(r"\bb\d{3}\b|\b1[34]0v\b|\bmax\b", spoken) is not None
    is_gen75 = (
        re.search(r"\bhd graphics (?:4[2-6]00|5[01]00)|\biris(?: pro)?(?: graphics 5[12]00)?$", spoken) is not None
    )
    units_each = 16 if is_xe and not is_xe2 else 10 if is_gen75 else 8
    return max(1, round(compute_units / units_each))


@dataclass(frozen=True, slots=True)
class DriverFacts:
    """What an OpenCL driver reports of a device."""

    name: str
    platform: str
    vendor: str
    type: DeviceType
    driver: str
    compute_units: int
    clock_mhz: int
    global_mem_bytes: int
    max_alloc_bytes: int
    local_mem_bytes: int
    cache_bytes: int
    max_work_group_size: int
    max_work_item_sizes: tuple[int, int, int]
    preferred_multiple: int
    has_fp64: bool
    has_fp16: bool
    has_images: bool
    board: str = ""  # what the card is sold as, where the driver's name is that of its chip (AMD)


def derive_rates(facts: DriverFacts) -> Rates:
    """Rates of a device of which only the driver's facts are known, by templates scaled with units and clock."""
    if facts.type is DeviceType.CPU:
        rates = cpu_rates(facts)
        host_us = host_launch_us(facts.platform, is_cpu=True)
        return replace(rates, launch_wall_us=rates.launch_floor_us + host_us)
    # What a compute unit is differs by vendor: an SM, a CU, or one of Intel's execution units.
    maker = _maker(facts)
    lanes = 8 if "intel" in maker else 64 if "amd" in maker or "advanced micro" in maker else 128
    clock_mhz = facts.clock_mhz or 1000
    fp32 = facts.compute_units * lanes * 2 * clock_mhz / 1000
    return gpu_rates(
        GpuFigures(
            compute_units=facts.compute_units,
            lanes_per_unit=lanes,
            clock_mhz=clock_mhz,
            fp32_gflop_s=fp32,
            fp64_ratio=1 / 32 if facts.has_fp64 else 0,
            fp16_ratio=2 if facts.has_fp16 else 0,
            int_ratio=0.5,
            dram_bandwidth_gb_s=max(25.0, fp32 / 20),  # 12 to 55 flops a byte on the GPUs of the catalog
            l2_bytes=facts.cache_bytes or 4 * MIB,
            launch_floor_us=6,
            cores=cores_of(facts),
            host_us=host_launch_us(facts.platform, facts.name, sys.platform),
            architecture=architecture_named(facts.board or facts.name) or architecture_named(facts.name),
        )
    )


def cores_of(facts: DriverFacts) -> int:
    """Return what `Device.cores` is for: 0 where compute units hold work-groups themselves."""
    is_counted_in_parts = facts.type is DeviceType.GPU and "intel" in _maker(facts)
    return intel_cores(facts.name, facts.compute_units) if is_counted_in_parts else 0


def _maker(facts: DriverFacts) -> str:
    return f"{facts.vendor} {facts.platform} {facts.name}".lower()


def cpu_rates(facts: DriverFacts, dram_gb_s: float | None = None) -> Rates:
    """Return the rates of a CPU: figures per core and GHz, times cores and clock.

    The figures are from a calibration of PoCL 3.0 on two cores of an AMD EPYC (Zen 3) at a nominal 2.6 GHz. DRAM does
    not scale with cores: about 14 GB/s for one, saturating near 8 channels of 20 GB/s. `dram_gb_s` is what was
    measured, where it was.
    """
    units = max(1, facts.compute_units)
    ghz = (facts.clock_mhz or 2500) / 1000
    core_ghz = units * ghz
    dram_gb_s = dram_gb_s or min(units * 14.0, 160.0)
    levels = (
        (units * 32 * KIB, 34 * core_ghz),
        (units * 1024 * KIB, 27 * core_ghz),
        (max(facts.cache_bytes, 4 * MIB), 22 * core_ghz),
    )
    return Rates(
        launch_floor_us=1.0 if units <= 8 else 1.0 + log2(units / 8) * 4,  # waking threads costs more of them
        group_overhead_ns=round(20 / core_ghz, 3),
        item_overhead_ns=round(0.7 / core_ghz, 4),
        fp32_gflop_s=round(25 * core_ghz, 2),
        fp64_gflop_s=round(15 * core_ghz, 2) if facts.has_fp64 else 0.0,
        fp16_gflop_s=round(1 * core_ghz, 2) if facts.has_fp16 else 0.0,  # emulated through fp32
        int32_gop_s=round(36 * core_ghz, 2),
        scalar_fp32_gflop_s=round(1.28 * core_ghz, 3),
        divide_gop_s=round(3.2 * core_ghz, 3),
        special_gop_s=round(0.007 * core_ghz, 4),
        native_gop_s=round(0.022 * core_ghz, 4),
        int_divide_gop_s=round(0.23 * core_ghz, 4),
        local_bandwidth_gb_s=round(7.4 * core_ghz, 2),
        private_bandwidth_gb_s=round(2.7 * core_ghz, 2),
        atomic_gop_s=round(0.0165 * core_ghz, 4),
        contended_atomic_gop_s=round(0.04 * ghz, 4),  # one cache line moves between cores
        barrier_ns=round(200 / core_ghz, 2),
        image_read_gop_s=round(0.12 * core_ghz, 4) if facts.has_images else 0.0,
        bandwidth=_bandwidth(levels, dram_gb_s, write_share=0.7),  # a store reads its line first
        gather=tuple(
            # However near the data, a gather is one load for each lane.
            GatherPoint(point.footprint_bytes, min(point.gather_gaccess_s, round(0.75 * core_ghz, 4)))
            for point in _gather(levels, dram_gb_s, LINE_BYTES)
        ),
        strided=_strided(dram_gb_s, LINE_BYTES),
        groups_to_fill=units,
    )


Levels = tuple[tuple[int, float], ...]  # (capacity in bytes, bandwidth in GB/s) of each cache, nearest first


def _footprints(levels: Levels) -> tuple[int, ...]:
    """At least one is beyond the caches, however large these are."""
    largest = max(capacity for capacity, _ in levels)
    sizes = list(FOOTPRINTS)
    while sizes[-1] <= largest:
        sizes.append(4 * sizes[-1])
    return tuple(sizes)


def _bandwidth(levels: Levels, dram_gb_s: float, write_share: float) -> tuple[BandwidthPoint, ...]:
    return tuple(
        BandwidthPoint(size, round(rate, 2), round(rate * write_share, 2))
        for size in _footprints(levels)
        for rate in (_rate_at(size, levels, dram_gb_s),)
    )


def _memory_levels(levels: Levels, dram_gb_s: float, write_share: float) -> tuple[MemoryLevel, ...]:
    """Return the caches that hold less than the next, and memory."""
    capacities = [capacity for capacity, _ in levels[1:]]
    caches = [
        MemoryLevel("", capacity, round(rate, 2), round(rate * write_share, 2), 0.0)
        for (capacity, rate), larger in zip(levels, (*capacities, math.inf), strict=True)
        if capacity < larger
    ]
    memory = MemoryLevel("memory", None, round(dram_gb_s, 2), round(dram_gb_s * write_share, 2), 0.0)
    return (*(replace(cache, name=f"cache {number}") for number, cache in enumerate(caches, 1)), memory)


def _gather(levels: Levels, dram_gb_s: float, moved_bytes: int) -> tuple[GatherPoint, ...]:
    """Each random load moves one sector or line between levels; from the nearest level it moves 8 bytes at most."""
    return tuple(
        GatherPoint(size, round(_rate_at(size, levels, dram_gb_s) / (8 if size <= levels[0][0] else moved_bytes), 4))
        for size in _footprints(levels)
    )


def _strided(dram_gb_s: float, moved_bytes: int) -> tuple[StridePoint, ...]:
    return tuple(StridePoint(stride, round(dram_gb_s / min(4 * stride, moved_bytes), 4)) for stride in STRIDES)


def _rate_at(footprint_bytes: int, levels: Levels, dram_gb_s: float) -> float:
    return next((max(rate, dram_gb_s) for capacity, rate in levels if footprint_bytes <= capacity), dram_gb_s)
