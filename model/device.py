"""Device profiles: what a device is and what it sustains. One JSON per known device in `model/devices`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from model.device_curves import (
    ArithmeticRate,
    BarrierPoint,
    Calibration,
    ChainPoint,
    DivergencePoint,
    HostSide,
    ImageRate,
    LocalStridePoint,
    MemoryLevel,
    PrivatePoint,
    RateNoise,
    ScalingPoint,
    Vectorised,
)


class DeviceType(StrEnum):
    CPU = "cpu"
    GPU = "gpu"
    ACCELERATOR = "accelerator"


class ProfileSource(StrEnum):
    """Where a profile's rates come from, from weakest to strongest."""

    DATASHEET = "datasheet"
    DRIVER = "driver"  # scaled from what the driver reports
    CALIBRATED = "calibrated"  # measured on this very device by `profiler.calibrate`


@dataclass(frozen=True, slots=True)
class BandwidthPoint:
    """Sustained bandwidth when a launch's footprint is `footprint_bytes` (all compute units together)."""

    footprint_bytes: int
    read_gb_s: float  # decimal: 1e9 bytes a second
    write_gb_s: float
    copy_gb_s: float = 0.0  # bytes read and bytes written, added up; 0 where not measured
    noise_percent: float = 0.0  # spread between the rounds of a calibration


@dataclass(frozen=True, slots=True)
class GatherPoint:
    """Random 4-byte loads a second over a footprint, all compute units together, in 1e9 loads a second.

    `chase_gaccess_s`: where each waits for the one before, which tells where it goes; 0 where not measured.
    """

    footprint_bytes: int
    gather_gaccess_s: float
    noise_percent: float = 0.0
    chase_gaccess_s: float = 0.0


@dataclass(frozen=True, slots=True)
class StridePoint:
    """4-byte loads a second in 1e9, when neighbouring work-items stand `stride_elements` elements apart."""

    stride_elements: int
    strided_gaccess_s: float
    noise_percent: float = 0.0


@dataclass(frozen=True, slots=True)
class Cost:
    """What one operation takes in one surrounding, all compute units together; `model.costs` says which there are."""

    name: str
    ns: float
    noise_percent: float = 0.0


@dataclass(frozen=True, slots=True)
class Rates:
    """What a device sustains over all its compute units. Units in the names; g = 1e9."""

    launch_floor_us: float  # an empty kernel of a few work-groups, by the profiling event
    group_overhead_ns: float  # what each further work-group costs, divided over the device
    item_overhead_ns: float  # what each further work-item costs, divided over the device
    fp32_gflop_s: float  # fused multiply-adds count two
    fp64_gflop_s: float  # 0 where unsupported
    fp16_gflop_s: float  # 0 where unsupported
    int32_gop_s: float
    scalar_fp32_gflop_s: float  # in a run-time loop that the compiler does not vectorise across work-items
    divide_gop_s: float  # fp32 division and square root
    special_gop_s: float  # sin, exp, log, pow ... at full precision
    native_gop_s: float  # native_sin and friends
    int_divide_gop_s: float
    local_bandwidth_gb_s: float
    private_bandwidth_gb_s: float  # private arrays indexed at run time
    atomic_gop_s: float  # spread over many addresses
    contended_atomic_gop_s: float  # all on one address
    barrier_ns: float  # one barrier of one work-group, divided over the device
    image_read_gop_s: float
    bandwidth: tuple[BandwidthPoint, ...]  # ascending footprint
    gather: tuple[GatherPoint, ...]  # ascending footprint
    strided: tuple[StridePoint, ...]  # ascending stride, on a footprint beyond the caches
    groups_to_fill: int  # work-groups needed before throughput stops growing
    costs: tuple[Cost, ...] = ()  # of calibrated devices; `model.costs` does without
    # From here on: 0 or empty where not measured, as in profiles from datasheets and from earlier calibrations.
    launch_wall_us: float = 0.0  # from enqueueing an empty kernel to knowing that it ended, by the host's clock
    fma_latency_ns: float = 0.0  # one multiply-add that waits for the one before
    int32_mul_gop_s: float = 0.0
    int64_gop_s: float = 0.0
    int64_mul_gop_s: float = 0.0
    local_atomic_gop_s: float = 0.0  # spread over local memory
    contended_local_atomic_gop_s: float = 0.0  # one address for each work-group
    denormal_slowdown: float = 0.0  # of multiplications whose operands are denormal floats
    arithmetic: tuple[ArithmeticRate, ...] = ()
    chains: tuple[ChainPoint, ...] = ()  # ascending
    memory_levels: tuple[MemoryLevel, ...] = ()  # nearest first
    local_strided: tuple[LocalStridePoint, ...] = ()  # ascending stride; shows bank conflicts
    barriers: tuple[BarrierPoint, ...] = ()  # ascending group size
    divergence: tuple[DivergencePoint, ...] = ()  # ascending ways
    scaling: tuple[ScalingPoint, ...] = ()  # ascending groups
    private_arrays: tuple[PrivatePoint, ...] = ()  # ascending size; shows spills
    images: tuple[ImageRate, ...] = ()
    vectorised: tuple[Vectorised, ...] = ()  # what the compiler runs in vectors across work-items; CPUs only
    noise: tuple[RateNoise, ...] = ()  # of the single rates above
    host_side: HostSide | None = None  # None where not measured; `model.program.host_sides` assumes one
    peak_bandwidth_gb_s: float = 0.0  # of memory, as the datasheet says: nothing sustains it, nothing exceeds it

    def __hash__(self) -> int:
        """Of a few of the figures: caches are keyed by rates, which hold hundreds of points."""
        return hash((self.launch_floor_us, self.fp32_gflop_s, self.int32_gop_s, self.local_bandwidth_gb_s))


@dataclass(frozen=True, slots=True)
class Device:
    """One device under one driver; efficiencies belong to both."""

    id: str
    name: str
    platform: str
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
    preferred_multiple: int  # of the work-group size
    has_fp64: bool
    has_fp16: bool
    has_images: bool
    rates: Rates
    source: ProfileSource
    measured_at: str | None = None  # ISO 8601, UTC; calibrated profiles only
    noise_percent: float | None = None  # batch-to-batch spread seen while calibrating
    note: str = ""  # where datasheet figures come from
    calibration: Calibration | None = None  # its conditions; also None in calibrations from before these were kept
    aliases: tuple[str, ...] = ()  # what else drivers call the chip; shipped profiles only
    # What holds whole work-groups: SMs, CUs, sub-slices or Xe-cores. 0: compute units do. Intel's drivers count the
    # execution units within as compute units.
    cores: int = 0
    architecture: str = ""  # a name in `model.architectures`; empty where the profile does not say

    def __hash__(self) -> int:
        """Of what tells profiles apart: hundreds of rates would be gone through at each look into a cache."""
        return hash((self.id, self.driver, self.source, self.measured_at, self.rates))

    @property
    def core_count(self) -> int:
        """Among how many cores work-groups are shared out; at least one."""
        return max(1, self.cores or self.compute_units)

    @property
    def is_intels_cpu(self) -> bool:
        """Whether Intel's runtime for CPUs runs the kernels, on whosever processor."""
        return self.type is DeviceType.CPU and "intel" in self.platform.lower()

    @property
    def is_pocl(self) -> bool:
        """Whether PoCL runs the kernels."""
        return "portable computing" in self.platform.lower()

    @property
    def calibrated(self) -> bool:
        return self.source is ProfileSource.CALIBRATED
