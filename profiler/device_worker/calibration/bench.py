"""Builds probe kernels on one device and finds launches of them that are worth timing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np
import pyopencl as cl

from model.device import Device
from model.device_rates import MIB
from profiler.device_worker.calibration.rounds import Decides, Timed
from profiler.device_worker.failures import named_failures
from profiler.device_worker.timing import TRAIN, TRAIN_US, run_us

LANES = 256  # work-items a group, where a kernel does not say otherwise
OUT_FLOATS = 64 * LANES * 2
MAX_ITEMS = 1 << 28
MEMORY_BYTES = 256 * MIB
MIN_RUNS, MAX_RUNS = 2, 20
HOST_RUNS = 9
CONFIRMATIONS = 2
BUILT_TOGETHER = 12
# PoCL compiles a kernel once for ranges that 16 bits can count and once for larger ones, which most need in the end.
MANY_ITEMS = 1 << 16
TOO_LONG = 8  # times the target, with so many; then the search begins with few
FEW_GROUPS = 4  # some runtimes run a single group without waking anybody, which no real launch sees
PRELUDE = """
// Where a group writes what it computed. Work-groups that run at once on different cores are far apart in number: they
// must not write to the same cache lines, or passing those around is what is measured. 61 has no common factor with
// the distances at which runtimes deal out groups.
#define PLACE ((get_group_id(0) / 16 % 61) * 256)
#define R4(x) x x x x
#define R16(x) R4(R4(x))
#ifdef HAS_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#ifdef HAS_FP16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
"""


@dataclass(frozen=True, slots=True)
class Target:
    """How long one launch should take, and all the launches of one sample together [us]."""

    launch_us: float
    sample_us: float


class Bench:
    """Owns the context, what was built and allocated, and the list of launches to be timed."""

    def __init__(self, opened: cl.Device, device: Device, target: Target) -> None:
        self.device = device
        self.target = target
        self.probe = 0  # for whom launches are being prepared
        self.context = cl.Context([opened])
        self.queue = cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)
        self.launches: list[Timed] = []
        # Half of the largest buffer, and a power of two: masks in the kernels rely on it.
        self.largest_bytes = min(MEMORY_BYTES, 1 << ((device.max_alloc_bytes // 2).bit_length() - 1))
        has = {"HAS_FP64": device.has_fp64, "HAS_FP16": device.has_fp16}
        self._options = [f"-D{name}" for name, there in has.items() if there]
        self._programs: dict[str, cl.Program] = {}
        self._foreseen: dict[str, tuple[str, ...]] = {}
        self._memory: cl.Buffer | None = None
        self._kept: list[Sequence[Any]] = []  # kernels do not keep their arguments alive
        self.out = self.holding(np.ones(OUT_FLOATS, np.float32))
        self.floor: Timed | None = None
        self.floor = self._empty_launch()

    @property
    def memory(self) -> cl.Buffer:
        """A buffer of `largest_bytes`, filled with ones at its first use.

        Written, so that its pages exist, and with ones, so that sums stay normal numbers.
        """
        if self._memory is None:
            self._memory = self.holding(np.ones(self.largest_bytes // 4, np.float32))
        return self._memory

    def holding(self, content: np.ndarray[Any, Any]) -> cl.Buffer:
        made = cl.Buffer(self.context, cl.mem_flags.READ_WRITE, content.nbytes)
        cl.enqueue_copy(self.queue, made, content)
        self.queue.finish()
        return made

    def keep(self, made: object) -> None:
        """Keep something alive until the calibration ends."""
        self._kept.append([made])

    def foresee(self, sources: Sequence[str]) -> None:
        """Announce sources of one kernel `k` each, so that they are built many at a time.

        Compilers take longer to read the declarations of OpenCL's functions than to compile one of our kernels.
        """
        for first in range(0, len(sources), BUILT_TOGETHER):
            batch = tuple(dict.fromkeys(sources[first : first + BUILT_TOGETHER]))
            self._foreseen.update((source, batch) for source in batch)

    def kernel(self, source: str, name: str, arguments: Sequence[Any]) -> cl.Kernel:
        """Return a kernel of its own for these arguments."""
        made = self._built_together(source) or cl.Kernel(self._program(source), name)
        made.set_args(*arguments)
        self._kept.append(arguments)
        return made

    def _built_together(self, source: str) -> cl.Kernel | None:
        """None for a source that nobody foresaw, and where one of those built with it does not build."""
        batch = self._foreseen.get(source)
        if batch is None:
            return None
        parts = (f"#define k k{number}\n{each}\n#undef k\n" for number, each in enumerate(batch))
        try:
            program = self._program("".join(parts))
        except cl.Error:
            for each in batch:
                del self._foreseen[each]
            return None
        return cl.Kernel(program, f"k{batch.index(source)}")

    def _program(self, source: str) -> cl.Program:
        if source not in self._programs:
            self._programs[source] = cl.Program(self.context, PRELUDE + source).build(self._options)
        return self._programs[source]

    def sized(
        self, kernel: cl.Kernel, lanes: int = LANES, *, decides: Decides = Decides.FASTEST, target: Target | None = None
    ) -> Timed:
        """As many groups of `lanes` work-items as take about the target time."""
        target = target or self.target
        items = MANY_ITEMS
        enqueue = self._enqueue(kernel, (items,), (lanes,))
        if run_us(enqueue, 1) > TOO_LONG * target.launch_us:  # by the device's clock, which does not see it compile
            items = lanes * FEW_GROUPS
            enqueue = self._enqueue(kernel, (items,), (lanes,))
            run_us(enqueue, 1)
        while items < MAX_ITEMS and (took_us := _surely_us(enqueue, target.launch_us)) < target.launch_us:
            # Not all the way at once: the first runs are mostly launch floor. By powers of two, so that the next
            # calibration finds the same size.
            items *= 2 ** int(log2(min(16, max(2, target.launch_us / took_us))))
            enqueue = self._enqueue(kernel, (items,), (lanes,))
        return self._timed(enqueue, items, decides, target)

    def fixed(
        self,
        kernel: cl.Kernel,
        size: tuple[int, ...],
        local: tuple[int, ...],
        *,
        decides: Decides = Decides.FASTEST,
        target: Target | None = None,
    ) -> Timed:
        """Return a launch of just this size."""
        enqueue = self._enqueue(kernel, size, local)
        run_us(enqueue, 1)  # compiles it
        return self._timed(enqueue, int(np.prod(size)), decides, target or self.target)

    def by_host(self, kernel: cl.Kernel, items: int, lanes: int = LANES) -> Timed:
        """By the host's clock, from enqueueing to knowing that it ended."""
        enqueue = self._enqueue(kernel, (items,), (lanes,))
        enqueue().wait()

        def run() -> float:
            began = time.perf_counter()
            with named_failures("timing"):
                enqueue()
                self.queue.finish()
            return (time.perf_counter() - began) * 1e6

        return self.added(Timed(run, items, HOST_RUNS))

    def _empty_launch(self) -> Timed:
        kernel = self.kernel("__kernel void nothing(__global float* out) { }", "nothing", [self.out])
        return self.fixed(kernel, (FEW_GROUPS * LANES,), (LANES,))

    def _enqueue(self, kernel: cl.Kernel, size: tuple[int, ...], local: tuple[int, ...]) -> Callable[[], cl.Event]:
        return lambda: cl.enqueue_nd_range_kernel(self.queue, kernel, size, local)

    def _timed(self, enqueue: Callable[[], cl.Event], items: int, decides: Decides, target: Target) -> Timed:
        took_us = min(run_us(enqueue, 1) for _ in range(2))
        train = TRAIN if took_us < TRAIN_US else 1
        runs = int(min(MAX_RUNS, max(MIN_RUNS, target.sample_us / (took_us * train))))

        def run() -> float:
            with named_failures("timing"):
                return run_us(enqueue, train)

        return self.added(Timed(run, items, runs, decides))

    def added(self, timed: Timed) -> Timed:
        """Add what is to be timed in the rounds, as the current probe's."""
        timed.probe, timed.floor = self.probe, self.floor
        self.launches.append(timed)
        return timed


def _surely_us(enqueue: Callable[[], cl.Event], enough_us: float) -> float:
    """Return what a launch takes. One that took long enough may just have been disturbed, and must do so again."""
    took_us = run_us(enqueue, 1)
    for _ in range(CONFIRMATIONS):
        if took_us >= enough_us:
            took_us = min(took_us, run_us(enqueue, 1))
    return took_us
