"""What launches, work-groups and their neighbours cost: floors, scaling, local memory, barriers, divergence, spills."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from model.device import Device, Rates
from model.device_curves import BarrierPoint, DivergencePoint, LocalStridePoint, PrivatePoint, RateNoise, ScalingPoint
from profiler.device_worker.calibration.arithmetic_kernels import COUNTED
from profiler.device_worker.calibration.bench import FEW_GROUPS, LANES, Bench
from profiler.device_worker.calibration.group_kernels import (
    BARRIERS,
    FENCES,
    LITTLE,
    LOCAL,
    PRIVATE_ROWS,
    STRIDED_LOADS,
    divergence,
    private_array,
)
from profiler.device_worker.calibration.memory_kernels import ATOMICS
from profiler.device_worker.calibration.probe import Finish, Probe, difference_noise, item_us, noted, per_s, readable
from profiler.device_worker.calibration.rounds import Decides, Timed

C, D, HALF = np.float32(0.9), np.float32(0.3), np.float32(0.5)
CALIBRATED_GROUP = 256
BARRIER_GROUPS = (16, 32, 64, 128, 256, 512, 1024)
LOCAL_STRIDES = (1, 2, 4, 8, 16, 32, 33)  # 33: as far apart, and no two in one bank
WAYS = (1, 2, 4, 8, 16)
ARRAY_BYTES = (32, 128, 512, 2048, 8192)
GPU_ARRAY_BYTES = 1024  # drivers keep room for every work-item that could run at once
ARRAY_LANES = 64
SCALING_STEPS = 1000
GROUPS_A_UNIT = (1, 2, 4, 8, 16)
ENOUGH = 0.9  # of the best throughput


def probes(device: Device, *, quick: bool) -> list[Probe]:
    is_cpu = device.type == "cpu"
    groups = [n for n in BARRIER_GROUPS if n <= device.max_work_group_size and (not quick or n in (64, 256))]
    arrays = [n for n in ARRAY_BYTES if is_cpu or n <= GPU_ARRAY_BYTES]
    return [
        Probe("launch, group and work-item overhead", overheads),
        Probe("launches by the host's clock", launch_wall),
        Probe("scaling with work-groups", scaling, (COUNTED,)),
        Probe("local memory", local_memory),
        *([] if quick else [Probe("strides in local memory", local_strides)]),
        Probe("private arrays", private_rows, (PRIVATE_ROWS,)),
        *(
            Probe(f"private arrays of {n} bytes", partial(private_arrays, n), (private_array(n // 4),))
            for n in arrays
            if not quick
        ),
        *(Probe(f"barriers of {n} work-items", partial(barriers, n)) for n in groups),
        *([] if quick else [Probe("diverging branches", diverging, (divergence(),))]),
        Probe("local atomics on many addresses", local_spread_atomics),
        Probe("local atomics on one address", local_contended_atomics),
    ]


def overheads(bench: Bench) -> Finish:
    """Launch floor, each further group, each further work-item."""
    floor = bench.floor
    assert floor is not None
    empty = bench.kernel("__kernel void nothing(__global float* out) { }", "nothing", [bench.out])
    groups = bench.sized(empty, lanes=1)
    items = bench.sized(bench.kernel(LITTLE, "little", [bench.out]))

    def finish(rates: Rates) -> Rates:
        group_ns = groups.beyond_floor_us * 1000 / groups.items
        rest_ns = items.beyond_floor_us * 1000 - group_ns * items.items / LANES
        # What is below the noise counts as next to nothing, never as nothing or less.
        return replace(
            rates,
            launch_floor_us=readable(floor.us),
            group_overhead_ns=readable(max(group_ns, 1e-3)),
            item_overhead_ns=readable(max(rest_ns / items.items, 1e-6)),
            noise=noted(rates, ("launch_floor_us", floor), ("group_overhead_ns", groups), ("item_overhead_ns", items)),
        )

    return finish


def launch_wall(bench: Bench) -> Finish:
    empty = bench.kernel("__kernel void nothing(__global float* out) { }", "nothing", [bench.out])
    timed = bench.by_host(empty, FEW_GROUPS * LANES)
    return lambda rates: replace(
        rates, launch_wall_us=readable(timed.us), noise=noted(rates, ("launch_wall_us", timed))
    )


def scaling(bench: Bench) -> Finish:
    """Time few and many equal work-groups, to find the fewest with nine tenths of the best throughput."""
    units = bench.device.compute_units
    counts = sorted({1, max(1, units // 2), *(units * n for n in GROUPS_A_UNIT)})
    kernel = bench.kernel(COUNTED, "k", [bench.out, C, D, np.int32(SCALING_STEPS)])
    launches = {n: bench.fixed(kernel, (n * LANES,), (LANES,)) for n in counts}

    def finish(rates: Rates) -> Rates:
        gflop_s = {n: 2e-3 * SCALING_STEPS * LANES * n / timed.beyond_floor_us for n, timed in launches.items()}
        best = max(gflop_s.values())
        return replace(
            rates,
            groups_to_fill=next(n for n in counts if gflop_s[n] >= ENOUGH * best),
            scaling=tuple(ScalingPoint(n, readable(gflop_s[n]), timed.noise_percent) for n, timed in launches.items()),
        )

    return finish


def local_memory(bench: Bench) -> Finish:
    """32 loads of 4 bytes a work-item, and one store."""
    timed = bench.sized(bench.kernel(LOCAL, "rows", [bench.out, HALF]))
    return lambda rates: replace(
        rates, local_bandwidth_gb_s=per_s(timed, 33 * 4), noise=noted(rates, ("local_bandwidth_gb_s", timed))
    )


def local_strides(bench: Bench) -> Finish:
    launches = {
        stride: bench.sized(bench.kernel(LOCAL, "strided", [bench.out, HALF, np.uint32(stride)]))
        for stride in LOCAL_STRIDES
    }
    return lambda rates: replace(
        rates,
        local_strided=tuple(
            LocalStridePoint(stride, per_s(timed, 4 * STRIDED_LOADS), timed.noise_percent)
            for stride, timed in launches.items()
        ),
    )


def private_rows(bench: Bench) -> Finish:
    """32 stores and 32 loads of 4 bytes a work-item."""
    timed = bench.sized(bench.kernel(PRIVATE_ROWS, "k", [bench.out, HALF, np.uint32(7)]))
    return lambda rates: replace(
        rates, private_bandwidth_gb_s=per_s(timed, 64 * 4), noise=noted(rates, ("private_bandwidth_gb_s", timed))
    )


def private_arrays(size_bytes: int, bench: Bench) -> Finish:
    kernel = bench.kernel(private_array(size_bytes // 4), "k", [bench.out, HALF, np.uint32(7)])
    timed = bench.sized(kernel, ARRAY_LANES)

    def finish(rates: Rates) -> Rates:
        point = PrivatePoint(size_bytes, per_s(timed, 2 * size_bytes), timed.noise_percent)
        return replace(rates, private_arrays=(*rates.private_arrays, point))

    return finish


def barriers(group_items: int, bench: Bench) -> Finish:
    """Return what one barrier adds to one work-group: with eight of them against without any."""
    with_them = bench.sized(bench.kernel(BARRIERS, "with", [bench.out, HALF]), group_items)
    without = bench.fixed(bench.kernel(BARRIERS, "without", [bench.out, HALF]), (with_them.items,), (group_items,))

    def finish(rates: Rates) -> Rates:
        groups = with_them.items / group_items
        each_ns = readable(max(1e-3, (with_them.us - without.us) * 1000 / (FENCES * groups)))
        noise_percent = difference_noise(with_them, without)
        point = BarrierPoint(group_items, each_ns, noise_percent)
        rates = replace(rates, barriers=(*rates.barriers, point))
        if group_items != CALIBRATED_GROUP:
            return rates
        noise = (*rates.noise, RateNoise("barrier_ns", noise_percent))
        return replace(rates, barrier_ns=each_ns, noise=noise)

    return finish


def diverging(bench: Bench) -> Finish:
    launches = {ways: bench.sized(bench.kernel(divergence(), "k", [bench.out, C, D, np.int32(ways)])) for ways in WAYS}

    def finish(rates: Rates) -> Rates:
        each_us = {ways: item_us(timed) for ways, timed in launches.items()}
        return replace(
            rates,
            divergence=tuple(
                DivergencePoint(ways, readable(each_us[ways] / each_us[1]), timed.noise_percent)
                for ways, timed in launches.items()
            ),
        )

    return finish


def local_spread_atomics(bench: Bench) -> Finish:
    timed = _local_atomics(bench, "local_spread")
    return lambda rates: replace(
        rates, local_atomic_gop_s=per_s(timed, 16), noise=noted(rates, ("local_atomic_gop_s", timed))
    )


def local_contended_atomics(bench: Bench) -> Finish:
    timed = _local_atomics(bench, "local_contended")
    return lambda rates: replace(
        rates,
        contended_local_atomic_gop_s=per_s(timed, 16),
        noise=noted(rates, ("contended_local_atomic_gop_s", timed)),
    )


def _local_atomics(bench: Bench, kernel: str) -> Timed:
    return bench.sized(bench.kernel(ATOMICS, kernel, [bench.out]), decides=Decides.MIDDLE)
