"""Runs probe kernels on one device and turns their times into rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl

from model.device_rates import DriverFacts
from profiler.child.probe_kernels import LANES, SOURCE
from profiler.child.timing import Plan, run_us, time_launch
from profiler.statistics import spread_percent

OUT_FLOATS = 64 * LANES * 2  # what the kernels write, doubles included
MAX_ITEMS = 1 << 28
Pick = Callable[[Sequence[float]], float]  # which of the batches' medians counts


FEW_GROUPS = 256


@dataclass(frozen=True, slots=True)
class Short:
    """How to time one of many small probes."""

    plan: Plan
    target_us: float


class Bench:
    """Owns the context, the built probes, and the spread that was seen."""

    def __init__(self, device: cl.Device, facts: DriverFacts, plan: Plan, target_us: float) -> None:
        self.device = device
        self.context = cl.Context([device])
        self.queue = cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)
        has = {"HAS_FP64": facts.has_fp64, "HAS_FP16": facts.has_fp16, "HAS_IMAGES": facts.has_images}
        self._program = cl.Program(self.context, SOURCE)
        self._program.build([f"-D{name}" for name, there in has.items() if there])
        self._plan = plan
        self._short = Short(Plan(budget_s=plan.budget_s / 4, batch_s=0.005, pause_s=0.002), 400.0)
        self._target_us = target_us
        self._kernels: dict[str, cl.Kernel] = {}
        self.out = self.buffer(OUT_FLOATS * 4)
        self.spreads_percent: list[float] = []

    def buffer(self, size_bytes: int) -> cl.Buffer:
        """Written once, so that its pages exist; ones, which keep sums normal numbers."""
        made = cl.Buffer(self.context, cl.mem_flags.READ_WRITE, size_bytes)
        cl.enqueue_copy(self.queue, made, np.ones(size_bytes // 4, np.float32))
        self.queue.finish()
        return made

    def holding(self, content: np.ndarray[Any, Any]) -> cl.Buffer:
        made = cl.Buffer(self.context, cl.mem_flags.READ_WRITE, content.nbytes)
        cl.enqueue_copy(self.queue, made, content)
        self.queue.finish()
        return made

    def item_ns(self, source: str, arguments: Sequence[Any], lanes: int) -> float:
        """Time of one work-item of the one kernel `k` of `source`, in a launch of many [ns]."""
        kernel = cl.Program(self.context, source).build().k
        kernel.set_args(*arguments)
        items = lanes * FEW_GROUPS

        def enqueue() -> cl.Event:
            return cl.enqueue_nd_range_kernel(self.queue, kernel, (items,), (lanes,))

        run_us(enqueue, 1)
        while items < MAX_ITEMS and (took_us := run_us(enqueue, 1)) < self._short.target_us:
            items *= int(min(16, max(2, 1.2 * self._short.target_us / took_us)))
        timing = time_launch(enqueue, self.queue, self._short.plan, reset=_nothing, on_batch=_ignore)
        self.spreads_percent.append(spread_percent(timing.medians_us))
        return min(timing.medians_us) * 1000 / items

    def grid_ns(self, source: str, arguments: Sequence[Any], size: tuple[int, int]) -> float:
        """As `item_ns`, over a plane in groups of 16 x 8."""
        kernel = cl.Program(self.context, source).build().k
        kernel.set_args(*arguments)

        def enqueue() -> cl.Event:
            return cl.enqueue_nd_range_kernel(self.queue, kernel, size, (16, 8))

        run_us(enqueue, 1)
        timing = time_launch(enqueue, self.queue, self._short.plan, reset=_nothing, on_batch=_ignore)
        return min(timing.medians_us) * 1000 / (size[0] * size[1])

    def time_us(
        self, kernel_name: str, items: int, arguments: Sequence[Any], *, lanes: int = LANES, pick: Pick = min
    ) -> float:
        """Time of one launch of `items` work-items in groups of `lanes`: the median of the fastest batch.

        Rates are what the device can sustain, so whatever else runs on the machine must not count. Where cores
        contend, though, a batch in which one of them was away looks fast: there `pick` is the median.
        """
        kernel = self._kernel(kernel_name, arguments)

        def enqueue() -> cl.Event:
            return cl.enqueue_nd_range_kernel(self.queue, kernel, (items,), (lanes,))

        run_us(enqueue, 1)
        timing = time_launch(enqueue, self.queue, self._plan, reset=_nothing, on_batch=_ignore)
        self.spreads_percent.append(spread_percent(timing.medians_us))
        return pick(timing.medians_us)

    def giga_s(self, kernel_name: str, per_item: float, arguments: Sequence[Any], pick: Pick = min) -> float:
        """What the device does a second, in 1e9, where each work-item does `per_item` of it."""
        items = self.items_for_target(kernel_name, arguments)
        return per_item * items / self.time_us(kernel_name, items, arguments, pick=pick) / 1000

    def items_for_target(self, kernel_name: str, arguments: Sequence[Any]) -> int:
        """As many work-items as take about the target time."""
        kernel = self._kernel(kernel_name, arguments)
        items = LANES * 64

        def enqueue() -> cl.Event:
            return cl.enqueue_nd_range_kernel(self.queue, kernel, (items,), (LANES,))

        run_us(enqueue, 1)
        while items < MAX_ITEMS and (took_us := run_us(enqueue, 1)) < self._target_us:
            # Not all the way at once: the first runs are mostly launch floor.
            items *= int(min(16, max(2, 0.7 * self._target_us / took_us)))
        return items

    def _kernel(self, name: str, arguments: Sequence[Any]) -> cl.Kernel:
        if name not in self._kernels:
            self._kernels[name] = cl.Kernel(self._program, name)
        self._kernels[name].set_args(*arguments)
        return self._kernels[name]


def _nothing() -> None:
    """Probes need no reset: what they read, they do not write."""


def _ignore(_share: float) -> None:
    """Progress is told by probe, not by batch."""
