"""What one operation costs, kind by kind and surrounding by surrounding [ns], all compute units together.

On CPUs everything, for what their runtimes differ in most is what they vectorise and what each function takes. On GPUs
each function and division by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pyopencl as cl

from model.device import Cost, Device, DeviceType, Rates
from profiler.child.calibration import cost_kernels as kernels
from profiler.child.calibration.bench import Bench, Target
from profiler.child.calibration.cost_calls import (
    DOUBLE_CALLS,
    FLOAT_CALLS,
    GPU_CALLS,
    INT_CALLS,
    LONE_CALLS,
    LONG_BODIES,
    QUICK_CALLS,
    VECTOR_CALLS,
)
from profiler.child.calibration.probe import Finish, Probe, readable
from profiler.child.calibration.rounds import Timed

IN_CONTEXTS = ("fp", "chain", "shared")
QUICK_IN_CONTEXTS = ("fp", "chain")
GPU_BODIES = ("divide", *kernels.INT_BODIES)
GROUP_SIZES = (8, 16, 32, 256)
SCATTER_KIB = (256, 4096, 65536)
IMAGE_SIZE = (512, 512)
INDEXED_ITEMS = 1 << 18  # two vectors of 1 MiB: not the nearest cache, but near
INDEX_TYPES = ("int", "uint", "size_t")
LANES = kernels.LANES
SHORT = Target(600, 3000)


_WORDS = {
    "vector": "{} in groups of many",
    "scalar": "{} in groups of one",
    "width": "groups of {}",
    "call": "{} of floats or ints",
    "call4": "{} of float4",
    "call64": "{} of doubles",
    "lone": "{} of lone work-items",
    "long": "{} of 64-bit integers",
    "scatter": "stores all over {} KiB",
    "image": "images of 512 x 512, {}",
    "shape": "groups of {}",
    "index": "an index of type {}",
    "atomic": "{} atomics",
}


def _in_words(name: str) -> str:
    """The name of a cost as users see it while it is measured."""
    kind, _, of = name.partition(".")
    return _WORDS.get(kind, f"{{}} where code is `{kind}`").format(of.replace("_", " "))


class CostBench:
    """Prepares programs of one kernel each on the same small buffers."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        x = np.random.default_rng(1).uniform(0.5, 1.0, kernels.REGIONS * kernels.REGION_FLOATS).astype(np.float32)
        trips = np.full(1024, kernels.ROUNDS, np.int32)
        self._x, self._trips = bench.holding(x), bench.holding(trips)
        self._empty: dict[int, Timed] = {}

    def program(self, name: str, source: str, per_item: int, lanes: int = LANES) -> Finish:
        """One of the `per_item` operations, without what an empty work-item takes."""
        if lanes not in self._empty:
            self._empty[lanes] = self.bench.sized(self._kernel(kernels.nothing()), lanes, target=SHORT)
        timed = self.bench.sized(self._kernel(source), lanes, target=SHORT)
        empty = self._empty[lanes]

        def finish(rates: Rates) -> Rates:
            item_ns = self._item_ns(timed)
            each_ns = max(item_ns - self._item_ns(empty), 0.02 * item_ns) / per_item
            return _with_cost(rates, name, each_ns, timed)

        return finish

    def turned(self, name: str, dimension: int) -> Finish:
        """A group of 1 x `LANES` for dimension 1, of `LANES` x 1 for dimension 0; more groups along dimension 0."""
        source, per_item = kernels.lanes_along(dimension)
        flat = self.bench.sized(self._kernel(kernels.lanes_along(0)[0]), LANES, target=SHORT)
        local = (LANES, 1) if dimension == 0 else (1, LANES)
        size = (flat.items, 1) if dimension == 0 else (flat.items // LANES, LANES)
        timed = self.bench.fixed(self._kernel(source), size, local, target=SHORT)
        return lambda rates: _with_cost(rates, name, self._item_ns(timed) / per_item, timed)

    def indexed(self, name: str, type_name: str) -> Finish:
        halves = [self.bench.holding(np.ones(INDEXED_ITEMS, np.float32)) for _ in range(2)]
        kernel = self.bench.kernel(kernels.indexed(type_name), "k", halves)
        timed = self.bench.fixed(kernel, (INDEXED_ITEMS,), (LANES,), target=SHORT)
        return lambda rates: _with_cost(rates, name, self._item_ns(timed), timed)

    def scattered(self, name: str, footprint_bytes: int) -> Finish:
        if footprint_bytes > self.bench.largest_bytes:
            return lambda rates: rates
        size = np.int32(footprint_bytes // 4)
        arguments = [self.bench.out, self.bench.memory, self._trips, np.float32(0.9), np.int32(5), size]
        timed = self.bench.sized(self.bench.kernel(kernels.scattered(), "k", arguments), LANES, target=SHORT)
        return lambda rates: _with_cost(rates, name, self._item_ns(timed), timed)

    def image(self, name: str, access: str) -> Finish:
        is_write = access == "write"
        flags = cl.mem_flags.WRITE_ONLY if is_write else cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
        wanted = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
        texels = None if is_write else np.ones((*IMAGE_SIZE, 4), np.float32)
        picture = cl.create_image(self.bench.context, flags, wanted, IMAGE_SIZE, hostbuf=texels)
        kernel = self.bench.kernel(kernels.image(access), "k", [picture, *([] if is_write else [self.bench.out])])
        timed = self.bench.fixed(kernel, IMAGE_SIZE, (16, 8), target=SHORT)
        return lambda rates: _with_cost(rates, name, self._item_ns(timed), timed)

    def _kernel(self, source: str) -> cl.Kernel:
        small = [np.float32(0.9), np.int32(5), np.int32(kernels.ROUNDS)]
        return self.bench.kernel(source, "k", [self.bench.out, self._x, self._trips, *small])

    def _item_ns(self, timed: Timed) -> float:
        return timed.beyond_floor_us * 1000 / timed.items


def _with_cost(rates: Rates, name: str, ns: float, timed: Timed) -> Rates:
    return replace(rates, costs=(*rates.costs, Cost(name, readable(ns), timed.noise_percent)))


class CostProbes:
    """All of them share a `CostBench`, made when the first is prepared."""

    def __init__(self, device: Device, *, quick: bool) -> None:
        self.found: list[Probe] = []
        self.sources: list[str] = [kernels.nothing()]
        self._bench: CostBench | None = None
        if device.type is DeviceType.CPU:
            self._surroundings(quick=quick)
            self._memory(device)
            if not quick:
                self._shapes()
        else:
            for body in GPU_BODIES:
                self._program(f"vector.{body}", partial(kernels.straight, body))
        self._functions(device, quick=quick)

    def _add(self, name: str, prepare: Callable[[CostBench, str], Finish]) -> None:
        def with_bench(bench: Bench) -> Finish:
            if self._bench is None:
                self._bench = CostBench(bench)
            return prepare(self._bench, name)

        self.found.append(Probe(_in_words(name), with_bench))

    def _program(self, name: str, made: Callable[[], tuple[str, int]], lanes: int = LANES) -> None:
        source, per_item = made()
        self.sources.append(source)
        self._add(name, lambda bench, name: bench.program(name, source, per_item, lanes))

    def _surroundings(self, *, quick: bool) -> None:
        """Straight-line code in groups of many and of one; then a few bodies in every surrounding."""
        for body in (*kernels.BODIES, *kernels.INT_BODIES):
            self._program(f"vector.{body}", partial(kernels.straight, body))
            self._program(f"scalar.{body}", partial(kernels.straight, body), lanes=1)
        for lanes in GROUP_SIZES:
            self._program(f"width.{lanes}", partial(kernels.straight, "fp"), lanes=lanes)
        for context in kernels.CONTEXTS:
            for body in QUICK_IN_CONTEXTS if quick else IN_CONTEXTS:
                self._program(f"{context}.{body}", partial(kernels.in_loop, context, body))
        self._program("reduced.fp", kernels.reduced)

    def _memory(self, device: Device) -> None:
        """Stores to lines that are not at hand, by footprint; images of 512 x 512."""
        for kib in SCATTER_KIB:
            self._add(f"scatter.{kib}", partial(CostBench.scattered, footprint_bytes=kib * 1024))
        self._program("atomic.local", kernels.local_atomics)
        for access in ("nearest", "linear", "write") if device.has_images else ():
            self._add(f"image.{access}", partial(CostBench.image, access=access))

    def _shapes(self) -> None:
        """The group's shape and the index's type, which decide whether some compilers vectorise."""
        self._add(f"shape.{LANES}x1", partial(CostBench.turned, dimension=0))
        self._add(f"shape.1x{LANES}", partial(CostBench.turned, dimension=1))
        for name in INDEX_TYPES:
            self._add(f"index.{name}", partial(CostBench.indexed, type_name=name))

    def _functions(self, device: Device, *, quick: bool) -> None:
        """One call each, in straight-line code; of each kind only the commonest if `quick`."""
        is_cpu = device.type is DeviceType.CPU
        wanted = None if is_cpu and not quick else QUICK_CALLS if quick else GPU_CALLS
        for name, call in FLOAT_CALLS.items():
            if wanted is None or name in wanted:
                self._program(f"call.{name}", partial(kernels.calls, call))
        for name in LONE_CALLS if is_cpu else ():
            self._program(f"lone.{name}", partial(kernels.calls, FLOAT_CALLS[name]), lanes=1)
        for name, call in INT_CALLS.items():
            if wanted is None or name in wanted:
                self._program(f"call.{name}", partial(kernels.calls, call, "int"))
        for name, call in VECTOR_CALLS.items() if is_cpu else ():
            self._program(f"call4.{name}", partial(kernels.calls, call, "float4"))
        for body in LONG_BODIES:
            self._program(f"long.{body}", partial(kernels.long_straight, body))
        if device.has_fp64 and not quick:
            for name, call in DOUBLE_CALLS.items():
                self._program(f"call64.{name}", partial(kernels.calls, call, "double"))
