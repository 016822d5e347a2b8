"""One probe: prepared on the device, timed in the rounds, and then turned into rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor, hypot, log10

from model.device import Rates
from model.device_curves import RateNoise
from profiler.device_worker.calibration.bench import Bench
from profiler.device_worker.calibration.rounds import Timed

Finish = Callable[[Rates], Rates]  # the rates with what this probe measured put in
LEAST_SHARE = 0.02  # of a time that must be left when another is taken off it
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Probe:
    """If it fails, its rates stay what the driver's facts gave."""

    what: str  # in the words that users see
    prepare: Callable[[Bench], Finish]
    sources: tuple[str, ...] = ()  # of its kernels, if they are built together with others


def noted(rates: Rates, *measured: tuple[str, Timed]) -> tuple[RateNoise, ...]:
    """Return the noise of all single rates so far, and of these."""
    return (*rates.noise, *(RateNoise(rate, timed.noise_percent) for rate, timed in measured))


def readable(value: float) -> float:
    """Four significant digits: far less than the noise is lost, and people can read it."""
    return round(value, _DIGITS - 1 - floor(log10(abs(value)))) if value else 0.0


def per_s(timed: Timed, per_item: float) -> float:
    """Return what the device does a second, in 1e9, where each work-item does `per_item` of it."""
    return readable(per_item * timed.items / timed.beyond_floor_us / 1000)


def item_us(timed: Timed) -> float:
    """Return what each work-item takes, all compute units together."""
    return timed.beyond_floor_us / timed.items


def difference_noise(whole: Timed, part: Timed) -> float:
    """Return the spread of what a work-item of `whole` takes beyond one of `part`, in percent of that difference.

    The smaller the difference, the more of it is noise.
    """
    whole_us, part_us = item_us(whole), item_us(part)
    spread_us = hypot(whole.noise_percent * whole_us, part.noise_percent * part_us)
    return round(spread_us / max(whole_us - part_us, LEAST_SHARE * whole_us), 2)


def noisiest(*measured: Timed) -> float:
    return max(timed.noise_percent for timed in measured)
