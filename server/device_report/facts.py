"""Every figure of a profile with its unit and, if measured, its repeatability; and the roofs of its roofline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from model.architectures import architecture_of
from model.device import Device, DeviceType, Rates
from model.device_curves import HostSide, MemoryLevel
from model.memory_levels import memory_levels
from model.roofline import Ceiling
from server.text.format import format_count, format_duration_us, format_mem_bytes, format_percent

_PLAIN_RATES = (
    ("fp32_gflop_s", "fp32, in vectors", "flop/s"),
    ("scalar_fp32_gflop_s", "fp32, one chain after the other", "flop/s"),
    ("fp64_gflop_s", "fp64", "flop/s"),
    ("fp16_gflop_s", "fp16", "flop/s"),
    ("int32_gop_s", "int32 additions", "op/s"),
    ("int32_mul_gop_s", "int32 multiplications", "op/s"),
    ("int64_gop_s", "int64 additions", "op/s"),
    ("int64_mul_gop_s", "int64 multiplications", "op/s"),
    ("int_divide_gop_s", "integer divisions", "op/s"),
    ("divide_gop_s", "fp32 divisions, square roots", "op/s"),
    ("special_gop_s", "sin, exp, log, pow", "op/s"),
    ("native_gop_s", "native_sin, native_exp, ...", "op/s"),
    ("local_bandwidth_gb_s", "local memory", "B/s"),
    ("private_bandwidth_gb_s", "private arrays", "B/s"),
    ("atomic_gop_s", "atomics, spread", "op/s"),
    ("contended_atomic_gop_s", "atomics, on one address", "op/s"),
    ("local_atomic_gop_s", "local atomics, spread", "op/s"),
    ("contended_local_atomic_gop_s", "local atomics, on one address", "op/s"),
    ("image_read_gop_s", "image reads", "op/s"),
)
_TIMES_NS = (
    ("group_overhead_ns", "each further work-group"),
    ("item_overhead_ns", "each further work-item"),
    ("barrier_ns", "each work-group's barrier"),
    ("fma_latency_ns", "a multiply-add that waits"),
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of a table. `noise` is empty where nobody measured."""

    name: str
    value: str
    noise: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    figures: tuple[Figure, ...]


def levels(device: Device) -> tuple[MemoryLevel, ...]:
    """Return caches and memory, nearest first: as calibrated, else as the bandwidth curve shows."""
    return device.rates.memory_levels or memory_levels(device.rates.bandwidth)


def ceilings(device: Device) -> tuple[Ceiling, ...]:
    """Return the ceilings, highest first, without those that a device lacks and scalar code if as fast."""
    rates = device.rates
    found = [
        Ceiling("fp16", rates.fp16_gflop_s),
        Ceiling("fp32", rates.fp32_gflop_s),
        Ceiling("fp64", rates.fp64_gflop_s),
    ]
    found.append(Ceiling("int32", rates.int32_gop_s))
    if rates.scalar_fp32_gflop_s < 0.9 * rates.fp32_gflop_s:
        found.append(Ceiling("fp32 scalar", rates.scalar_fp32_gflop_s))
    return tuple(sorted((c for c in found if c.gop_s > 0), key=lambda ceiling: -ceiling.gop_s))


def origin(device: Device) -> str:
    """Return where the figures come from, when, and how sure they are."""
    if not device.calibrated:
        note = f" ({device.note})" if device.note else ""
        return f"Not calibrated: rates from the {device.source}{note}."
    words = [f"Calibrated on {device.measured_at[:16].replace('T', ' ')} UTC" if device.measured_at else "Calibrated"]
    if device.noise_percent is not None:
        words.append(f"repeatability ±{format_percent(device.noise_percent)}")
    if device.calibration is not None:
        made = device.calibration
        words.append(f"{'quick, ' if made.is_quick else ''}{made.duration_s:.0f} s, {made.rounds} rounds")
        words.append(f"load {made.load_average:.1f}")
        if made.threads:
            words.append(f"{made.threads} threads")
        words.extend(f"not measured: {failure}" for failure in made.failures)
    return "; ".join(words) + "."


def groups(device: Device) -> Iterator[Group]:
    """Yield all figures, in the order in which one asks for them."""
    rates = device.rates
    noise = {each.rate: _noise(each.percent) for each in rates.noise}
    yield Group("Device", tuple(_of_device(device)))
    yield Group("Starting and waiting", tuple(_times(rates, noise)))
    plain = [(name, words, unit, getattr(rates, name)) for name, words, unit in _PLAIN_RATES]
    yield Group(
        "Rates",
        tuple(Figure(words, format_count(v * 1e9, unit), noise.get(name, "")) for name, words, unit, v in plain if v),
    )
    yield Group(
        "Memory",
        tuple(Figure(level_name(level), _read_write(level)) for level in levels(device)),
    )
    yield from (group for group in _curves(rates) if group.figures)


def level_name(level: MemoryLevel) -> str:
    return f"{level.name}, up to {format_mem_bytes(level.up_to_bytes)}" if level.up_to_bytes else level.name


def _of_device(device: Device) -> Iterator[Figure]:
    if device.type is DeviceType.GPU:
        yield Figure("architecture", architecture_of(device).name)
    yield Figure("compute units", f"{device.compute_units}")
    if device.cores:
        yield Figure("cores that hold work-groups", f"{device.cores}")
    if device.clock_mhz:
        yield Figure("clock", f"{device.clock_mhz} MHz")
    yield Figure("global memory", format_mem_bytes(device.global_mem_bytes))
    yield Figure("largest buffer", format_mem_bytes(device.max_alloc_bytes))
    yield Figure("local memory", format_mem_bytes(device.local_mem_bytes))
    if device.cache_bytes:
        yield Figure("last cache", format_mem_bytes(device.cache_bytes))
    yield Figure("largest work-group", f"{device.max_work_group_size}")
    yield Figure("work-groups that fill it", f"{device.rates.groups_to_fill}")


def _times(rates: Rates, noise: dict[str, str]) -> Iterator[Figure]:
    yield Figure("an empty kernel", format_duration_us(rates.launch_floor_us), noise.get("launch_floor_us", ""))
    if rates.launch_wall_us:
        wall = format_duration_us(rates.launch_wall_us)
        yield Figure("an empty kernel, seen from the host", wall, noise.get("launch_wall_us", ""))
    for words, rate in transfer_rates(rates.host_side):
        yield Figure(words, rate)
    for name, words in _TIMES_NS:
        value_ns = getattr(rates, name)
        if value_ns:
            yield Figure(words, f"{value_ns:.3g} ns", noise.get(name, ""))


def _read_write(level: MemoryLevel) -> str:
    said = f"read {format_count(level.read_gb_s * 1e9, 'B/s')}, write {format_count(level.write_gb_s * 1e9, 'B/s')}"
    return f"{said}, copy {format_count(level.copy_gb_s * 1e9, 'B/s')}" if level.copy_gb_s else said


def _curves(rates: Rates) -> Iterator[Group]:
    yield _curve(
        "Reading by footprint",
        rates.bandwidth,
        lambda p: format_mem_bytes(p.footprint_bytes),
        lambda p: _giga(p.read_gb_s, "B/s"),
    )
    yield _curve(
        "Random loads of 4 bytes by footprint",
        rates.gather,
        lambda p: format_mem_bytes(p.footprint_bytes),
        lambda p: _giga(p.gather_gaccess_s, "load/s"),
    )
    yield _curve(
        "Loads of 4 bytes that wait for each other, by footprint",
        [replace(p, noise_percent=0.0) for p in rates.gather if p.chase_gaccess_s],  # theirs is that of the gathers
        lambda p: format_mem_bytes(p.footprint_bytes),
        lambda p: _giga(p.chase_gaccess_s, "load/s"),
    )
    yield _curve(
        "Loads of 4 bytes by stride",
        rates.strided,
        lambda p: f"{p.stride_elements}",
        lambda p: _giga(p.strided_gaccess_s, "load/s"),
    )
    yield _curve(
        "Arithmetic by type", rates.arithmetic, lambda p: f"{p.type} {p.operation}", lambda p: _giga(p.gop_s, "op/s")
    )
    yield _curve(
        "Independent accumulators", rates.chains, lambda p: f"{p.chains}", lambda p: _giga(p.gflop_s, "flop/s")
    )
    yield _curve(
        "Local memory by stride",
        rates.local_strided,
        lambda p: f"{p.stride_elements}",
        lambda p: _giga(p.local_gb_s, "B/s"),
    )
    yield _curve(
        "A barrier by group size", rates.barriers, lambda p: f"{p.group_items}", lambda p: f"{p.barrier_ns:.3g} ns"
    )
    yield _curve(
        "Ways through a branch", rates.divergence, lambda p: f"{p.ways}", lambda p: f"{p.slowdown:.2g} x as long"
    )
    yield _curve(
        "Throughput by work-groups", rates.scaling, lambda p: f"{p.work_groups}", lambda p: _giga(p.gflop_s, "flop/s")
    )
    yield _curve(
        "Private arrays by size",
        rates.private_arrays,
        lambda p: format_mem_bytes(p.array_bytes),
        lambda p: _giga(p.private_gb_s, "B/s"),
    )
    yield _curve(
        "Images", rates.images, lambda p: f"{p.dimensions}D, {p.access}", lambda p: _giga(p.gtexel_s, "texel/s")
    )
    slower = (Figure(p.surrounding, f"{p.slowdown:.2g} x as long") for p in rates.vectorised)
    yield Group("Against vector code", tuple(slower))
    yield _curve("Costs of single operations", rates.costs, lambda cost: cost.name, lambda cost: f"{cost.ns:.3g} ns")


class _Measured(Protocol):
    @property
    def noise_percent(self) -> float: ...


_Point = TypeVar("_Point", bound=_Measured)


def _curve(
    title: str, points: Iterable[_Point], name: Callable[[_Point], str], value: Callable[[_Point], str]
) -> Group:
    return Group(title, tuple(Figure(name(p), value(p), _noise(p.noise_percent)) for p in points))


def _giga(rate: float, unit: str) -> str:
    return format_count(rate * 1e9, unit)


def _noise(percent: float) -> str:
    return f"± {format_percent(percent)}" if percent else ""


def intensities(levels_: Sequence[MemoryLevel], roofs: Sequence[Ceiling]) -> tuple[float, float]:
    """Return the range of operations for each byte that shows every place where a slope meets a ceiling."""
    ridges = [roof.gop_s / level.read_gb_s for level in levels_ for roof in (roofs[0], roofs[-1])]
    return min(ridges) / 4, max(ridges) * 4


_WORDS = {"write": "writing to the device", "read": "reading from the device", "copy": "copying on the device"}


def transfer_rates(side: HostSide | None) -> Iterator[tuple[str, str]]:
    """Yield names and figures: the cost of enqueueing, and the largest transfer of each kind; nothing if unknown."""
    if side is None:
        return
    yield "enqueueing a command", format_duration_us(side.enqueue_us)
    for kind, words in _WORDS.items():
        for is_pinned, memory in ((False, ""), (True, ", pinned")):
            points = [point for point in side.transfers if point.kind == kind and point.is_pinned is is_pinned]
            if points:
                last = max(points, key=lambda point: point.size_bytes)
                rate = format_count(1e6 * last.size_bytes / last.transfer_us, "B/s")
                yield f"{words}, {format_mem_bytes(last.size_bytes)}{memory}", rate
