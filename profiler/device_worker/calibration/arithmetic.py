"""Arithmetic by type and operation, latency against throughput, accumulator chains, divisions, functions, denormals."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from model.device import Device, Rates
from model.device_curves import ArithmeticRate, ChainPoint
from model.opencl.builtins import BUILTINS
from profiler.device_worker.calibration.arithmetic_kernels import (
    CHAINS,
    COUNTED,
    FUNCTIONS,
    STEPS,
    counted_chains,
    scaled,
    unrolled,
)
from profiler.device_worker.calibration.bench import LANES, Bench
from profiler.device_worker.calibration.probe import Finish, Probe, item_us, noisiest, noted, per_s, readable
from profiler.device_worker.calibration.rounds import Timed

C, D = np.float32(0.9), np.float32(0.3)
# Long enough that no out-of-order window spans two work-items: each then waits for its own chain alone.
COUNTED_STEPS = 2048
LONE_STEPS = 200_000
CHAIN_STEPS = 8192  # of all chains together
CHAIN_COUNTS = (1, 2, 4, 8)
CPU_GROUPS = 16  # for each compute unit: a CPU's runtime deals them out one by one
DENORMAL = np.float32(1e-40)
# (type, operation, the rate in `Rates` that it is as well)
FLOATS = (("float", "multiply-add", "fp32_gflop_s"), ("float4", "multiply-add", ""), ("float8", "multiply-add", ""),
          ("float16", "multiply-add", ""))  # fmt: skip
DOUBLES = (("double", "multiply-add", "fp64_gflop_s"), ("double2", "multiply-add", ""), ("double4", "multiply-add", ""))
HALVES = (("half", "multiply-add", "fp16_gflop_s"), ("half2", "multiply-add", ""), ("half4", "multiply-add", ""),
          ("half8", "multiply-add", ""))  # fmt: skip
INTEGERS = (("int", "add", "int32_gop_s"), ("int", "multiply", "int32_mul_gop_s"), ("int4", "add", ""),
            ("long", "add", "int64_gop_s"), ("long", "multiply", "int64_mul_gop_s"))  # fmt: skip


def probes(device: Device, *, quick: bool) -> list[Probe]:
    types = [*FLOATS, *INTEGERS, *(DOUBLES if device.has_fp64 else ()), *(HALVES if device.has_fp16 else ())]
    return [
        *(
            Probe(
                f"{type_name} {operation}",
                partial(_arithmetic, type_name, operation, rate),
                (unrolled(type_name, operation)[0],),
            )
            for type_name, operation, rate in types
            if rate or not quick
        ),
        Probe("multiply-adds in a counted loop", counted, (COUNTED,)),
        Probe("latency of a multiply-add", latency, (COUNTED,)),
        *(
            Probe(f"{count} accumulators", partial(chains, count), (counted_chains(count),))
            for count in CHAIN_COUNTS
            if not quick
        ),
        Probe("division", divides, (unrolled("float", "divide")[0],)),
        Probe("integer division", int_divides, (unrolled("int", "divide")[0],)),
        Probe("special functions", special),
        Probe("native functions", native),
        *([] if quick else [Probe("denormals", denormals, (scaled(),))]),
    ]


def _arithmetic(type_name: str, operation: str, rate: str, bench: Bench) -> Finish:
    """Unrolled, on four values; a multiply-add and an addition (with its xor) count two, a multiplication one."""
    source, width = unrolled(type_name, operation)
    is_float = operation == "multiply-add"
    arguments = [C, D] if is_float else [np.int32(0x5A5A), np.int32(7)]
    timed = bench.sized(bench.kernel(source, "k", [bench.out, *arguments]))
    per_item = (1 if operation == "multiply" else 2) * width * CHAINS * STEPS

    def finish(rates: Rates) -> Rates:
        gop_s = per_s(timed, per_item)
        found = ArithmeticRate(type_name, operation, gop_s, timed.noise_percent)
        rates = replace(rates, arithmetic=(*rates.arithmetic, found))
        return _with_rate(rates, rate, gop_s, timed) if rate else rates

    return finish


def _with_rate(rates: Rates, rate: str, gop_s: float, timed: Timed) -> Rates:
    noise = noted(rates, (rate, timed))
    match rate:
        case "fp32_gflop_s":
            return replace(rates, fp32_gflop_s=gop_s, noise=noise)
        case "fp64_gflop_s":
            return replace(rates, fp64_gflop_s=gop_s, noise=noise)
        case "fp16_gflop_s":
            return replace(rates, fp16_gflop_s=gop_s, noise=noise)
        case "int32_gop_s":
            return replace(rates, int32_gop_s=gop_s, noise=noise)
        case "int32_mul_gop_s":
            return replace(rates, int32_mul_gop_s=gop_s, noise=noise)
        case "int64_gop_s":
            return replace(rates, int64_gop_s=gop_s, noise=noise)
    return replace(rates, int64_mul_gop_s=gop_s, noise=noise)


def counted(bench: Bench) -> Finish:
    """GFLOP/s in a loop whose trip count is an argument."""
    timed = bench.sized(bench.kernel(COUNTED, "k", [bench.out, C, D, np.int32(COUNTED_STEPS)]))
    return lambda rates: replace(
        rates,
        scalar_fp32_gflop_s=per_s(timed, 2 * COUNTED_STEPS),
        noise=noted(rates, ("scalar_fp32_gflop_s", timed)),
    )


def latency(bench: Bench) -> Finish:
    """Return one work-item, each step of which waits for the one before."""
    kernel = bench.kernel(COUNTED, "k", [bench.out, C, D, np.int32(LONE_STEPS)])
    timed = bench.fixed(kernel, (1,), (1,))
    return lambda rates: replace(
        rates,
        fma_latency_ns=readable(timed.beyond_floor_us * 1000 / LONE_STEPS),
        noise=noted(rates, ("fma_latency_ns", timed)),
    )


def chains(count: int, bench: Bench) -> Finish:
    """Return one warp or vector on each compute unit, which nothing but further chains keeps busy."""
    device = bench.device
    steps = CHAIN_STEPS // count
    lanes = min(device.preferred_multiple, LANES)
    items = lanes * device.compute_units * (CPU_GROUPS if device.type == "cpu" else 1)
    timed = bench.fixed(
        bench.kernel(counted_chains(count), "k", [bench.out, C, D, np.int32(steps)]), (items,), (lanes,)
    )
    flops = 2 * count * steps * items

    def finish(rates: Rates) -> Rates:
        point = ChainPoint(count, readable(1e-3 * flops / timed.beyond_floor_us), timed.noise_percent)
        return replace(rates, chains=(*rates.chains, point))

    return finish


def divides(bench: Bench) -> Finish:
    timed = bench.sized(bench.kernel(unrolled("float", "divide")[0], "k", [bench.out, C, D]))
    return lambda rates: replace(
        rates, divide_gop_s=per_s(timed, CHAINS * STEPS), noise=noted(rates, ("divide_gop_s", timed))
    )


def int_divides(bench: Bench) -> Finish:
    arguments = [bench.out, np.int32(99991), np.int32(3)]
    timed = bench.sized(bench.kernel(unrolled("int", "divide")[0], "k", arguments))
    return lambda rates: replace(
        rates, int_divide_gop_s=per_s(timed, CHAINS * STEPS), noise=noted(rates, ("int_divide_gop_s", timed))
    )


def special(bench: Bench) -> Finish:
    """Return every function counted as the analysis counts it (`pow` is worth several)."""
    timed = bench.sized(bench.kernel(FUNCTIONS, "special", [bench.out, C, D]))
    worth = _worth("sin", "exp", "log", "pow")
    return lambda rates: replace(
        rates, special_gop_s=per_s(timed, 4 * worth), noise=noted(rates, ("special_gop_s", timed))
    )


def native(bench: Bench) -> Finish:
    timed = bench.sized(bench.kernel(FUNCTIONS, "native", [bench.out, C, D]))
    worth = _worth("native_sin", "native_exp", "native_log", "rsqrt")
    return lambda rates: replace(
        rates, native_gop_s=per_s(timed, 4 * worth), noise=noted(rates, ("native_gop_s", timed))
    )


def _worth(*names: str) -> float:
    return sum(count * BUILTINS[name].price for name in names for _, count in BUILTINS[name].costs)


def denormals(bench: Bench) -> Finish:
    """Time the same multiplications on denormal and on normal numbers.

    Fewer of them on denormal ones, which may take a hundred times as long.
    """
    normal = bench.sized(bench.kernel(scaled(), "k", [bench.out, C, np.float32(1.0)]))
    denormal = bench.sized(bench.kernel(scaled(), "k", [bench.out, C, DENORMAL]))

    def finish(rates: Rates) -> Rates:
        slowdown = max(1.0, item_us(denormal) / item_us(normal))
        noisier = max(normal, denormal, key=noisiest)
        return replace(rates, denormal_slowdown=readable(slowdown), noise=noted(rates, ("denormal_slowdown", noisier)))

    return finish
