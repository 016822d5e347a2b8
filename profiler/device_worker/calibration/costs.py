"""What one operation costs, kind by kind and surrounding by surrounding [ns], all compute units together.

On CPUs everything, for what their runtimes differ in most is what they vectorise and what each function takes. On GPUs
each function and division by itself.

Comparing costs in two surroundings shows which of them a CPU's compiler vectorises across work-items.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pyopencl as cl

from model.device import Cost, Device, DeviceType, Rates
from model.device_curves import Vectorised
from profiler.device_worker.calibration import cost_kernels as kernels
from profiler.device_worker.calibration.bench import Bench, Target
from profiler.device_worker.calibration.cost_kernels import (
    DOUBLE_CALLS,
    FLOAT_CALLS,
    GPU_CALLS,
    INT_CALLS,
    LONE_CALLS,
    LONG_BODIES,
    QUICK_CALLS,
    VECTOR_CALLS,
)
from profiler.device_worker.calibration.probe import LEAST_SHARE, Finish, Probe, difference_noise, item_us, readable
from profiler.device_worker.calibration.rounds import Timed

IN_CONTEXTS = ("fp", "chain", "shared")
QUICK_IN_CONTEXTS = ("fp", "chain")
IN_CALLS = ("fp",)
TOLD_ONLY = frozenset(("int_modulo", "int_divide_constant", "int_modulo_constant"))  # to people; no price reads them
GPU_BODIES = ("divide", *kernels.INT_BODIES)
GROUP_SIZES = (8, 16, 32, 256)
SCATTER_KIB = (256, 4096, 65536)
IMAGE_SIZE = (512, 512)
INDEXED_ITEMS = 1 << 18  # two vectors of 1 MiB: not the nearest cache, but near
INDEX_TYPES = ("int", "uint", "size_t")
LANES = kernels.LANES
SHORT = Target(600, 3000)
SHORT_AND_LONG = (kernels.STRAIGHT_ROUNDS, kernels.STRAIGHT_ROUNDS + kernels.FURTHER_ROUNDS)  # rounds
FEW_AND_MANY_CALLS = (4, 20)


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
    "masked": "{} under a mask",
    "index": "an index of type {}",
    "atomic": "{} atomics",
}


def _in_words(name: str) -> str:
    """Return the name of a cost as users see it while it is measured."""
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
        """Return one of the `per_item` operations, without what an empty work-item takes."""
        if lanes not in self._empty:
            self._empty[lanes] = self.bench.sized(self._kernel(kernels.nothing()), lanes, target=SHORT)
        timed = self.bench.sized(self._kernel(source), lanes, target=SHORT)
        empty = self._empty[lanes]

        def finish(rates: Rates) -> Rates:
            item_ns = 1000 * item_us(timed)
            each_ns = max(item_ns - 1000 * item_us(empty), LEAST_SHARE * item_ns) / per_item
            return _with_cost(rates, name, each_ns, difference_noise(timed, empty))

        return finish

    def lengthened(self, name: str, short: tuple[str, int], long: tuple[str, int], lanes: int) -> Finish:
        """Return what each operation takes that the long kernel has beyond the short one.

        In groups of few work-items, cores run one group beside the start and the end of others: what a short body
        takes is hidden, and an empty work-item tells nothing of it.
        """
        timed = [self.bench.sized(self._kernel(source), lanes, target=SHORT) for source, _ in (short, long)]
        operations = long[1] - short[1]

        def finish(rates: Rates) -> Rates:
            short_ns, long_ns = (1000 * item_us(each) for each in timed)
            each_ns = max(long_ns - short_ns, LEAST_SHARE * long_ns) / operations
            return _with_cost(rates, name, each_ns, difference_noise(timed[1], timed[0]))

        return finish

    def turned(self, name: str, dimension: int) -> Finish:
        """Time work-groups that extend along one dimension.

        A group is 1 x `LANES` for dimension 1, `LANES` x 1 for dimension 0; further groups lie along dimension 0.
        """
        source, per_item = kernels.lanes_along(dimension)
        flat = self.bench.sized(self._kernel(kernels.lanes_along(0)[0]), LANES, target=SHORT)
        local = (LANES, 1) if dimension == 0 else (1, LANES)
        size = (flat.items, 1) if dimension == 0 else (flat.items // LANES, LANES)
        timed = self.bench.fixed(self._kernel(source), size, local, target=SHORT)
        return lambda rates: _with_cost(rates, name, 1000 * item_us(timed) / per_item, timed.noise_percent)

    def indexed(self, name: str, type_name: str) -> Finish:
        halves = [self.bench.holding(np.ones(INDEXED_ITEMS, np.float32)) for _ in range(2)]
        kernel = self.bench.kernel(kernels.indexed(type_name), "k", halves)
        timed = self.bench.fixed(kernel, (INDEXED_ITEMS,), (LANES,), target=SHORT)
        return lambda rates: _with_cost(rates, name, 1000 * item_us(timed), timed.noise_percent)

    def scattered(self, name: str, footprint_bytes: int) -> Finish:
        if footprint_bytes > self.bench.largest_bytes:
            return lambda rates: rates
        size = np.int32(footprint_bytes // 4)
        arguments = [self.bench.out, self.bench.memory, self._trips, np.float32(0.9), np.int32(5), size]
        timed = self.bench.sized(self.bench.kernel(kernels.scattered(), "k", arguments), LANES, target=SHORT)
        return lambda rates: _with_cost(rates, name, 1000 * item_us(timed), timed.noise_percent)

    def image(self, name: str, access: str) -> Finish:
        is_write = access == "write"
        flags = cl.mem_flags.WRITE_ONLY if is_write else cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
        wanted = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
        texels = None if is_write else np.ones((*IMAGE_SIZE, 4), np.float32)
        picture = cl.create_image(self.bench.context, flags, wanted, IMAGE_SIZE, hostbuf=texels)
        kernel = self.bench.kernel(kernels.image(access), "k", [picture, *([] if is_write else [self.bench.out])])
        timed = self.bench.fixed(kernel, IMAGE_SIZE, (16, 8), target=SHORT)
        return lambda rates: _with_cost(rates, name, 1000 * item_us(timed), timed.noise_percent)

    def _kernel(self, source: str) -> cl.Kernel:
        small = [np.float32(0.9), np.int32(5), np.int32(kernels.ROUNDS)]
        return self.bench.kernel(source, "k", [self.bench.out, self._x, self._trips, *small])


def _with_cost(rates: Rates, name: str, ns: float, noise_percent: float) -> Rates:
    return replace(rates, costs=(*rates.costs, Cost(name, readable(ns), noise_percent)))


class CostProbes:
    """All of them share a `CostBench`, made when the first is prepared."""

    def __init__(self, device: Device, *, quick: bool) -> None:
        self.found: list[Probe] = []
        self._bench: CostBench | None = None
        if device.type is DeviceType.CPU:
            self._surroundings(quick=quick)
            self._memory(device)
            if not quick:
                self._shapes()
        else:
            for body in GPU_BODIES:
                self._program(f"vector.{body}", kernels.straight(body))
        self._functions(device, quick=quick)

    def _add(self, name: str, prepare: Callable[[CostBench, str], Finish], *sources: str) -> None:
        def with_bench(bench: Bench) -> Finish:
            if self._bench is None:
                self._bench = CostBench(bench)
            return prepare(self._bench, name)

        self.found.append(Probe(_in_words(name), with_bench, sources))

    def _program(self, name: str, made: tuple[str, int], lanes: int = LANES) -> None:
        source, per_item = made
        self._add(name, lambda bench, name: bench.program(name, source, per_item, lanes), source)

    def _lengthened(self, name: str, short: tuple[str, int], long: tuple[str, int], lanes: int) -> None:
        self._add(name, lambda bench, name: bench.lengthened(name, short, long, lanes), short[0], long[0])

    def _surroundings(self, *, quick: bool) -> None:
        """Straight-line code in groups of many and of one; then a few bodies in every surrounding."""
        for body in (*kernels.STRAIGHT_BODIES, *kernels.INT_BODIES):
            if quick and body in TOLD_ONLY:
                continue
            self._program(f"vector.{body}", kernels.straight(body))
            short, long = (kernels.straight(body, rounds, is_alone=True) for rounds in SHORT_AND_LONG)
            self._lengthened(f"scalar.{body}", short, long, lanes=1)
        for lanes in GROUP_SIZES:
            if lanes < LANES:
                short, long = (kernels.straight("fp", rounds, is_alone=True) for rounds in SHORT_AND_LONG)
                self._lengthened(f"width.{lanes}", short, long, lanes)
            else:
                self._program(f"width.{lanes}", kernels.straight("fp"), lanes)
        for context in kernels.CONTEXTS:
            for body in IN_CALLS if context == "called" else QUICK_IN_CONTEXTS if quick else IN_CONTEXTS:
                self._program(f"{context}.{body}", kernels.in_loop(context, body))
        self._program("reduced.fp", kernels.reduced())
        self._program("masked.stored", kernels.masked_stores())

    def _memory(self, device: Device) -> None:
        """Add probes of stores to lines outside the caches, by footprint, and of images of 512 x 512."""
        for kib in SCATTER_KIB:
            prepare = partial(CostBench.scattered, footprint_bytes=kib * 1024)
            self._add(f"scatter.{kib}", prepare, kernels.scattered())
        self._program("atomic.local", kernels.local_atomics())
        for access in ("nearest", "linear", "write") if device.has_images else ():
            self._add(f"image.{access}", partial(CostBench.image, access=access), kernels.image(access))

    def _shapes(self) -> None:
        """Add probes of the group's shape and the index's type, which decide whether some compilers vectorise."""
        for dimension, shape in enumerate((f"{LANES}x1", f"1x{LANES}")):
            source, _ = kernels.lanes_along(dimension)
            self._add(f"shape.{shape}", partial(CostBench.turned, dimension=dimension), source)
        for name in INDEX_TYPES:
            self._add(f"index.{name}", partial(CostBench.indexed, type_name=name), kernels.indexed(name))

    def _functions(self, device: Device, *, quick: bool) -> None:
        """One call each, in straight-line code; of each kind only the commonest if `quick`."""
        is_cpu = device.type is DeviceType.CPU
        wanted = None if is_cpu and not quick else QUICK_CALLS if quick else GPU_CALLS
        for name, call in FLOAT_CALLS.items():
            if wanted is None or name in wanted:
                self._program(f"call.{name}", kernels.calls(call))
        for name in LONE_CALLS if is_cpu and not quick else ():
            short, long = (kernels.calls(FLOAT_CALLS[name], times=times) for times in FEW_AND_MANY_CALLS)
            self._lengthened(f"lone.{name}", short, long, lanes=1)
        for name, call in INT_CALLS.items():
            if wanted is None or name in wanted:
                self._program(f"call.{name}", kernels.calls(call, "int"))
        for name, call in VECTOR_CALLS.items() if is_cpu else ():
            self._program(f"call4.{name}", kernels.calls(call, "float4"))
        for body in LONG_BODIES:
            self._program(f"long.{body}", kernels.long_straight(body))
        if device.has_fp64 and not quick:
            for name, call in DOUBLE_CALLS.items():
                self._program(f"call64.{name}", kernels.calls(call, "double"))


# (words for people, the cost there, the same work where it is in vectors)
_SURROUNDINGS = (
    ("groups of one work-item", "scalar.fp", "vector.fp"),
    ("groups of 8", "width.8", "vector.fp"),
    ("groups of 16", "width.16", "vector.fp"),
    ("groups of 1x64 instead of 64x1", "shape.1x64", "shape.64x1"),
    ("loops of constant length", "unrolled.fp", "vector.fp"),
    ("loops of run-time length", "counted.fp", "vector.fp"),
    ("loops whose length the data decide", "data.fp", "vector.fp"),
    ("loops with a barrier", "barrier.fp", "vector.fp"),
    ("loops between barriers", "kept.fp", "vector.fp"),
    ("branches that the data decide", "branch.fp", "vector.fp"),
    ("calls of functions", "called.fp", "vector.fp"),
    ("an index of type int", "index.int", "index.size_t"),
    ("an index of type uint", "index.uint", "index.size_t"),
)


def with_outcomes(rates: Rates) -> Rates:
    """Add what the compiler runs in vectors, told from the costs that were measured."""
    ns = {cost.name: cost.ns for cost in rates.costs}
    return replace(
        rates,
        vectorised=tuple(
            Vectorised(words, readable(ns[there] / ns[in_vectors]))
            for words, there, in_vectors in _SURROUNDINGS
            if there in ns and in_vectors in ns
        ),
    )
