"""Makes the profiles in model/devices from the facts in this folder.

Order of trust: what clpeak measured through OpenCL; else the datasheet; else the rules of model/device_rates.py.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from model.device import BandwidthPoint, Device, DeviceType, ProfileSource, Rates
from model.device_catalog import slug
from model.device_names import platform_family
from model.device_rates import KIB, SUSTAINED_SHARE, DriverFacts, GpuFigures, cpu_rates, gpu_rates, intel_cores
from model.host_cost import host_launch_us

HERE = Path(__file__).parent
CLPEAK = "clpeak's public results (krrishnarraj/clpeak, Apache-2.0)"
RULES = "other rates scaled, see model/device_rates.py"
LEAST_SHARE = 0.6  # of a datasheet's bandwidth: below, a measurement went wrong or the board had slower memory
NOT_TO_BE_TRUSTED = {
    ("Quadro GV100", "bandwidth"),  # 66 % where the same chip reaches 90 % on two other boards
    ("Apple M1", "launch latency"),  # 1.45 us: the driver notes the enqueueing when it starts the kernel
}
HOST_DEFAULT = "the usual one of such drivers (model/host_cost.py), not measured"
_PLAIN = re.compile(r"@.*|with Radeon.*|\b[\w]+-Core\b|\b(?:Processor|CPU|APU)\b|\d+th Gen ")
MAKERS = ("nvidia", "amd", "intel", "apple", "arm", "qualcomm", "moore threads")


@dataclass(frozen=True, slots=True)
class Peaks:
    """One device in one of clpeak's logs; None where the log says nothing."""

    driver: str
    compute_units: int | None
    clock_mhz: int | None
    bandwidth_gb_s: float | None
    fp32_gflop_s: float
    fp64_gflop_s: float | None
    fp16_gflop_s: float | None
    int32_mad_gop_s: float | None  # a multiplication and an addition count two
    launch_latency_us: float | None  # from enqueueing to the start


@dataclass(frozen=True, slots=True)
class GpuRow:
    """One line of gpus.csv."""

    name: str
    platform: str
    aliases: tuple[str, ...]
    figures: GpuFigures
    memory_gb: float
    logs: tuple[str, ...]
    source: str

    @property
    def architecture(self) -> str:
        """A name in model/architectures.csv."""
        return self.figures.architecture


def profiles() -> Iterator[Device]:
    """All profiles, the stand-ins included."""
    yield _generic_cpu()
    yield _generic_gpu()
    peaks = read_peaks()
    for row in read_gpus():
        yield gpu_profile(row, _peaks_of(row.logs, DeviceType.GPU, peaks))
    yield from (_cpu_profile(row, peaks) for row in _rows("cpus.csv"))


def read_peaks() -> dict[str, list[Peaks]]:
    """What clpeak measured, by log; some logs hold a GPU and a CPU, in this order."""
    found: dict[str, list[Peaks]] = {}
    for row in _rows("clpeak.csv"):
        units, clock = row["compute_units"], row["clock_mhz"]
        peaks = Peaks(
            row["driver"],
            int(units) if units else None,
            int(clock) if clock else None,
            _number(row["bandwidth_gb_s"]),
            float(row["fp32_gflop_s"]),
            _number(row["fp64_gflop_s"]),
            _number(row["fp16_gflop_s"]),
            _number(row["int32_mad_gop_s"]),
            _number(row["launch_latency_us"]),
        )
        found.setdefault(row["log"], []).append(peaks)
    return found


def read_gpus() -> Iterator[GpuRow]:
    """The datasheets."""
    for row in _rows("gpus.csv"):
        units, lanes, clock_mhz = int(row["units"]), int(row["lanes"]), int(row["clock_mhz"])
        figures = GpuFigures(
            compute_units=units,
            lanes_per_unit=lanes,
            clock_mhz=clock_mhz,
            fp32_gflop_s=units * lanes * 2 * clock_mhz / 1000,
            fp64_ratio=float(Fraction(row["fp64"])),
            fp16_ratio=float(Fraction(row["fp16"])),
            int_ratio=float(Fraction(row["int32"])),
            dram_bandwidth_gb_s=_number(row["bandwidth_gb_s"]) or 0.0,
            l2_bytes=int(row["cache_kib"]) * KIB,
            launch_floor_us=5.0 if row["platform"] == "NVIDIA CUDA" else 8.0,
            cores=int(row["cores"] or 0) or (intel_cores(row["name"], units) if _is_intels(row["name"]) else 0),
            host_us=host_launch_us(row["platform"], row["name"]),
            architecture=row["architecture"],
        )
        aliases, logs = _several(row["aliases"]), _several(row["clpeak_log"])
        memory_gb = float(row["memory_gb"])
        yield GpuRow(row["name"], row["platform"], aliases, figures, memory_gb, logs, row["source"])


def gpu_profile(row: GpuRow, peaks: Peaks | None) -> Device:
    """A GPU from its datasheet, with what was measured in its place."""
    sheet, measured, words = row.figures, [], ""
    clock_mhz, bandwidth = sheet.clock_mhz, sheet.dram_bandwidth_gb_s
    if peaks:
        measured = ["fp32"]
        if peaks.clock_mhz and peaks.clock_mhz > sheet.clock_mhz / 2:  # some drivers report an idle clock
            clock_mhz = peaks.clock_mhz
        seen = peaks.bandwidth_gb_s or 0.0
        trusted = (row.name, "bandwidth") not in NOT_TO_BE_TRUSTED and seen > LEAST_SHARE * bandwidth
        if trusted:
            bandwidth = seen / SUSTAINED_SHARE  # the rules take this share of it again
            measured.append("global bandwidth")
        else:
            words = f"; the measured bandwidth of {seen:g} GB/s is not plausible and was left out"
    rates = gpu_rates(replace(sheet, clock_mhz=clock_mhz, dram_bandwidth_gb_s=bandwidth))
    if peaks:
        changes = {"fp32_gflop_s": peaks.fp32_gflop_s, "scalar_fp32_gflop_s": peaks.fp32_gflop_s}
        if (host_us := _host_us(row.name, peaks)) is not None:
            changes["launch_wall_us"] = rates.launch_floor_us + host_us
        ratio = peaks.fp32_gflop_s / rates.fp32_gflop_s
        changes["fp64_gflop_s"] = peaks.fp64_gflop_s or rates.fp64_gflop_s * ratio
        changes["fp16_gflop_s"] = peaks.fp16_gflop_s or rates.fp16_gflop_s * ratio
        if peaks.int32_mad_gop_s:
            changes["int32_mul_gop_s"] = peaks.int32_mad_gop_s / 2
        measured += [
            name
            for name, value in (
                ("fp64", peaks.fp64_gflop_s),
                ("fp16", peaks.fp16_gflop_s),
                ("int32", peaks.int32_mad_gop_s),
            )
            if value
        ]
        rates = replace(rates, **changes)
    # What was measured stays below it, whatever stands in a table.
    peak = max(sheet.dram_bandwidth_gb_s, rates.bandwidth[-1].read_gb_s)
    rates = replace(rates, peak_bandwidth_gb_s=peak if sheet.dram_bandwidth_gb_s else rates.peak_bandwidth_gb_s)
    local_kib, lanes, largest, is_wide = _limits(row)
    return Device(
        id=_id(row.name, row.platform),
        name=row.name,
        platform=row.platform,
        type=DeviceType.GPU,
        driver="",
        compute_units=sheet.compute_units,
        clock_mhz=clock_mhz,
        global_mem_bytes=int(row.memory_gb * 1e9),
        max_alloc_bytes=int(row.memory_gb * 1e9 / 4),
        local_mem_bytes=local_kib * KIB,
        cache_bytes=sheet.l2_bytes,
        max_work_group_size=largest,
        max_work_item_sizes=(largest, largest, 64 if is_wide else largest),
        preferred_multiple=lanes,
        has_fp64=rates.fp64_gflop_s > 0,
        has_fp16=rates.fp16_gflop_s > 0,
        has_images=True,
        rates=rounded(rates),
        source=ProfileSource.DATASHEET,
        note=_note(peaks, measured, row.source, len(row.logs)) + words + _host_words(row.name, peaks),
        aliases=row.aliases,
        cores=sheet.cores,
        architecture=row.architecture,
    )


def _host_us(name: str, peaks: Peaks | None) -> float | None:
    """Return what the host waits beyond the device's own time, where clpeak measured it plausibly."""
    us = peaks.launch_latency_us if peaks else None
    return us if us and us > 0 and (name, "launch latency") not in NOT_TO_BE_TRUSTED else None


def _host_words(name: str, peaks: Peaks | None) -> str:
    return "" if _host_us(name, peaks) is not None else f"; host's launch cost: {HOST_DEFAULT}"


def _is_intels(name: str) -> bool:
    return name.startswith(("Intel", "Iris"))


def rounded(rates: Rates) -> Rates:
    """To four digits: nothing here is known better."""
    curves = ("bandwidth", "gather", "strided", "memory_levels")
    plain = {
        name: _short(value) for name in Rates.__dataclass_fields__ if isinstance(value := getattr(rates, name), float)
    }
    points = {
        name: tuple(
            replace(p, **{f: _short(v) for f in p.__dataclass_fields__ if isinstance(v := getattr(p, f), float)})
            for p in getattr(rates, name)
        )
        for name in curves
    }
    return replace(rates, **plain, **points)


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _cpu_profile(row: dict[str, str], peaks: dict[str, list[Peaks]]) -> Device:
    seen = _peaks_of((row["clpeak_log"],), DeviceType.CPU, peaks)
    assert seen is not None
    assert seen.bandwidth_gb_s is not None
    units, cache = int(row["units"]), int(row["cache_kib"]) * KIB
    memory = int(float(row["memory_gb"]) * 1e9)
    facts = _facts(row["name"], DeviceType.CPU, units, int(row["clock_mhz"]), memory, cache)
    facts = replace(facts, platform=row["platform"], has_fp16=bool(seen.fp16_gflop_s))
    rates = cpu_rates(facts, dram_gb_s=seen.bandwidth_gb_s)
    slower = min(1.0, seen.fp32_gflop_s / rates.fp32_gflop_s)
    host_us = _host_us(row["name"], seen) or host_launch_us(row["platform"], is_cpu=True)
    rates = replace(
        rates,
        fp32_gflop_s=seen.fp32_gflop_s,
        fp64_gflop_s=seen.fp64_gflop_s or 0.0,
        fp16_gflop_s=seen.fp16_gflop_s or 0.0,
        scalar_fp32_gflop_s=min(rates.scalar_fp32_gflop_s, seen.fp32_gflop_s),
        int32_gop_s=rates.int32_gop_s * slower,  # the same compiler makes the same of integers
        divide_gop_s=rates.divide_gop_s * slower,
        launch_wall_us=rates.launch_floor_us + host_us,
        bandwidth=tuple(_slower(point, slower, seen.bandwidth_gb_s) for point in rates.bandwidth),  # ... and of loads
    )
    gathers = [
        replace(point, gather_gaccess_s=min(point.gather_gaccess_s, near.read_gb_s / 8))
        for point, near in zip(rates.gather, rates.bandwidth, strict=True)
    ]
    rates = replace(rates, gather=tuple(gathers))
    measured = ["fp32", *(["fp64"] if seen.fp64_gflop_s else []), "global bandwidth"]
    family = platform_family(row["platform"])
    return Device(
        id=slug(family if family == "pocl" else f"{family}-cpu", _PLAIN.sub("", row["name"])),
        name=row["name"],
        platform=row["platform"],
        type=DeviceType.CPU,
        driver="",
        compute_units=units,
        clock_mhz=facts.clock_mhz,
        global_mem_bytes=memory,
        max_alloc_bytes=memory // 4,
        local_mem_bytes=facts.local_mem_bytes,
        cache_bytes=cache,
        max_work_group_size=4096,
        max_work_item_sizes=(4096, 4096, 4096),
        preferred_multiple=8,
        has_fp64=rates.fp64_gflop_s > 0,
        has_fp16=rates.fp16_gflop_s > 0,
        has_images=True,
        rates=rounded(rates),
        source=ProfileSource.DATASHEET,
        note=_note(seen, measured, "datasheet", 1) + _host_words(row["name"], seen),
    )


def _slower(point: BandwidthPoint, share: float, dram_gb_s: float) -> BandwidthPoint:
    read = max(point.read_gb_s * share, dram_gb_s)
    return replace(point, read_gb_s=read, write_gb_s=point.write_gb_s / point.read_gb_s * read)


def _note(peaks: Peaks | None, measured: list[str], source: str, logs: int) -> str:
    if peaks is None:
        return f"units, clock, memory and peaks: {source}; {RULES}"
    newest = f", the newest of {logs}" if logs > 1 else ""
    latency = f", launch latency {peaks.launch_latency_us:g} us" if peaks.launch_latency_us else ""
    return (
        f"{', '.join(measured)}: {CLPEAK}, driver {peaks.driver.split(' (')[0]}{newest}{latency}; "
        f"units, clock and memory: {source}; {RULES}"
    )


def _peaks_of(logs: tuple[str, ...], kind: DeviceType, peaks: dict[str, list[Peaks]]) -> Peaks | None:
    if not logs:
        return None
    found = peaks[logs[0]]
    # A log of an APU holds the GPU first; PoCL's logs of NVIDIA's GPUs hold the host's processor first.
    by_rate = sorted(found, key=lambda each: each.fp32_gflop_s)
    return by_rate[0] if kind is DeviceType.CPU else by_rate[-1]


def _limits(row: GpuRow) -> tuple[int, int, int, bool]:
    """KiB of local memory, work-items that run together, and the largest work-group; as the makers' drivers report."""
    family = platform_family(row.platform)
    if row.architecture == "tesla":
        return 16, 32, 512, True
    if family == "nvidia" or "Tegra" in row.name:
        return 48, 32, 1024, True
    if family == "amd":
        return (
            32 if row.architecture == "terascale" else 64,
            32 if row.architecture.startswith("rdna") else 64,
            256,
            False,
        )
    return {
        "apple": (32, 32, 256, False),
        "intel": (64, 16, 512, False),
        "arm": (32, 16, 256, False),
        "qualcomm": (32, 64, 1024, False),
    }.get(family, (64, 32, 1024, False))


def _id(name: str, platform: str) -> str:
    family = "nvidia" if "Tegra" in name else platform_family(platform)
    maker = next((each for each in MAKERS if each == family), family)
    own = slug(name)
    return own if own.startswith((slug(maker), "amd-", "apple-")) else slug(maker, name)


def _generic_cpu() -> Device:
    memory, cache = 16 * 10**9, 16 * KIB * KIB
    facts = _facts("Generic CPU (8 cores at 3 GHz)", DeviceType.CPU, 8, 3000, memory, cache)
    return _generic("generic-cpu", facts, cpu_rates(facts), "an ordinary desktop processor")


def _generic_gpu() -> Device:
    facts = _facts("Generic GPU (40 units, 7.7 TFLOP/s, 400 GB/s)", DeviceType.GPU, 40, 1500, 8 * 10**9, 4 * KIB * KIB)
    figures = GpuFigures(40, 64, 1500, 7680.0, 1 / 32, 0.0, 1.0, 400.0, facts.cache_bytes, 6.0)
    return _generic("generic-gpu", facts, gpu_rates(figures), "a mid-range GPU")


def _generic(device_id: str, facts: DriverFacts, rates: Rates, what: str) -> Device:
    shared = {
        name: getattr(facts, name) for name in DriverFacts.__dataclass_fields__ if name not in ("vendor", "board")
    }
    return Device(
        id=device_id,
        **shared,
        rates=rounded(rates),
        source=ProfileSource.DATASHEET,
        note=f"{what} that does not exist; stands in until a device is chosen. Rates scaled, see model/device_rates.py",
    )


def _facts(name: str, kind: DeviceType, units: int, clock_mhz: int, memory: int, cache: int) -> DriverFacts:
    is_cpu = kind is DeviceType.CPU
    return DriverFacts(
        name=name,
        platform="none",
        vendor="",
        type=kind,
        driver="",
        compute_units=units,
        clock_mhz=clock_mhz,
        global_mem_bytes=memory,
        max_alloc_bytes=memory // 4,
        local_mem_bytes=KIB * KIB if is_cpu else 48 * KIB,
        cache_bytes=cache,
        max_work_group_size=4096 if is_cpu else 1024,
        max_work_item_sizes=(4096, 4096, 4096) if is_cpu else (1024, 1024, 64),
        preferred_multiple=8 if is_cpu else 32,
        has_fp64=True,
        has_fp16=False,
        has_images=True,
    )


def _several(text: str) -> tuple[str, ...]:
    return tuple(text.split(";")) if text else ()


def _number(text: str) -> float | None:
    return float(text) if text else None


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
