"""What a core of each microarchitecture begins in a cycle, by kind and width of instructions.

Sources, by microarchitecture: Abel & Reineke, "uops.info", ASPLOS 2019, and its tables (Intel's and AMD's reciprocal
throughputs and latencies); Fog, "Instruction tables" and "The microarchitecture of Intel, AMD and VIA CPUs" (windows,
AMD's divisions, gathers); Intel, "Optimization Reference Manual" (248966), chapter 2; AMD, "Software Optimization
Guides" for families 17h (56305), 19h (56665, 57647) and 1Ah (58455), sections 2.10 and 2.11. Figures are rounded.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

GENERIC = "generic"
_ZEN = 0x17  # and Zen 2
_ZEN3 = 0x19  # and Zen 4
_ZEN5 = 0x1A


@dataclass(frozen=True, slots=True)
class ByWidth:
    """A number each for instructions of up to 128 bits, of 256 and of 512."""

    narrow: float
    middle: float
    wide: float

    def of(self, bits: int) -> float:
        return self.narrow if bits <= 128 else self.middle if bits <= 256 else self.wide


@dataclass(frozen=True, slots=True)
class Microarchitecture:
    """Instructions a cycle by kind, and cycles an instruction where a unit is busy for several (`..._cycles`)."""

    name: str
    issued: float  # instructions that begin in a cycle, whatever they are
    window: int  # instructions that are under way at once: the reorder buffer
    integer: float  # on scalars
    branch: float
    load: ByWidth
    store: ByWidth
    add: ByWidth  # of floats, and their comparisons and minima
    multiply: ByWidth  # of floats, multiply-adds among them
    vector_integer: ByWidth
    shuffle: ByWidth
    divide_f32_cycles: ByWidth
    divide_f64_cycles: ByWidth
    divide_i32_cycles: float
    divide_i64_cycles: float
    gather_cycles: float  # an element
    scatter_cycles: float


_TABLES = (
    Microarchitecture(
        "skylake", issued=4, window=224, integer=4, branch=1, load=ByWidth(2, 2, 2), store=ByWidth(1, 1, 1),
        add=ByWidth(2, 2, 2), multiply=ByWidth(2, 2, 2), vector_integer=ByWidth(3, 3, 2), shuffle=ByWidth(1, 1, 1),
        divide_f32_cycles=ByWidth(3, 5, 10), divide_f64_cycles=ByWidth(4, 8, 16), divide_i32_cycles=6,
        divide_i64_cycles=24, gather_cycles=0.65, scatter_cycles=1.2,
    ),
    Microarchitecture(
        "ice lake", issued=5, window=352, integer=4, branch=1, load=ByWidth(2, 2, 2), store=ByWidth(2, 1, 1),
        add=ByWidth(2, 2, 2), multiply=ByWidth(2, 2, 2), vector_integer=ByWidth(3, 3, 2), shuffle=ByWidth(2, 2, 1),
        divide_f32_cycles=ByWidth(3, 5, 10), divide_f64_cycles=ByWidth(4, 8, 16), divide_i32_cycles=6,
        divide_i64_cycles=10, gather_cycles=0.65, scatter_cycles=1.1,
    ),
    Microarchitecture(
        "sapphire rapids", issued=6, window=512, integer=5, branch=2, load=ByWidth(3, 3, 2), store=ByWidth(2, 2, 1),
        add=ByWidth(2, 2, 2), multiply=ByWidth(2, 2, 2), vector_integer=ByWidth(3, 3, 2), shuffle=ByWidth(2, 2, 1),
        divide_f32_cycles=ByWidth(3, 5, 10), divide_f64_cycles=ByWidth(4, 8, 16), divide_i32_cycles=6,
        divide_i64_cycles=10, gather_cycles=0.6, scatter_cycles=1.0,
    ),
    Microarchitecture(
        "zen 2", issued=5, window=224, integer=4, branch=1, load=ByWidth(2, 2, 1), store=ByWidth(1, 1, 0.5),
        add=ByWidth(2, 2, 1), multiply=ByWidth(2, 2, 1), vector_integer=ByWidth(3, 3, 1.5), shuffle=ByWidth(2, 2, 1),
        divide_f32_cycles=ByWidth(3.5, 6, 12), divide_f64_cycles=ByWidth(5, 8, 16), divide_i32_cycles=12,
        divide_i64_cycles=20, gather_cycles=2.2, scatter_cycles=2.0,
    ),
    Microarchitecture(
        "zen 3", issued=6, window=256, integer=4, branch=2, load=ByWidth(3, 2, 1), store=ByWidth(2, 1, 0.5),
        add=ByWidth(2, 2, 1), multiply=ByWidth(2, 2, 1), vector_integer=ByWidth(4, 4, 2), shuffle=ByWidth(2, 2, 1),
        divide_f32_cycles=ByWidth(3.5, 6, 12), divide_f64_cycles=ByWidth(4.5, 7, 14), divide_i32_cycles=6,
        divide_i64_cycles=9, gather_cycles=1.1, scatter_cycles=1.5,
    ),
    Microarchitecture(
        "zen 4", issued=6, window=320, integer=4, branch=2, load=ByWidth(3, 2, 1), store=ByWidth(2, 1, 0.5),
        add=ByWidth(2, 2, 1), multiply=ByWidth(2, 2, 1), vector_integer=ByWidth(4, 4, 2), shuffle=ByWidth(2, 2, 1),
        divide_f32_cycles=ByWidth(3.5, 5, 10), divide_f64_cycles=ByWidth(5, 7, 14), divide_i32_cycles=6,
        divide_i64_cycles=8, gather_cycles=1.0, scatter_cycles=1.5,
    ),
    Microarchitecture(
        "zen 5", issued=8, window=448, integer=6, branch=2, load=ByWidth(4, 2, 2), store=ByWidth(2, 2, 1),
        add=ByWidth(2, 2, 2), multiply=ByWidth(2, 2, 2), vector_integer=ByWidth(4, 4, 4), shuffle=ByWidth(2, 2, 2),
        divide_f32_cycles=ByWidth(3, 5, 10), divide_f64_cycles=ByWidth(5, 9, 16), divide_i32_cycles=6,
        divide_i64_cycles=8, gather_cycles=1.0, scatter_cycles=1.5,
    ),
    # Between the least of the above, without 512 bits.
    Microarchitecture(
        GENERIC, issued=4, window=192, integer=4, branch=1, load=ByWidth(2, 2, 1), store=ByWidth(1, 1, 0.5),
        add=ByWidth(2, 2, 1), multiply=ByWidth(2, 2, 1), vector_integer=ByWidth(3, 3, 1.5), shuffle=ByWidth(1, 1, 0.5),
        divide_f32_cycles=ByWidth(4, 6, 12), divide_f64_cycles=ByWidth(5, 9, 18), divide_i32_cycles=8,
        divide_i64_cycles=20, gather_cycles=1.0, scatter_cycles=1.5,
    ),
)  # fmt: skip
MICROARCHITECTURES = {each.name: each for each in _TABLES}


def microarchitecture(name: str | None) -> Microarchitecture:
    """Return the tables of that name; the generic ones where it is not known."""
    return MICROARCHITECTURES.get(name or GENERIC, MICROARCHITECTURES[GENERIC])


def microarchitecture_of(vendor: str, family: int, flags: Collection[str]) -> str:
    """Return the name in `MICROARCHITECTURES` whose tables fit best; `flags` as in Linux' /proc/cpuinfo.

    Hypervisors report models of their own making (a Sapphire Rapids as a Rocket Lake), but hardly ever the wrong
    instruction sets: these decide. Sources: Intel, "Architecture Instruction Set Extensions Programming Reference",
    table 1-1; AMD, "CPUID specification" and "Revision Guides" for families 17h, 19h and 1Ah.
    """
    has = set(flags)
    if vendor == "AuthenticAMD":
        if family < _ZEN:
            return GENERIC
        if family == _ZEN:
            return "zen 2" if "rdpid" in has or "clwb" in has else GENERIC  # the first Zen halves its vectors
        if family == _ZEN5:
            return "zen 5"
        return "zen 4" if "avx512f" in has else "zen 3" if family == _ZEN3 else GENERIC
    if vendor != "GenuineIntel":
        return GENERIC
    if has & {"amx_tile", "avx512_fp16"}:
        return "sapphire rapids"
    if has & {"avx512_vbmi2", "avx512_bitalg"}:
        return "ice lake"
    return "skylake" if has & {"avx512f", "avx2"} else GENERIC
