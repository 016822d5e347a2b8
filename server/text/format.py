"""Figures for people: durations, sizes, counts and intervals, with as many digits as they deserve."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from model.device_names import platform_family

if TYPE_CHECKING:
    from model.device import Device

_DURATIONS_US = ((60e6, "min"), (1e6, "s"), (1e3, "ms"), (1.0, "µs"), (1e-3, "ns"))
_THOUSANDS = ("", "k", "M", "G", "T", "P", "E")
_FACTOR_FROM = 2.0  # from here on a factor says more than percents
_LOPSIDED_FROM = 1.5
# A word of ours: no assignment, index, underscore or digit, and longer than most names of arguments.
_FIRST_WORD = re.compile(r"(?:a|[a-z][a-z'-]+)(?=[ ,:]|$)")


def format_duration_us(duration_us: float, digits: int = 2) -> str:
    """`3.2 ms` for 3210.0: two significant digits, or three where the third stands before the point."""
    if not math.isfinite(duration_us):
        return "unknown"
    if duration_us == 0:
        return "0 µs"
    shown = abs(_rounded(duration_us, digits))
    size, unit = next((step for step in _DURATIONS_US if shown >= step[0]), _DURATIONS_US[-1])
    return f"{_significant(duration_us / size, digits)} {unit}"


def format_interval(low_us: float, high_us: float) -> str:
    """`2.8-3.7 ms`, `0.46-5.7 ms`: both in the unit of the greater one unless they are worlds apart."""
    low, low_unit = format_duration_us(low_us).rsplit(" ", 1)
    high, high_unit = format_duration_us(high_us).rsplit(" ", 1)
    if low_unit == high_unit:
        return f"{low}-{high} {high_unit}"
    size_us = next((size for size, unit in _DURATIONS_US if unit == high_unit), 0.0)
    if size_us and low_us >= 0.01 * size_us:
        return f"{_significant(low_us / size_us, 2)}-{high} {high_unit}"
    return f"{low} {low_unit} - {high} {high_unit}"


def format_bytes(count: float) -> str:
    """Decimal units, as bandwidths are given in: `12.6 MB`."""
    return format_count(count, "B")


def format_mem_bytes(count: int) -> str:
    """Binary units, for memories that come in powers of two: `32 KiB`, `16 GiB`."""
    for power, unit in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        if count >= 1024**power:
            return f"{_trimmed(count / 1024**power, 3)} {unit}"
    return f"{count} B"


def format_count(count: float, unit: str = "") -> str:
    """`268 M`, `4.19 Mflop`, `12`: three significant digits, decimal prefixes."""
    power = 0
    while abs(_rounded(count, 3)) >= 1000 and power < len(_THOUSANDS) - 1:
        count /= 1000
        power += 1
    return f"{_trimmed(count, 3)} {_THOUSANDS[power]}{unit}".rstrip()


def format_things(count: int, one: str, several: str = "") -> str:
    """`1 launch`, `3 launches`, `no launches`: `several` where it is not `one` with an s."""
    return f"{count or 'no'} {one if count == 1 else several or f'{one}s'}"


def format_percent(percent: float, *, signed: bool = False) -> str:
    """`15 %`, `+15 %`; one digit after the point below 10."""
    sign = "+" if signed and percent > 0 else ""
    return f"{sign}{percent:.{1 if abs(percent) < 9.95 else 0}f} %"


def whole_percents(shares: Sequence[float]) -> list[int]:
    """Round shares of a whole to percents that add up to what the shares do: the largest remainders are rounded up."""
    exact = [100 * share for share in shares]
    floors = [math.floor(each) for each in exact]
    missing = round(sum(exact)) - sum(floors)
    order = sorted(range(len(exact)), key=lambda place: floors[place] - exact[place])
    for place in order[:missing]:
        floors[place] += 1
    return floors


def as_sentence(text: str) -> str:
    """Return the text with a capital first letter, unless it begins with a name of the user's: `n=4`, `x[i]`."""
    word = _FIRST_WORD.match(text)
    return text[:1].upper() + text[1:] if word else text


def missed_factor(ratio: float) -> str:
    """Return how far a predicted time is from a measured one, given their ratio: `23 % too low`, `3.1x too high`.

    Percents from 0.5 to 2 times, factors beyond: 99 % and 99.9 % too low look alike, 100x and 1,000x do not.
    """
    side = "low" if ratio < 1 else "high"
    if 0.5 < ratio < _FACTOR_FROM:
        return f"{format_percent(abs(ratio - 1) * 100)} too {side}"
    return f"{factor_words(max(ratio, 1 / ratio))}x too {side}" if ratio > 0 else "0 µs"


def factor_words(factor: float) -> str:
    """Return `2.3` or `3,200`: two significant digits."""
    rounded = float(f"{factor:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def spread_percent(low_us: float, middle_us: float, high_us: float) -> float | None:
    """Return how far an interval reaches from its middle, on its wider side [%]; None from a factor of 1.5 on.

    Wider ones are lopsided, and then one figure for both sides would be wrong on one of them.
    """
    up = high_us / middle_us if middle_us > 0 else 1.0
    down = middle_us / low_us if low_us > 0 else up
    factor = max(up, down, 1.0)
    return (factor - 1) * 100 if factor < _LOPSIDED_FROM else None


def format_spread(low_us: float, middle_us: float, high_us: float) -> str:
    """Return how far an interval reaches from its middle, `15 %`; the interval where that is a multiple of it."""
    if min(low_us, middle_us) <= 0:
        return ""
    percent = spread_percent(low_us, middle_us, high_us)
    return format_interval(low_us, high_us) if percent is None else format_percent(percent)


def _rounded(value: float, digits: int) -> float:
    """To significant digits, so that 999.6 is shown in the next unit."""
    return 0.0 if value == 0 else round(value, digits - 1 - math.floor(math.log10(abs(value))))


def _significant(value: float, digits: int) -> str:
    """`3.2`, `32`, `320`: digits before the point are never rounded away."""
    if value == 0 or abs(value) >= 10**digits or not math.isfinite(value):
        return f"{value:.0f}"
    value = _rounded(value, digits)
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"


def _trimmed(value: float, digits: int) -> str:
    """As `_significant`, without zeros at its end: counts are exact where durations never are."""
    text = _significant(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


_TRADEMARK = re.compile(r"\s?(?:\((?:r|tm|c)\)|[®™])", re.IGNORECASE)
# PoCL puts the way in which it runs work-groups, and the target of its compiler, before the processor's name.
_POCL = re.compile(r"^(?:pthread|basic|cpu(?:-minimal)?(?:-[a-z0-9_]+)?)-(?=\S*[ A-Z])")
_RUNTIMES = {"pocl": "PoCL", "intel": "Intel's runtime", "oclgrind": "Oclgrind", "mesa": "Mesa"}


def shown_name(name: str) -> str:
    """Return `AMD EPYC (PoCL)` for `pthread-AMD EPYC`, `Intel Arc A770` for `Intel(R) Arc(TM) A770`."""
    plain = " ".join(_TRADEMARK.sub("", name).split())
    processor = _POCL.sub("", plain)
    return f"{processor} (PoCL)" if processor != plain else plain or name


def name_and_runtime(device: Device) -> str:
    """Return the name with the runtime where the same processor may have several: `AMD EPYC (Intel's runtime)`."""
    name = shown_name(device.name)
    runtime = _RUNTIMES.get(platform_family(device.platform)) if device.platform not in ("", "none") else None
    is_said = name.endswith(")") or (runtime or "").split("'")[0] in name
    return name if runtime is None or is_said else f"{name} ({runtime})"
