"""One function per resource: run its probe, return its rate."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np
import pyopencl as cl

from model.device import BandwidthPoint, GatherPoint, StridePoint
from model.opencl.builtins import BUILTINS
from profiler.child.bench import Bench
from profiler.child.probe_kernels import LANES, LOADS, STEPS

CHAINS = 4  # independent values in each unrolled body
# Long enough that no out-of-order window spans two work-items: each then waits for its own chain alone.
COUNTED_STEPS = 2048
SWEEP_BYTES = 32 * 1024 * 1024  # a bandwidth launch moves at least so much, in several rounds of a small footprint
FEW_GROUPS = 4
FAR_BYTES = 4 * 1024 * 1024
C, D = np.float32(0.9), np.float32(0.3)


def overheads(bench: Bench) -> tuple[float, float, float]:
    """(launch floor in us, ns of each further group, ns of each further work-item)."""
    # A few groups: some runtimes run a single one without waking anybody, which no real launch sees.
    floor_us = bench.time_us("nothing", FEW_GROUPS * LANES, [bench.out])
    groups = bench.items_for_target("nothing", [bench.out]) // LANES
    group_ns = (bench.time_us("nothing", groups, [bench.out], lanes=1) - floor_us) * 1000 / groups
    items = bench.items_for_target("little", [bench.out])
    rest_us = bench.time_us("little", items, [bench.out]) - floor_us
    item_ns = (rest_us * 1000 - max(0.0, group_ns) * items / LANES) / items
    # What is below the noise counts as next to nothing, never as nothing or less.
    return floor_us, max(group_ns, 1e-3), max(item_ns, 1e-6)


def multiply_adds(bench: Bench, kernel: str, dtype: type[np.generic]) -> float:
    """GFLOP/s of unrolled multiply-adds on four chains; a multiply-add counts two."""
    return bench.giga_s(kernel, 2 * CHAINS * STEPS, [bench.out, dtype(C), dtype(D)])


def counted_multiply_adds(bench: Bench) -> float:
    """GFLOP/s in a loop whose trip count is an argument."""
    return bench.giga_s("fp32_counted", 2 * COUNTED_STEPS, [bench.out, C, D, np.int32(COUNTED_STEPS)])


def integers(bench: Bench) -> float:
    return bench.giga_s("int32", 2 * CHAINS * STEPS, [bench.out, np.int32(0x5A5A), np.int32(7)])


def divides(bench: Bench) -> float:
    return bench.giga_s("divide", CHAINS * STEPS, [bench.out, C, D])


def int_divides(bench: Bench) -> float:
    return bench.giga_s("int_divide", CHAINS * STEPS, [bench.out, np.int32(99991), np.int32(3)])


def special_functions(bench: Bench, kernel: str) -> float:
    """Four rounds of four functions each, every function counted as the analysis counts it (`pow` is worth several)."""
    names = ("sin", "exp", "log", "pow") if kernel == "special" else ("native_sin", "native_exp", "native_log", "rsqrt")
    worth = sum(count * BUILTINS[name].price for name in names for _, count in BUILTINS[name].costs)
    return bench.giga_s(kernel, 4 * worth, [bench.out, C, D])


def bandwidths(bench: Bench, footprints: Sequence[int]) -> tuple[BandwidthPoint, ...]:
    memory = bench.buffer(max(footprints))
    points = []
    for footprint in footprints:
        mask = np.uint32(footprint // 4 - 1)
        items = max(footprint, SWEEP_BYTES) // (4 * LOADS)
        moved = items * LOADS * 4
        read_us = bench.time_us("read_rows", items, [memory, bench.out, mask])
        write_us = bench.time_us("write_rows", items, [memory, mask, np.float32(1)])
        if footprint >= FAR_BYTES:
            plain_us = bench.time_us("read_plain", moved // 4, [memory, bench.out, mask])
            read_us = min(read_us, plain_us)
            write_us = min(write_us, bench.time_us("write_plain", moved // 4, [memory, mask, np.float32(1)]))
        points.append((footprint, moved / read_us / 1000, moved / write_us / 1000))
    sizes, reads, writes = zip(*points, strict=True)
    return tuple(map(BandwidthPoint, sizes, _falling(reads), _falling(writes)))


def gathers(bench: Bench, footprints: Sequence[int]) -> tuple[GatherPoint, ...]:
    memory = bench.buffer(max(footprints))
    rates = [bench.giga_s("gather", LOADS, [memory, bench.out, np.uint32(size // 4 - 1)]) for size in footprints]
    return tuple(map(GatherPoint, footprints, _falling(rates)))


def strides(bench: Bench, wanted: Sequence[int], footprint_bytes: int) -> tuple[StridePoint, ...]:
    memory = bench.buffer(footprint_bytes)
    quarter = footprint_bytes // 16
    points = []
    for stride in wanted:
        items = quarter // stride
        arguments = [memory, bench.out, np.uint32(stride), np.uint32(quarter)]
        points.append(StridePoint(stride, 4 * items / bench.time_us("stride_walk", items, arguments) / 1000))
    return tuple(points)


def local_memory(bench: Bench) -> float:
    """GB/s: 32 loads of 4 bytes a work-item, and one store."""
    return bench.giga_s("local_rows", 33 * 4, [bench.out, np.float32(0.5)])


def private_arrays(bench: Bench) -> float:
    """GB/s: 32 stores and 32 loads of 4 bytes a work-item."""
    return bench.giga_s("private_rows", 64 * 4, [bench.out, np.float32(0.5), np.uint32(7)])


def atomics(bench: Bench) -> tuple[float, float]:
    """(spread over 256 KiB, all on one address), in 1e9 a second."""
    memory = bench.buffer(0x10000 * 4)
    return (
        bench.giga_s("atomics_spread", 4, [memory], pick=median),
        bench.giga_s("atomics_contended", 4, [memory], pick=median),
    )


def barrier_ns(bench: Bench) -> float:
    """What one barrier adds to one work-group of 256: with eight of them against without any."""
    arguments = [bench.out, np.float32(0.5)]
    items = bench.items_for_target("with_barriers", arguments)
    added_us = bench.time_us("with_barriers", items, arguments) - bench.time_us("without_barriers", items, arguments)
    return max(1e-3, added_us * 1000 / (8 * items / LANES))


def image_reads(bench: Bench) -> float:
    texels = np.ones((512, 512, 4), np.float32)
    wanted = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
    picture = cl.create_image(bench.context, cl.mem_flags.READ_ONLY, wanted, (512, 512))
    cl.enqueue_copy(bench.queue, picture, texels, origin=(0, 0), region=(512, 512))
    return bench.giga_s("image_reads", 4, [picture, bench.out])


def groups_to_fill(bench: Bench, compute_units: int) -> int:
    """The fewest work-groups with nine tenths of the best throughput."""
    arguments = [bench.out, C, D, np.int32(20_000)]
    counts = sorted({max(1, compute_units // 2), *(compute_units * n for n in (1, 2, 4, 8))})
    throughput = {n: n / bench.time_us("fp32_counted", n * LANES, arguments) for n in counts}
    best = max(throughput.values())
    return next(n for n in counts if throughput[n] >= 0.9 * best)


def _falling(rates: Sequence[float]) -> list[float]:
    """Each at least as high as those after it: a smaller footprint cannot be slower to reach. Where it looked so,
    cores fought over the same lines, going round it again and again as no ordinary launch does."""
    return [max(rates[at:]) for at in range(len(rates))]
