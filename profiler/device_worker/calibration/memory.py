"""Bandwidth by footprint and by stride, gathers, global atomics, images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyopencl as cl

from model.device import BandwidthPoint, Device, GatherPoint, Rates, StridePoint
from model.device_curves import ImageRate
from model.device_rates import KIB, MIB, STRIDES
from model.memory_levels import memory_levels
from profiler.device_worker.calibration.bench import LANES, Bench, Target
from profiler.device_worker.calibration.memory_kernels import ATOMICS, IMAGE_WRITES, LOADS, LONE, STREAMS, image_reads
from profiler.device_worker.calibration.probe import Finish, Probe, noisiest, noted, per_s, readable
from profiler.device_worker.calibration.rounds import Decides, Timed

FOOTPRINTS = tuple(16 * KIB * 2**step for step in range(15))  # 16 KiB ... 256 MiB
GATHERED = tuple(16 * KIB * 4**step for step in range(8))
QUICK_FOOTPRINTS = (16 * KIB, 128 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB)
QUICK_STRIDES = (1, 4, 16, 64)
CHASES = 64  # steps of each work-item: enough that the chains of two work-items hardly overlap
CHASED_BYTES = 64 * MIB
STRIDED_BYTES = 128 * MIB
SWEEP_BYTES = 16 * MIB  # a bandwidth launch moves at least so much, in several rounds of a small footprint
PLAIN_BYTES = 4 * MIB  # from here on also one float for each work-item
STREAM = Target(4000, 8000)
COUNTERS = 0x10000  # that atomics are spread over
TEXELS = {1: (4096,), 2: (512, 512), 3: (64, 64, 64)}


def probes(device: Device, *, quick: bool) -> list[Probe]:
    footprints, gathered = (QUICK_FOOTPRINTS,) * 2 if quick else (FOOTPRINTS, GATHERED)
    found = [
        *(Probe(f"bandwidth at {_named(size)}", partial(bandwidth, size)) for size in footprints),
        *(Probe(f"gathers at {_named(size)}", partial(gathers, size)) for size in gathered),
        *(
            Probe(f"dependent loads at {_named(size)}", partial(chases, size))
            for size in gathered
            if size <= CHASED_BYTES
        ),
        *(Probe(f"stride {stride}", partial(strides, stride)) for stride in (QUICK_STRIDES if quick else STRIDES)),
        Probe("atomics on many addresses", spread_atomics),
        Probe("atomics on one address", contended_atomics),
    ]
    if device.has_images:
        found.append(Probe("image, nearest", partial(images, 2, "nearest"), (image_reads(2, "nearest"),)))
        if not quick:
            others = [(d, how) for d in (1, 2, 3) for how in ("nearest", "linear") if (d, how) != (2, "nearest")]
            found.extend(
                Probe(f"{d}D image, {how}", partial(images, d, how), (image_reads(d, how),)) for d, how in others
            )
            found.append(Probe("image writes", image_writes, (IMAGE_WRITES,)))
    return found


def bandwidth(footprint: int, bench: Bench) -> Finish:
    if footprint > bench.largest_bytes:
        return _unchanged
    whole, half = np.uint32(footprint // 4 - 1), np.uint32(footprint // 8 - 1)
    memory, moved = bench.memory, max(footprint, SWEEP_BYTES)
    reads = _streams(bench, "read", [memory, bench.out, whole], moved)
    writes = _streams(bench, "write", [memory, whole, np.float32(1)], moved)
    copies = _streams(bench, "copy", [memory, half], moved // 2)

    def finish(rates: Rates) -> Rates:
        read, write, copy = (
            readable(1e-3 * moved / min(timed.beyond_floor_us for timed in each)) for each in (reads, writes, copies)
        )
        point = BandwidthPoint(footprint, read, write, copy, noisiest(*reads, *writes, *copies))
        return replace(rates, bandwidth=_falling((*rates.bandwidth, point)))

    return finish


def _streams(bench: Bench, kind: str, arguments: list[object], work_bytes: int) -> list[Timed]:
    """Time launches of one kind, whose work-items together read or write `work_bytes`."""
    floats = work_bytes // 4
    rows = bench.kernel(STREAMS, f"{kind}_rows", arguments)
    found = [bench.fixed(rows, (floats // LOADS,), (LANES,), target=STREAM)]
    if work_bytes >= max(PLAIN_BYTES, SWEEP_BYTES):
        plain = bench.kernel(STREAMS, f"{kind}_plain", arguments)
        found.append(bench.fixed(plain, (floats,), (LANES,), target=STREAM))
    return found


def _falling(points: Sequence[BandwidthPoint]) -> tuple[BandwidthPoint, ...]:
    """Return the points, each at least as fast as those after it: a smaller footprint cannot be slower to reach.

    Where it looked slower, cores contended for the same lines, going round them again and again as no ordinary launch
    does.
    """
    return tuple(
        replace(
            point,
            read_gb_s=max(p.read_gb_s for p in points[at:]),
            write_gb_s=max(p.write_gb_s for p in points[at:]),
            copy_gb_s=max(p.copy_gb_s for p in points[at:]),
        )
        for at, point in enumerate(points)
    )


def gathers(footprint: int, bench: Bench) -> Finish:
    if footprint > bench.largest_bytes:
        return _unchanged
    arguments = [bench.memory, bench.out, np.uint32(footprint // 4 - 1)]
    timed = bench.sized(bench.kernel(LONE, "gather", arguments))

    def finish(rates: Rates) -> Rates:
        points = (*rates.gather, GatherPoint(footprint, per_s(timed, LOADS), timed.noise_percent))
        best = [max(p.gather_gaccess_s for p in points[at:]) for at in range(len(points))]
        return replace(rates, gather=tuple(replace(p, gather_gaccess_s=b) for p, b in zip(points, best, strict=True)))

    return finish


def chases(footprint: int, bench: Bench) -> Finish:
    """Time loads that wait for each other, over a footprint whose gathers were measured before."""
    if footprint > bench.largest_bytes:
        return _unchanged
    # A linear congruential generator's steps: one cycle through all places that nothing foresees (Hull & Dobell, 1962).
    mask = np.uint32(footprint // 4 - 1)
    places = (np.arange(footprint // 4, dtype=np.uint32) * np.uint32(1664525) + np.uint32(1013904223)) & mask
    arguments = [bench.holding(places), bench.out, mask, np.uint32(CHASES)]
    timed = bench.sized(bench.kernel(LONE, "chase", arguments))

    def finish(rates: Rates) -> Rates:
        found = per_s(timed, CHASES)
        points = (replace(p, chase_gaccess_s=found) if p.footprint_bytes == footprint else p for p in rates.gather)
        return replace(rates, gather=tuple(points))

    return finish


def strides(stride: int, bench: Bench) -> Finish:
    """On a footprint beyond the caches."""
    quarter = min(bench.largest_bytes, STRIDED_BYTES) // 16
    arguments = [bench.memory, bench.out, np.uint32(stride), np.uint32(quarter)]
    timed = bench.fixed(bench.kernel(LONE, "stride_walk", arguments), (quarter // stride,), (LANES,))

    def finish(rates: Rates) -> Rates:
        point = StridePoint(stride, per_s(timed, 4), timed.noise_percent)
        return replace(rates, strided=(*rates.strided, point))

    return finish


def spread_atomics(bench: Bench) -> Finish:
    timed = _atomics(bench, "spread")
    return lambda rates: replace(rates, atomic_gop_s=per_s(timed, 4), noise=noted(rates, ("atomic_gop_s", timed)))


def contended_atomics(bench: Bench) -> Finish:
    timed = _atomics(bench, "contended")
    return lambda rates: replace(
        rates, contended_atomic_gop_s=per_s(timed, 4), noise=noted(rates, ("contended_atomic_gop_s", timed))
    )


def _atomics(bench: Bench, kernel: str) -> Timed:
    counters = bench.holding(np.zeros(COUNTERS, np.int32))
    return bench.sized(bench.kernel(ATOMICS, kernel, [counters]), decides=Decides.MIDDLE)


def images(dimensions: int, access: str, bench: Bench) -> Finish:
    texels = np.ones((*TEXELS[dimensions][::-1], 4), np.float32)
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    picture = cl.create_image(bench.context, flags, _FORMAT, TEXELS[dimensions], hostbuf=texels)
    timed = bench.sized(bench.kernel(image_reads(dimensions, access), "k", [picture, bench.out]))

    def finish(rates: Rates) -> Rates:
        rate = ImageRate(dimensions, access, per_s(timed, 4), timed.noise_percent)
        rates = replace(rates, images=(*rates.images, rate))
        if (dimensions, access) != (2, "nearest"):
            return rates
        return replace(rates, image_read_gop_s=rate.gtexel_s, noise=noted(rates, ("image_read_gop_s", timed)))

    return finish


def image_writes(bench: Bench) -> Finish:
    picture = cl.create_image(bench.context, cl.mem_flags.WRITE_ONLY, _FORMAT, TEXELS[2])
    timed = bench.sized(bench.kernel(IMAGE_WRITES, "k", [picture]))
    return lambda rates: replace(
        rates, images=(*rates.images, ImageRate(2, "write", per_s(timed, 1), timed.noise_percent))
    )


_FORMAT = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)


def with_levels(rates: Rates) -> Rates:
    """Return the caches, told from the curve."""
    return replace(rates, memory_levels=memory_levels(rates.bandwidth))


def _unchanged(rates: Rates) -> Rates:
    """Larger than what this device can hold."""
    return rates


def _named(size: int) -> str:
    return f"{size // MIB} MiB" if size >= MIB else f"{size // KIB} KiB"
