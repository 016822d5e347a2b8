"""Targets of the offline compilers, with the limits that decide how many work-groups a core holds at once.

They are finer than `model.architectures`: as exact as a compiler's allocation of registers needs.

Sources: NVIDIA, "CUDA C++ Programming Guide" 12.9, section 17.2, tables "Feature Support" and "Technical Specifications
per Compute Capability"; AMD, "RDNA", "RDNA2", "RDNA3", "RDNA4", "Vega", "MI100", "MI200" and "MI300 Instruction Set
Architecture"; LLVM, "User Guide for AMDGPU Backend" and its `AMDGPUBaseInfo.cpp` for granularities of allocation;
Intel, "oneAPI GPU Optimization Guide", chapter "Intel Xe GPU Architecture", and "The Compute Architecture of Intel
Processor Graphics" Gen9 and Gen11; Arm, "Arm GPU Datasheet", warp width and thread count, and "Mali Offline Compiler
User Guide", work registers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from model.errors import KernelcastError


class Vendor(StrEnum):
    NVIDIA = "nvidia"
    AMD = "amd"
    INTEL = "intel"
    ARM = "arm"


class UnknownTarget(KernelcastError):
    """No offline compiler has this target."""

    code = "target"


@dataclass(frozen=True, slots=True)
class CompileTarget:
    """One GPU architecture as its compiler names it.

    A core is an SM (NVIDIA), a CU (GCN, CDNA), a WGP (RDNA), a sub-slice or Xe-core (Intel) or a shader core (Arm):
    what holds whole work-groups. It has `partitions` that each have their own registers and waves; a wave is a warp, a
    wavefront or a hardware thread.

    An Intel compiler chooses how many work-items a hardware thread runs, kernel by kernel (`wave_size` is the usual
    number), and its registers are of a thread: each has `register_words` words for all of the thread's work-items.
    """

    target: str
    vendor: Vendor
    family: str
    wave_size: int  # work-items
    partitions: int  # of a core
    waves_per_partition: int
    groups_per_core: int  # work-groups of several waves
    registers_per_partition: int  # 32-bit registers for each lane of a wave, all waves together
    register_granularity: int  # registers of a work-item are allotted in multiples of this
    max_registers: int  # that a work-item can name
    local_bytes_per_core: int
    local_bytes_per_group: int
    local_granularity_bytes: int
    reserved_local_bytes: int = 0  # of each work-group, for the system
    has_images: bool = True
    register_words: int = 1  # of 32 bits, in one register of a hardware thread; Intel only
    local_sizes_bytes: tuple[int, ...] = ()  # the only sizes of local memory that are allotted; () for any multiple

    @property
    def waves_per_core(self) -> int:
        return self.partitions * self.waves_per_partition


def _nvidia(version: str, family: str, waves: int, groups: int, local_kib: int, *, reserved: int = 0) -> CompileTarget:
    """Return a target of NVIDIA's: 64 Ki registers of 32 bits in 4 partitions, 512 for each lane.

    OpenCL gives a work-group at most 48 KiB.
    """
    granularity = 128 if reserved else 256
    return CompileTarget(
        f"sm_{version}", Vendor.NVIDIA, family, 32, 4, waves // 4, groups, 512, 8, 255, local_kib << 10, 48 << 10,
        granularity, reserved,
    )  # fmt: skip


def _gcn(version: str, family: str, waves: int = 10, registers: int = 256, granularity: int = 4) -> CompileTarget:
    """Up to 16 work-groups wait at barriers in a CU. From CDNA2 on, accumulator registers are among the others."""
    local_kib = 160 if version == "950" else 64
    return CompileTarget(
        f"gfx{version}", Vendor.AMD, family, 64, 4, waves, 16, registers, granularity, min(registers, 512),
        local_kib << 10, local_kib << 10, 1280 if version == "950" else 512,
        has_images=version not in ("940", "941", "942", "950"),
    )  # fmt: skip


def _rdna(version: str, family: str, waves: int, registers: int, granularity: int) -> CompileTarget:
    """Waves of 32. A WGP of two CUs has four SIMDs and 128 KiB of local memory, 64 KiB at most for a work-group."""
    local_granularity = 512 if version.startswith("10") else 1024
    return CompileTarget(
        f"gfx{version}", Vendor.AMD, family, 32, 4, waves, 32, registers, granularity, 256, 128 << 10, 64 << 10,
        local_granularity,
    )  # fmt: skip


def _intel(target: str, family: str, units: int, threads: int, *, groups: int = 32, words: int = 8) -> CompileTarget:
    """Return a target of Intel's, whose partitions are execution units (vector engines).

    Their threads have 128 registers each, or fewer threads more. Sizes of local memory: Intel, "Open Source HD Graphics
    Programmer's Reference Manual", INTERFACE_DESCRIPTOR_DATA.
    """
    largest = 1 if family in ("Xe-HPC", "Xe2") else 0  # 128 KiB for one work-group
    core_kib = 64 if units == 8 and words == 8 else 128
    sizes = tuple(1 << power for power in range(10, 17 + largest))
    return CompileTarget(
        target, Vendor.INTEL, family, 16, units, threads, groups, 128 * threads, 128, 256 if threads == 8 else 128,
        core_kib << 10, sizes[-1], 1024, register_words=words, local_sizes_bytes=sizes,
    )  # fmt: skip


def _mali(core: str, family: str, warp: int, threads: int) -> CompileTarget:
    """Up to 32 work registers a core holds `threads` work-items, above half; local memory is cached global memory.

    So local memory never keeps a work-group out, and one may have 32 KiB, as drivers say.
    """
    warps, groups = threads // warp, 8 if threads <= 1024 else 16
    return CompileTarget(
        core.lower(), Vendor.ARM, family, warp, 1, warps, groups, 32 * warps, 32, 64, (32 << 10) * warps, 32 << 10, 1,
    )  # fmt: skip


_ALL = (
    _nvidia("50", "Maxwell", 64, 32, 64), _nvidia("52", "Maxwell", 64, 32, 96), _nvidia("53", "Maxwell", 64, 32, 64),
    _nvidia("60", "Pascal", 64, 32, 64), _nvidia("61", "Pascal", 64, 32, 96), _nvidia("62", "Pascal", 64, 32, 64),
    _nvidia("70", "Volta", 64, 32, 96), _nvidia("72", "Volta", 64, 32, 96), _nvidia("75", "Turing", 32, 16, 64),
    _nvidia("80", "Ampere", 64, 32, 164, reserved=1024), _nvidia("86", "Ampere", 48, 16, 100, reserved=1024),
    _nvidia("87", "Ampere", 48, 16, 164, reserved=1024), _nvidia("89", "Ada Lovelace", 48, 24, 100, reserved=1024),
    _nvidia("90", "Hopper", 64, 32, 228, reserved=1024), _nvidia("100", "Blackwell", 64, 32, 228, reserved=1024),
    _nvidia("103", "Blackwell", 64, 32, 228, reserved=1024), _nvidia("120", "Blackwell", 48, 24, 100, reserved=1024),
    _nvidia("121", "Blackwell", 48, 24, 100, reserved=1024),
    _gcn("803", "GCN 3/4"), _gcn("900", "Vega"), _gcn("902", "Vega"), _gcn("906", "Vega"), _gcn("90c", "Vega"),
    _gcn("908", "CDNA"), _gcn("90a", "CDNA2", 8, 512, 8), _gcn("942", "CDNA3", 8, 512, 8),
    _gcn("950", "CDNA4", 8, 512, 8),
    _rdna("1010", "RDNA", 20, 1024, 8), _rdna("1012", "RDNA", 20, 1024, 8),
    _rdna("1030", "RDNA2", 16, 1024, 16), _rdna("1031", "RDNA2", 16, 1024, 16), _rdna("1032", "RDNA2", 16, 1024, 16),
    _rdna("1035", "RDNA2", 16, 1024, 16), _rdna("1036", "RDNA2", 16, 1024, 16),
    _rdna("1100", "RDNA3", 16, 1536, 24), _rdna("1101", "RDNA3", 16, 1536, 24), _rdna("1102", "RDNA3", 16, 1024, 16),
    _rdna("1103", "RDNA3", 16, 1024, 16), _rdna("1150", "RDNA3.5", 16, 1024, 16),
    _rdna("1151", "RDNA3.5", 16, 1536, 24), _rdna("1200", "RDNA4", 16, 1536, 24), _rdna("1201", "RDNA4", 16, 1536, 24),
    _intel("skl", "Gen9", 8, 7, groups=16), _intel("kbl", "Gen9", 8, 7, groups=16),
    _intel("cfl", "Gen9", 8, 7, groups=16), _intel("icllp", "Gen11", 8, 7, groups=16),
    _intel("tgllp", "Xe-LP", 16, 7), _intel("rkl", "Xe-LP", 16, 7), _intel("adl-s", "Xe-LP", 16, 7),
    _intel("adl-p", "Xe-LP", 16, 7), _intel("adl-n", "Xe-LP", 16, 7), _intel("dg1", "Xe-LP", 16, 7),
    _intel("dg2-g10", "Xe-HPG", 16, 8), _intel("dg2-g11", "Xe-HPG", 16, 8), _intel("dg2-g12", "Xe-HPG", 16, 8),
    _intel("mtl-u", "Xe-LPG", 16, 8), _intel("mtl-h", "Xe-LPG", 16, 8),
    _intel("pvc", "Xe-HPC", 8, 8, words=16), _intel("lnl-m", "Xe2", 8, 8, words=16),
    _intel("bmg-g21", "Xe2", 8, 8, words=16),
    _mali("Mali-G71", "Bifrost", 4, 384), _mali("Mali-G72", "Bifrost", 4, 384), _mali("Mali-G31", "Bifrost", 4, 512),
    _mali("Mali-G51", "Bifrost", 4, 768), _mali("Mali-G52", "Bifrost", 8, 768), _mali("Mali-G76", "Bifrost", 8, 768),
    _mali("Mali-G57", "Valhall", 16, 1024), _mali("Mali-G68", "Valhall", 16, 1024),
    _mali("Mali-G77", "Valhall", 16, 1024), _mali("Mali-G78", "Valhall", 16, 1024),
    _mali("Mali-G510", "Valhall", 16, 2048), _mali("Mali-G610", "Valhall", 16, 2048),
    _mali("Mali-G710", "Valhall", 16, 2048), _mali("Mali-G615", "Valhall", 16, 2048),
    _mali("Mali-G715", "Valhall", 16, 2048), _mali("Immortalis-G715", "Valhall", 16, 2048),
    _mali("Mali-G620", "5th Gen", 16, 2048), _mali("Mali-G720", "5th Gen", 16, 2048),
    _mali("Immortalis-G720", "5th Gen", 16, 2048), _mali("Mali-G725", "5th Gen", 16, 2048),
    _mali("Immortalis-G925", "5th Gen", 16, 2048),
)  # fmt: skip
TARGETS = {each.target: each for each in _ALL}
# Other names for the same chips, as `ocloc` and Intel's documentation use them.
_ALIASES = {
    "dg2": "dg2-g10", "acm-g10": "dg2-g10", "ats-m150": "dg2-g10", "xe-hpg": "dg2-g10", "acm-g11": "dg2-g11",
    "ats-m75": "dg2-g11", "acm-g12": "dg2-g12", "xe-hpc": "pvc", "bmg": "bmg-g21", "lnl": "lnl-m", "xe2": "bmg-g21",
    "tgl": "tgllp", "adls": "adl-s", "adlp": "adl-p", "adln": "adl-n", "mtl": "mtl-u", "icl": "icllp",
}  # fmt: skip


def target_named(target: str) -> CompileTarget:
    """Return the target `sm_90`, `gfx90a`, `dg2-g10`, `mali-g710` ... Raises UnknownTarget."""
    name = target.strip().lower()
    found = TARGETS.get(_ALIASES.get(name, name))
    if found is None:
        raise UnknownTarget(f"there is no target `{target}`; there are {', '.join(TARGETS)}")
    return found
