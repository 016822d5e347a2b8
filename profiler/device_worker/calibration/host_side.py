"""What the host does for a command, and transfers: by kind and size, from memory of the driver's and from other."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from statistics import median
from typing import Any, cast

import numpy as np
import pyopencl as cl

from model.device import Device, Rates
from model.device_curves import HostSide, TransferPoint
from model.device_rates import KIB, MIB
from profiler.device_worker.calibration.bench import FEW_GROUPS, LANES, Bench
from profiler.device_worker.calibration.probe import Finish, Probe, readable
from profiler.device_worker.calibration.rounds import Decides, Timed
from profiler.device_worker.failures import named_failures

SIZES = (4 * KIB, 64 * KIB, MIB, 4 * MIB, 32 * MIB)
QUICK_SIZES = (4 * KIB, MIB, 16 * MIB)
CALLS = 50  # one behind the other, to see what each costs
RUNS, LARGE_RUNS = 9, 2  # of one sample; the latter from LARGE_BYTES on, and into new memory
LARGE_BYTES = 4 * MIB
PASSED_BYTES = 16 * MIB  # through the caches before each transfer: programs run kernels in between
LARGEST_KEPT = 16 * MIB  # new buffers are kept until the end up to here: a hundred of them, at most
KINDS = ("write", "read", "copy", "map")


def probes(device: Device, *, quick: bool) -> list[Probe]:
    sizes = [size for size in (QUICK_SIZES if quick else SIZES) if size <= device.max_alloc_bytes]
    return [
        Probe("calls of the host", calls),
        *(Probe(f"transfers of {size // KIB} KiB", partial(transfers, size)) for size in sizes),
    ]


def calls(bench: Bench) -> Finish:
    """Time launches of an empty kernel: in the call, before the start, between two, and after the end."""
    empty = bench.kernel("__kernel void nothing(__global float* out) { }", "nothing", [bench.out])

    def enqueue() -> cl.Event:
        return cl.enqueue_nd_range_kernel(bench.queue, empty, (FEW_GROUPS * LANES,), (LANES,))

    enqueue().wait()
    # Calls are timed through PyOpenCL beside the threads of a CPU device: what disturbs them only adds to them.
    queued = _timed(bench, partial(_enqueue_us, bench, enqueue), decides=Decides.FASTEST)
    start = _timed(bench, partial(_start_us, bench, enqueue))
    between = _timed(bench, partial(_between_us, enqueue))
    finish = _timed(bench, partial(_finish_us, bench, enqueue))

    def finished(rates: Rates) -> Rates:
        enqueue_us, start_us, between_us, finish_us = (
            readable(max(each.us, 0.01)) for each in (queued, start, between, finish)
        )
        known = rates.host_side.transfers if rates.host_side is not None else ()
        return replace(rates, host_side=HostSide(enqueue_us, start_us, between_us, finish_us, known))

    return finished


def transfers(size: int, bench: Bench) -> Finish:
    """Time one transfer of each kind, by its event: of data that no cache holds any more."""
    ends = _Ends.of(bench, size)
    timed = [
        (kind, is_pinned, _timed(bench, partial(ends.cold_us, kind, is_pinned), size))
        for kind in KINDS
        for is_pinned in (False, True)
        if kind in {"write", "read"} or not is_pinned
    ]
    # The fastest counts: a virtual machine's first use of memory that its host has not given it yet takes ten times as
    # long, and no later program sees that again.
    for kind, enqueue in (("first write", ends.write_first), ("first read", ends.read_first)):
        timed.append((kind, False, _timed(bench, partial(_event_us, enqueue), size, LARGE_RUNS, Decides.FASTEST)))

    def finished(rates: Rates) -> Rates:
        if rates.host_side is None:  # the probe of calls failed: transfers alone would look like a whole profile
            return rates
        points = [
            TransferPoint(kind, is_pinned, size, readable(each.us), each.noise_percent)
            for kind, is_pinned, each in timed
        ]
        return replace(rates, host_side=replace(rates.host_side, transfers=(*rates.host_side.transfers, *points)))

    return finished


@dataclass(frozen=True, slots=True)
class _Ends:
    """The ends of transfers: a plain array and one that the driver allocated, both of the host, and two buffers."""

    bench: Bench
    plain: np.ndarray[Any, Any]
    pinned: np.ndarray[Any, Any]
    first: cl.Buffer
    second: cl.Buffer

    @staticmethod
    def of(bench: Bench, size: int) -> _Ends:
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
        shared = cl.Buffer(bench.context, flags, size)
        pinned, event = _mapped(bench.queue, shared, cl.map_flags.WRITE, size)
        event.wait()
        pinned[:] = 1
        plain = np.ones(size, np.uint8)
        return _Ends(bench, plain, pinned, bench.holding(plain), bench.holding(plain))

    def cold_us(self, kind: str, is_pinned: bool) -> float:
        """Time one transfer after other data went through the caches."""
        passed = min(PASSED_BYTES, self.bench.largest_bytes // 2)
        memory = self.bench.memory
        # From one half of the memory into the other: both hold ones, as other probes rely on.
        cl.enqueue_copy(self.bench.queue, memory, memory, byte_count=passed, dst_offset=self.bench.largest_bytes // 2)
        return _event_us(partial(self.enqueue, kind, is_pinned))

    def enqueue(self, kind: str, is_pinned: bool) -> cl.Event:
        host, queue = self.pinned if is_pinned else self.plain, self.bench.queue
        match kind:
            case "write":
                return cl.enqueue_copy(queue, self.first, host, is_blocking=False)
            case "read":
                return cl.enqueue_copy(queue, host, self.first, is_blocking=False)
            case "copy":
                return cl.enqueue_copy(queue, self.second, self.first)
        mapped, event = _mapped(queue, self.first, cl.map_flags.READ, self.plain.nbytes)
        event.wait()
        mapped.base.release(queue)
        ended: cl.Event = event
        return ended

    def write_first(self) -> cl.Event:
        fresh = cl.Buffer(self.bench.context, cl.mem_flags.READ_WRITE, self.plain.nbytes)
        event = cl.enqueue_copy(self.bench.queue, fresh, self.plain, is_blocking=False)
        event.wait()
        if self.plain.nbytes < LARGEST_KEPT:  # else the allocator would give the same pages again
            self.bench.keep(fresh)
        return event

    def read_first(self) -> cl.Event:
        untouched = np.empty_like(self.plain)  # as programs get it: large arrays in large pages
        event = cl.enqueue_copy(self.bench.queue, untouched, self.first, is_blocking=False)
        event.wait()
        if untouched.nbytes < LARGEST_KEPT:
            self.bench.keep(untouched)
        return event


def _mapped(queue: cl.CommandQueue, buffer: cl.Buffer, how: cl.map_flags, size: int) -> tuple[Any, Any]:
    """Map all of a buffer; return its bytes and the event."""
    mapped = cl.enqueue_map_buffer(queue, buffer, how, 0, (size,), np.dtype(np.uint8), is_blocking=False)
    return cast("tuple[Any, Any]", mapped)


def _timed(
    bench: Bench, run: Callable[[], float], items: int = 1, runs: int = RUNS, decides: Decides = Decides.MIDDLE
) -> Timed:
    """Return what is timed in the rounds; the middle of its runs counts, as ordinary programs see it."""

    def named() -> float:
        with named_failures("timing"):
            return run()

    named()
    return bench.added(Timed(named, items, LARGE_RUNS if items >= LARGE_BYTES else runs, decides))


def _event_us(enqueue: Callable[[], cl.Event]) -> float:
    event = enqueue()
    event.wait()
    return max((event.profile.end - event.profile.start) / 1000, 0.01)


def _enqueue_us(bench: Bench, enqueue: Callable[[], cl.Event]) -> float:
    """Return what one of many calls takes, less what PyOpenCL adds: an empty flush is little more than that."""
    began = time.perf_counter()
    events = [enqueue() for _ in range(CALLS)]
    took_us = (time.perf_counter() - began) * 1e6 / CALLS
    cl.wait_for_events(events)
    return max(took_us - _binding_us(bench), 0.1 * took_us)


def _binding_us(bench: Bench) -> float:
    began = time.perf_counter()
    for _ in range(CALLS):
        bench.queue.flush()
    return (time.perf_counter() - began) * 1e6 / CALLS


def _start_us(bench: Bench, enqueue: Callable[[], cl.Event]) -> float:
    bench.queue.finish()
    event = enqueue()
    event.wait()
    return (event.profile.start - event.profile.queued) / 1000


def _between_us(enqueue: Callable[[], cl.Event]) -> float:
    events = [enqueue() for _ in range(CALLS)]
    cl.wait_for_events(events)
    times = [(event.profile.start, event.profile.end) for event in events]
    return median(max(0, after[0] - before[1]) for before, after in pairwise(times)) / 1000


def _finish_us(bench: Bench, enqueue: Callable[[], cl.Event]) -> float:
    """Return what passes between a command's end and the host's going on: all that it waits, less what is known."""
    binding_us = _binding_us(bench)
    began = time.perf_counter()
    event = enqueue()
    bench.queue.finish()
    waited_us = (time.perf_counter() - began) * 1e6 - 2 * binding_us
    return max(0.0, waited_us - (event.profile.end - event.profile.queued) / 1000)
