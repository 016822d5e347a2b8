"""What the cores of each GPU architecture hold, and after how many cycles they answer.

The table is `architectures.csv`, one line each with its sources. A core is what holds whole work-groups: an SM
(NVIDIA), a compute unit (AMD up to CDNA), a work-group processor (AMD RDNA), a sub-slice or Xe-core (Intel), a GPU
core (Apple), a shader core (Arm), a shader processor (Qualcomm). Known devices name their architecture; others are
recognised by their names, else take the generic one of their vendor.

Sources that lines name shortly: Andersch et al., "On Latency in GPU Microarchitectures", ISPASS 2015; Mei and Chu,
"Dissecting GPU Memory Hierarchy Through Microbenchmarking", TPDS 2017 (arXiv 1509.02308, 2016); Jia et al.,
"Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", arXiv 1804.06826, 2018, and "Dissecting the
NVidia Turing T4 GPU via Microbenchmarking", arXiv 1903.07486, 2019; Abdelkhalik et al., "Demystifying the Nvidia
Ampere Architecture through Microbenchmarking and Instruction-level Analysis", arXiv 2208.11174, 2022; Luo et al.,
"Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking", arXiv 2402.13499, 2024;
Jarmusch et al., "Dissecting the NVIDIA Blackwell Architecture with Microbenchmarks", arXiv 2507.10789, 2025;
gpu-benches: what is published in RRZE-HPC/gpu-benches, latencies by `gpu-latency`, rates by `gpu-l2-cache` and
`gpu-cache`, over cores and the clock of the device measured; Chips and Cheese: articles of chipsandcheese.com.

Latencies are those of one dependent load of one work-item, its address computation included, with the page known;
where a line says "estimated", they may be off by half.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib import resources

from model.device import Device
from model.device_names import platform_family


@dataclass(frozen=True, slots=True)
class Architecture:
    """The limits of one core, and its latencies in cycles of the core clock."""

    name: str
    warp_width: int  # work-items that share an instruction: warp, wavefront, sub-group
    registers_per_core: int  # of 32 bits
    max_registers_per_item: int
    max_items_per_core: int  # resident
    max_groups_per_core: int  # resident
    local_bytes_per_core: int  # shared by the groups that are resident; one group may get less
    l1_bytes: int  # including local memory where both share one array; 0: buffers have no L1
    load_latency_l1_cycles: int  # that of L2 where buffers have no L1
    load_latency_l2_cycles: int
    load_latency_dram_cycles: int
    l1_bytes_per_clock: int  # that a core's cache gives out
    local_bytes_per_clock: int  # of a core
    l2_bytes_per_clock: int  # that L2 gives out, for each core; 0: not known
    l3_bytes_per_clock: int  # the same of a cache between L2 and memory
    l2_bytes_per_core: int  # where such a cache is what a device's `cache_bytes` tells; 0: it tells of L2
    local_latency_cycles: int
    fma_latency_cycles: int  # until a dependent multiply-add may issue
    schedulers_per_core: int  # each issues one instruction of one warp a cycle; four cycles apart on GCN and CDNA
    local_banks: int
    local_bank_bytes: int
    special_lanes_per_core: int  # special functions a cycle
    int32_share: float  # rate of int32 additions over that of fp32
    load_latency_l3_cycles: int = 0  # of AMD's Infinity Cache or the far half of an L2; 0: there is none
    l1_caches_loads: bool = True  # False: only loads known to be of read-only data go through L1
    source: str = ""


def architectures() -> Mapping[str, Architecture]:
    """Return all architectures by name, the generic ones included."""
    return _table()


def architecture_of(device: Device) -> Architecture:
    """Return the architecture of a GPU: the one its profile names, else by its name, else its vendor's generic one.

    CPUs have none; they get what is named `generic`, which says nothing about them.
    """
    table = _table()
    known = device.architecture or architecture_named(device.name)
    return table.get(known) or table[_generic_name(device)]


def architecture_named(name: str) -> str:
    """Return the architecture of the GPU that people or drivers call `name`; empty if the name does not tell."""
    plain = _plain(name)
    patterns = _PATTERNS.get(_vendor_named(plain), ())
    return next((architecture for pattern, architecture in patterns if re.search(pattern, plain)), "")


def vendor_of(device: Device) -> str:
    """Return whose GPU it is: `nvidia`, `amd`, `intel` ..., or the family of its platform where no name tells."""
    return _vendor_named(_plain(device.name)) or platform_family(device.platform)


def _generic_name(device: Device) -> str:
    vendor = vendor_of(device)
    return f"generic-{vendor}" if f"generic-{vendor}" in _table() else "generic"


def _vendor_named(plain: str) -> str:
    return next((vendor for pattern, vendor in _VENDORS if re.search(pattern, plain)), "")


def _plain(name: str) -> str:
    return re.sub(r"\((?:r|tm|c)\)|[®™]", "", name.lower())


@lru_cache(maxsize=1)
def _table() -> dict[str, Architecture]:
    text = resources.files("model").joinpath("architectures.csv").read_text("utf-8")
    return {row["name"]: _read(row) for row in csv.DictReader(text.splitlines())}


def _read(row: dict[str, str]) -> Architecture:
    special = {"name", "source", "int32_share", "l1_caches_loads"}
    return Architecture(
        name=row["name"],
        source=row["source"],
        int32_share=float(Fraction(row["int32_share"])),
        l1_caches_loads=row["l1_caches_loads"] == "yes",
        **{column: int(value) for column, value in row.items() if column not in special},
    )


# Which vendor's GPU a name means; Mesa and PoCL run kernels on those of several.
_VENDORS = (
    (r"radeon|\bamd\b|advanced micro|firepro|instinct|\bgfx\d|\brx \d|\bmi\d{2,3}", "amd"),
    (r"\bintel\b|\barc\b|\biris\b|\bu?hd graphics", "intel"), (r"\bmali|\bimmortalis|\barm\b", "arm"),
    (r"adreno|qualcomm", "qualcomm"), (r"\bapple\b", "apple"), (r"\bmusa\b|\bmtt\b|moore threads", "moore threads"),
    (r"nvidia|geforce|quadro|tesla|titan|\brtx|\bgtx?\b|\bcuda\b|\bg?[abh]\d{2,3}\b|\b[vp]100", "nvidia"),
)  # fmt: skip
# By vendor, in this order: the first that occurs in a name tells. LLVM's target names come first, they are exact.
_PATTERNS = {
    "amd": (
        (r"\bgfx[678]\d\d\b", "gcn"), (r"\bgfx90[0-69c]\b", "gcn5"), (r"\bgfx908\b", "cdna"),
        (r"\bgfx90a\b", "cdna2"), (r"\bgfx94\d\b", "cdna3"), (r"\bgfx950\b", "cdna4"), (r"\bgfx101\d\b", "rdna"),
        (r"\bgfx103\d\b", "rdna2"), (r"\bgfx110[01]\b|\bgfx1151\b", "rdna3"), (r"\bgfx11\d\d\b", "rdna3-small"),
        (r"\bgfx12\d\d\b", "rdna4"), (r"\bmi(?:25|50|60)\b", "gcn5"), (r"\bmi100\b", "cdna"),
        (r"\bmi2\d\d", "cdna2"), (r"\bmi3[0-4]\d", "cdna3"), (r"\bmi35\d", "cdna4"),
        (r"\bhd [56]\d{3}\b|\bfirepro v\d", "terascale"), (r"\brx 9\d{3}\b|\bai pro r9", "rdna4"),
        (r"\brx 7[3-6]\d\d|\bpro w7[56]00|\b7[4-8]0m\b|\b8[89]0m\b", "rdna3-small"),
        (r"\brx 7\d{3}|\bpro w7\d|\b80[56]0s\b", "rdna3"), (r"\brx 6\d{3}|\bpro w6\d|\b6[1-8]0m\b", "rdna2"),
        (r"\brx 5[3-7]\d0\b.*(?:xt|m)\b|\brx 5[3-7]00|\bpro w5[57]00", "rdna"),
        (r"\bvega\b|\bradeon vii\b|\bpro vii\b", "gcn5"),
        (r"\brx [45]\d\d\b|\br[579] |\bfirepro\b|\bhd [78]\d{3}\b|\bmi[68]\b|\bfury\b|\bwx \d", "gcn"),
    ),
    "nvidia": (
        (r"\bg?b[123]00\b", "blackwell-gb100"), (r"\bg?h(?:20|[128]00)\b", "hopper"),
        (r"\bquadro rtx\b|\btitan rtx\b|\brtx 20[5-8]0|\bgtx 16\d\d|\bcmp [345]0hx", "turing"),
        (r"\bt(?:4g?|[4-9]\d\d|[12]\d{3})\b", "turing"),
        (r"\brtx 40\d\d|\brtx \d000 (?:sff )?ada\b|\bl(?:2|4|20|40)[sg]?\b", "ada"),
        (r"\brtx pro \d{4}|\brtx 50\d\d|\bgb10\b", "blackwell"),
        (r"\ba(?:30|100|800)[xg]?\b|\bcmp 170hx", "ampere-ga100"),
        (r"\borin\b", "ampere-orin"), (r"\brtx 30\d\d|\brtx a\d{3,4}|\ba(?:2|10g?|16|40)\b|\bcmp \d", "ampere"),
        (r"\bg?v100|\btitan v\b|\bxavier\b", "volta"), (r"\bg?p100\b", "pascal-gp100"),
        (r"\bgtx? 10\d\d|\btitan xp\b|\btitan x\b.*pascal|\bp(?:4|6|40|\d{3,4})\b", "pascal"),
        (r"\bp10[246]-100\b|\bmx(?:150|[23][135]0)\b", "pascal"),
        (r"\bgtx 7[45]\d\b|\bgtx? (?:8[2-6]|9[3-6])\dm|\bmx1[13]0\b|\bquadro k(?:620|1200|2200)\b", "maxwell"),
        (r"\bgtx? 9\d\d|\btitan x\b|\bm(?:4|6|10|40|60|[1-6]000)\b|\btegra x1\b", "maxwell-gm200"),
        (r"\bk80\b", "kepler-gk210"),
        (r"\bk[24]0(?:c|m|s|x|st|xm)?\b|\bgtx 780|\btitan(?: black| z)?$|\bk6000\b", "kepler-gk110"),
        (r"\bgtx? [67]\d\d|\bk(?:1|2|10|\d{3,4})\b", "kepler"), (r"\bgtx? [45]\d\d|\b[cm]20[5-9]0\b", "fermi"),
        (r"\bgtx? 2\d\d\b", "tesla"),
    ),
    "intel": (
        (r"\bb[35-7]\d0?\b|\b1[34]0v\b", "intel-xe2"), (r"\bmax 1[15]\d0\b", "intel-xe-hpc"),
        (r"\barc\b|\bflex\b", "intel-xe-hpg"), (r"\biris xe\b|\buhd graphics 7\d\d\b", "intel-xe-lp"),
        (r"\bu?hd graphics (?:p?[56]\d\d|5[3-7]00|6000)\b|\biris (?:plus|pro) graphics|\bgen9\b", "intel-gen9"),
        (r"\bhd graphics (?:2500|4\d{3}|5[0-2]00)\b|^iris(?: pro)?$", "intel-gen7"),
    ),
    "apple": ((r"\bm[3-9]\b", "apple-m3"), (r"\bm[12]\b", "apple")),
    "arm": (
        (r"\bmali-t\d", "mali-midgard"), (r"\bmali-g(?:31|5[12]|7[126])\b", "mali-bifrost"),
        (r"\bmali-g[5-7][78]\b", "mali-valhall"), (r"\bmali-g\d{3}|\bimmortalis", "mali-valhall-csf"),
    ),
    "qualcomm": (
        (r"\badreno [3-5]\d\d\b", "adreno-5"), (r"\badreno 6\d\d\b", "adreno-6"),
        (r"\badreno (?:[78]\d\d|x)", "adreno-7"),
    ),
    "moore threads": ((r".", "musa"),),
}  # fmt: skip
