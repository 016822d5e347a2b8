"""What one operation costs, kind by kind and surrounding by surrounding [ns], all compute units together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyopencl as cl

from model.device import Cost
from profiler.child.bench import Bench
from profiler.child.cost_kernels import (
    BODIES,
    CONTEXTS,
    INT_BODIES,
    LANES,
    REGION_FLOATS,
    REGIONS,
    ROUNDS,
    calls,
    image,
    in_loop,
    local_atomics,
    long_straight,
    nothing,
    reduced,
    scattered,
    straight,
)  # fmt: skip

IN_CONTEXTS = ("fp", "chain", "shared")
QUICK_IN_CONTEXTS = ("fp", "chain")
GROUP_SIZES = (8, 16, 32, 256)
SCATTER_KIB = (256, 4096, 65536)
IMAGE_SIZE = (512, 512)
_OF_ONE = (
    "sin cos tan asin acos atan sinh tanh exp exp2 exp10 expm1 log log2 log10 log1p cbrt erf sqrt rsqrt fabs floor "
    "round native_sin native_exp native_log native_sqrt native_rsqrt native_recip"
)
_OF_TWO = "pow atan2 hypot fmod fmin native_powr native_divide"
FLOAT_CALLS = {
    **{name: f"{name}(V)" for name in _OF_ONE.split()},
    **{name: f"{name}(V, c)" for name in _OF_TWO.split()},
    "fma": "fma(V, p, c)",
    "pown": "pown(V, e)",
    "mix": "mix(V, p, c)",
    "clamp": "clamp(V, 0.1f, c)",
    "dot": "dot((float3)(V, p, c), (float3)(c, V, p))",
    "length": "length((float3)(V, p, c))",
    "vload_half": "(vload_half4(lane, (__global const half*)x).x * V)",
}
QUICK_CALLS = frozenset(
    ("sin", "exp", "log", "pow", "sqrt", "rsqrt", "fmin", "floor", "native_exp", "vload_half", "dot", "length", "min")
)
INT_CALLS = {"min": "min(V, e)", "clz": "clz(V)", "rotate": "rotate(V, e)", "mul_hi": "mul_hi(V, p)",
             "mad24": "mad24(V, e, p)", "convert_sat": "convert_uchar_sat(V)"}  # fmt: skip
DOUBLE_CALLS = {"exp": "exp(V)", "sin": "sin(V)", "log": "log(V)", "pow": "pow(V, p)", "sqrt": "sqrt(V)",
                "fmin": "fmin(V, p)", "divide": "p / V"}  # fmt: skip
VECTOR_CALLS = {"fmin": "fmin(V, p)", "exp": "exp(V)"}
LONE_CALLS = ("exp", "sin", "fmin", "sqrt")  # also in groups of one work-item, where nothing is vectorised


class CostBench:
    """Times programs of one kernel each on the same small buffers."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        x = np.random.default_rng(1).uniform(0.5, 1.0, REGIONS * REGION_FLOATS).astype(np.float32)
        trips = np.full(1024, ROUNDS, np.int32)
        self._x, self._trips = bench.holding(x), bench.holding(trips)
        self._empty_ns = dict.fromkeys((1, *GROUP_SIZES, LANES), 0.0)
        source = nothing()
        for lanes in self._empty_ns:
            self._empty_ns[lanes] = self.ns(source, 1, lanes)

    def ns(self, source: str, per_item: int, lanes: int = LANES) -> float:
        """Nanoseconds for one of the `per_item` operations, without what an empty work-item takes."""
        arguments = [self.bench.out, self._x, self._trips, np.float32(0.9), np.int32(5), np.int32(ROUNDS)]
        item_ns = self.bench.item_ns(source, arguments, lanes)
        return max(item_ns - self._empty_ns[lanes], 0.02 * item_ns) / per_item

    def scattered_ns(self, footprint_bytes: int) -> float:
        memory = self.bench.buffer(footprint_bytes)
        arguments = [self.bench.out, memory, self._trips, np.float32(0.9), np.int32(5), np.int32(footprint_bytes // 4)]
        return self.bench.item_ns(scattered(), arguments, LANES)

    def image_ns(self, access: str) -> float:
        flag = cl.mem_flags.WRITE_ONLY if access == "write" else cl.mem_flags.READ_ONLY
        wanted = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
        picture = cl.create_image(self.bench.context, flag, wanted, IMAGE_SIZE)
        if access != "write":
            texels = np.ones((*IMAGE_SIZE, 4), np.float32)
            cl.enqueue_copy(self.bench.queue, picture, texels, origin=(0, 0), region=IMAGE_SIZE)
        return self.bench.grid_ns(
            image(access), [picture, *([] if access == "write" else [self.bench.out])], IMAGE_SIZE
        )


def surroundings(bench: CostBench, *, quick: bool) -> Iterator[Cost]:
    """Straight-line code in groups of many and of one; then a few bodies in every surrounding."""
    for body in (*BODIES, *INT_BODIES):
        yield Cost(f"vector.{body}", bench.ns(*straight(body)))
        yield Cost(f"scalar.{body}", bench.ns(*straight(body), lanes=1))
    for lanes in GROUP_SIZES:
        yield Cost(f"width.{lanes}", bench.ns(*straight("fp"), lanes=lanes))
    for context in CONTEXTS:
        for body in QUICK_IN_CONTEXTS if quick else IN_CONTEXTS:
            yield Cost(f"{context}.{body}", bench.ns(*in_loop(context, body)))
    yield Cost("reduced.fp", bench.ns(*reduced()))


def memory(bench: CostBench, has_images: bool) -> Iterator[Cost]:
    """Stores to lines that are not at hand, by footprint; images of 512 x 512."""
    for kib in SCATTER_KIB:
        yield Cost(f"scatter.{kib}", bench.scattered_ns(kib * 1024))
    yield Cost("atomic.local", bench.ns(*local_atomics()))
    if has_images:
        for access in ("nearest", "linear", "write"):
            yield Cost(f"image.{access}", bench.image_ns(access))


def functions(bench: CostBench, has_fp64: bool, *, quick: bool) -> Iterator[Cost]:
    """One call each, in straight-line code; of each kind only the commonest if `quick`."""
    for name, call in FLOAT_CALLS.items():
        if quick and name not in QUICK_CALLS:
            continue
        yield Cost(f"call.{name}", bench.ns(*calls(call)))
    for name in LONE_CALLS:
        yield Cost(f"lone.{name}", bench.ns(*calls(FLOAT_CALLS[name]), lanes=1))
    for name, call in INT_CALLS.items():
        if quick and name not in QUICK_CALLS:
            continue
        yield Cost(f"call.{name}", bench.ns(*calls(call, "int")))
    for name, call in VECTOR_CALLS.items():
        yield Cost(f"call4.{name}", bench.ns(*calls(call, "float4")))
    for body in ("add", "mul", "divide"):
        yield Cost(f"long.{body}", bench.ns(*long_straight(body)))
    if has_fp64 and not quick:
        for name, call in DOUBLE_CALLS.items():
            yield Cost(f"call64.{name}", bench.ns(*calls(call, "double")))
