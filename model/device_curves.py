"""What a calibration finds beyond single rates: a point for each type, size, stride or way that was tried.

`noise_percent` is the spread between the rounds that a point was measured in; 0 where nobody measured. g = 1e9.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MemoryLevel:
    """A cache, or memory itself, as told from where bandwidth drops: see `model.memory_levels`."""

    name: str  # "cache 1" is the nearest; "memory" the last
    up_to_bytes: int | None  # the largest footprint that it was seen to serve; None for memory
    read_gb_s: float
    write_gb_s: float
    copy_gb_s: float  # bytes read and bytes written, added up; 0 where not measured


@dataclass(frozen=True, slots=True)
class ArithmeticRate:
    """Independent operations of one type. Each component of a vector counts; a multiply-add counts two."""

    type: str  # OpenCL C: "float", "half2", "long"
    operation: str  # "multiply-add", "add", "multiply"
    gop_s: float
    noise_percent: float = 0.0


@dataclass(frozen=True, slots=True)
class ChainPoint:
    """Multiply-adds of one warp or vector on each compute unit, in a loop with so many independent accumulators."""

    chains: int
    gflop_s: float
    noise_percent: float = 0.0


@dataclass(frozen=True, slots=True)
class LocalStridePoint:
    """Loads from local memory when neighbouring work-items stand `stride_elements` elements of 4 bytes apart."""

    stride_elements: int
    local_gb_s: float
    noise_percent: float = 0.0


@dataclass(frozen=True, slots=True)
class BarrierPoint:
    """One barrier of one work-group of `group_items`, divided over the device."""

    group_items: int
    barrier_ns: float
    noise_percent: float = 0.0


@dataclass(frozen=True, slots=True)
class DivergencePoint:
    """How much longer a branch takes when neighbouring work-items go `ways` different ways through it."""

    ways: int
    slowdown: float
    noise_percent: float = 0.0


@dataclass(frozen=True, slots=True)
class ScalingPoint:
    """Throughput of a launch of so many equal work-groups."""

    work_groups: int
    gflop_s: float
    noise_percent: float = 0.0


@dataclass(frozen=True, slots=True)
class PrivatePoint:
    """Loads and stores of a private array of `array_bytes`, indexed at run time."""

    array_bytes: int
    private_gb_s: float
    noise_percent: float = 0.0


@dataclass(frozen=True, slots=True)
class ImageRate:
    """Texels a second of four floats each; neighbouring work-items access neighbouring texels."""

    dimensions: int
    access: str  # "nearest", "linear", "write"
    gtexel_s: float
    noise_percent: float = 0.0


@dataclass(frozen=True, slots=True)
class Vectorised:
    """How much longer multiply-adds take in one surrounding than in straight-line code of many work-items."""

    surrounding: str
    slowdown: float


@dataclass(frozen=True, slots=True)
class TransferPoint:
    """One transfer between host and device, by the event of its command."""

    kind: str  # "write", "read", "copy", "map"; "first write", "first read": into new memory
    is_pinned: bool  # the host's memory was allocated by the driver (CL_MEM_ALLOC_HOST_PTR)
    size_bytes: int
    transfer_us: float
    noise_percent: float = 0.0


@dataclass(frozen=True, slots=True)
class HostSide:
    """What commands cost beside their own time on the device: see `model.program.timeline`."""

    enqueue_us: float  # of the host, in the call that enqueues a command
    start_us: float  # from the beginning of that call to the command's start on an idle device
    between_us: float  # from one command's end to the start of the next, if that is already in the queue
    finish_us: float  # from a command's end until a host that waits for it goes on
    transfers: tuple[TransferPoint, ...] = ()  # ascending size within a kind


@dataclass(frozen=True, slots=True)
class RateNoise:
    """The spread between the rounds that one of the single rates was measured in. `rate` is its key in `Rates`."""

    rate: str
    percent: float


CALIBRATION_VERSION = 5
"""Version of what a calibration measures.

1 kept no conditions, and no curves but bandwidth, gathers and strides. 2 took what groups of few work-items cost for
less than it is where cores run the start of one group beside the end of another. 3 had no loads that wait for each
other. 4 timed transfers of data that caches held.
"""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Under which conditions a device was calibrated, and what could not be measured."""

    version: int  # `CALIBRATION_VERSION` at the time
    is_quick: bool
    duration_s: float
    rounds: int  # over all probes
    repeats: int  # measurements on top of these, of probes that were disturbed or whose rounds did not agree
    threads: int | None  # that the driver was told or allowed to use; None where it cannot be known
    load_average: float  # at the start
    other_load_percent: float | None  # of all cores, meanwhile; None where nobody tells
    failures: tuple[str, ...] = ()  # what was not measured, and why: such rates are scaled from the driver's facts
