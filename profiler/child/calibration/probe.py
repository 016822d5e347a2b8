"""One probe: prepared on the device, timed in the rounds, and then turned into rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor, log10

from model.device import Rates
from model.device_curves import RateNoise
from profiler.child.calibration.bench import Bench
from profiler.child.calibration.rounds import Timed

Finish = Callable[[Rates], Rates]  # the rates with what this probe measured put in
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Probe:
    """If it fails, its rates stay what the driver's facts gave."""

    what: str  # in the words that users see
    prepare: Callable[[Bench], Finish]


def noted(rates: Rates, *measured: tuple[str, Timed]) -> tuple[RateNoise, ...]:
    """The noise of all single rates so far, and of these."""
    return (*rates.noise, *(RateNoise(rate, timed.noise_percent) for rate, timed in measured))


def readable(value: float) -> float:
    """Four significant digits: far less than the noise is lost, and people can read it."""
    return round(value, _DIGITS - 1 - floor(log10(abs(value)))) if value else 0.0


def per_s(timed: Timed, per_item: float) -> float:
    """What the device does a second, in 1e9, where each work-item does `per_item` of it."""
    return readable(per_item * timed.items / timed.beyond_floor_us / 1000)


def noisiest(*measured: Timed) -> float:
    return max(timed.noise_percent for timed in measured)
