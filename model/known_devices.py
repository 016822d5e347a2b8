"""The shipped profile of the chip that a driver reports, refined by what the driver says of this very device.

Drivers decorate names, AMD's name the chip and not the card, laptops and slices of a GPU have fewer units under the
same name; and a CPU's figures belong to the runtime that compiles for it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import lru_cache

from model.device import BandwidthPoint, Device, DeviceType, GatherPoint, Rates, StridePoint
from model.device_catalog import builtin_texts, find_builtin
from model.device_names import SpokenName, platform_family, spoken_name
from model.device_rates import DriverFacts

# Beyond these a count means something else: idle clocks, and compute units that another driver counts otherwise.
_LEAST_CLOCK, _LEAST_UNITS, _MOST_UNITS = 0.5, 0.25, 2.0
_LEAST_CPU_UNITS = 0.5  # a small virtual machine on a large processor is another device
_SAME_LEVEL = 1.3  # bandwidths that differ by less belong to one level of memory


def find_builtin_by_name(name: str) -> Device | None:
    """Return the shipped profile of the chip called `name` ("Tesla T4", "NVIDIA H100 80GB HBM3")."""
    spoken = spoken_name(name)
    return max(_called(spoken), key=lambda device: _closeness(spoken, device), default=None)


def recognised(facts: DriverFacts) -> Device | None:
    """Return the shipped profile of the chip behind `facts`, its rates scaled to the reported units and clock.

    None where no profile fits, or where several do and the facts do not tell which.
    """
    known = _known(facts)
    if known is None:
        return None
    rates, words = refined(known, facts)
    # Another driver may count compute units otherwise, but the chip's cores are what they are.
    cores = max(1, round(known.core_count * _units_ratio(known, facts)))
    is_counted_in_parts = known.type is not DeviceType.CPU and cores != facts.compute_units
    return replace(known, rates=rates, note=f"{known.note}{words}", cores=cores if is_counted_in_parts else 0)


def _known(facts: DriverFacts) -> Device | None:
    family = platform_family(facts.platform)
    for name in filter(None, (facts.board, facts.name)):
        spoken = spoken_name(name)
        found = [device for device in _called(spoken) if device.type is facts.type]
        if facts.type is DeviceType.CPU:
            found = [d for d in found if platform_family(d.platform) == family and _is_whole(d, facts)]
        own = [device for device in found if spoken_name(device.name).chip == spoken.chip]
        if not own and len(found) > 1:  # a chip on several cards: the count of units must tell which
            own = [device for device in found if device.compute_units == facts.compute_units]
        candidates = own or (found if len(found) == 1 else [])
        if candidates:
            return max(candidates, key=lambda device: (*_closeness(spoken, device), *_likeness(facts, device)))
    return None


def refined(known: Device, facts: DriverFacts) -> tuple[Rates, str]:
    """Rates of `known` for a device with the driver's `facts`, and in words how they were scaled, if they were.

    Compute and caches go with units and clock. Memory stays, but for laptop variants, where fewer units come with a
    narrower memory, and for slices of a GPU, which get their share of it. A higher clock changes nothing: drivers
    report a boost that the figures contain already.
    """
    units = _units_ratio(known, facts)
    clock = facts.clock_mhz / known.clock_mhz if known.clock_mhz and facts.clock_mhz else 1.0
    clock = min(1.0, clock) if clock >= _LEAST_CLOCK else 1.0
    variant = spoken_name(facts.name).variant
    memory = 1.0
    if "mig" in variant:
        memory = min(1.0, facts.global_mem_bytes / known.global_mem_bytes)
    elif variant & {"laptop", "mobile", "maxq"}:
        memory = min(1.0, max(0.5, units))
    if (units, clock, memory) == (1.0, 1.0, 1.0):
        return known.rates, ""
    words = f"; scaled to {facts.compute_units} units at {facts.clock_mhz} MHz" if facts.clock_mhz else (
        f"; scaled to {facts.compute_units} units"
    )  # fmt: skip
    return _scaled(known.rates, units, clock, memory), words


@dataclass(frozen=True, slots=True)
class _Entry:
    device_id: str
    names: tuple[SpokenName, ...]


@lru_cache(maxsize=1)
def _index() -> tuple[_Entry, ...]:
    """Names only: a search must not read all profiles."""
    return tuple(
        _Entry(device_id, tuple(spoken_name(name) for name in _names(text)))
        for device_id, text in builtin_texts().items()
    )


def _names(text: str) -> list[str]:
    aliases = re.search(r'"aliases": \[([^\]]*)\]', text)
    return re.findall(r'"name": "([^"]*)"', text)[:1] + re.findall(r'"([^"]*)"', aliases[1] if aliases else "")


def _called(spoken: SpokenName) -> list[Device]:
    ids = [e.device_id for e in _index() if any(name.chip == spoken.chip for name in e.names)]
    return [device for each in ids if (device := find_builtin(each)) is not None]


def _closeness(spoken: SpokenName, device: Device) -> tuple[int, int]:
    own = spoken_name(device.name).variant
    return len(own & spoken.variant), -len(own - spoken.variant)


def _likeness(facts: DriverFacts, device: Device) -> tuple[bool, float, float, float]:
    pairs = (
        (facts.compute_units, device.compute_units),
        (facts.clock_mhz, device.clock_mhz),
        (facts.global_mem_bytes, device.global_mem_bytes),
    )
    apart = [-abs(math.log(a / b)) if a > 0 and b > 0 else 0.0 for a, b in pairs]
    return platform_family(facts.platform) == platform_family(device.platform), apart[0], apart[1], apart[2]


def _is_whole(device: Device, facts: DriverFacts) -> bool:
    return _LEAST_CPU_UNITS <= facts.compute_units / device.compute_units <= _MOST_UNITS


def _units_ratio(known: Device, facts: DriverFacts) -> float:
    if platform_family(known.platform) != platform_family(facts.platform):
        return 1.0  # others count compute units otherwise
    ratio = facts.compute_units / known.compute_units
    least = 0.0 if "mig" in spoken_name(facts.name).variant else _LEAST_UNITS
    return ratio if least < ratio <= _MOST_UNITS else 1.0


def _scaled(rates: Rates, units: float, clock: float, memory: float) -> Rates:
    speed = units * clock
    names = (
        "fp32_gflop_s", "fp64_gflop_s", "fp16_gflop_s", "int32_gop_s", "scalar_fp32_gflop_s", "divide_gop_s",
        "special_gop_s", "native_gop_s", "int_divide_gop_s", "local_bandwidth_gb_s", "private_bandwidth_gb_s",
        "atomic_gop_s", "image_read_gop_s", "int32_mul_gop_s",
    )  # fmt: skip
    changed = {name: round(getattr(rates, name) * speed, 4) for name in names}
    changed |= {
        name: round(getattr(rates, name) / speed, 6) for name in ("group_overhead_ns", "item_overhead_ns", "barrier_ns")
    }
    far = rates.bandwidth[-1].read_gb_s

    def factor(gb_s: float, far: float) -> float:
        """Of a point of a curve: caches go with the units, and are never slower than the memory behind them."""
        return memory if gb_s <= far * _SAME_LEVEL else max(speed, memory * far / gb_s)

    return replace(
        rates,
        **changed,
        contended_atomic_gop_s=round(rates.contended_atomic_gop_s * clock, 4),
        groups_to_fill=max(1, round(rates.groups_to_fill * units)),
        peak_bandwidth_gb_s=rates.peak_bandwidth_gb_s * memory,
        memory_levels=tuple(
            replace(level, read_gb_s=level.read_gb_s * f, write_gb_s=level.write_gb_s * f)
            for level in rates.memory_levels
            for f in (factor(level.read_gb_s, far),)
        ),
        bandwidth=tuple(
            BandwidthPoint(p.footprint_bytes, p.read_gb_s * f, p.write_gb_s * f)
            for p in rates.bandwidth
            for f in (factor(p.read_gb_s, far),)
        ),
        gather=tuple(
            GatherPoint(
                p.footprint_bytes, p.gather_gaccess_s * factor(p.gather_gaccess_s, rates.gather[-1].gather_gaccess_s)
            )
            for p in rates.gather
        ),
        strided=tuple(StridePoint(p.stride_elements, p.strided_gaccess_s * memory) for p in rates.strided),
    )
