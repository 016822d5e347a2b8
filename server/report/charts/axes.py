"""Axes: the position of a value, and the values that get a tick."""

from __future__ import annotations

import math
from dataclasses import dataclass

_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class LogAxis:
    """Values from `low` to `high`, both above 0, from pixel `start` to pixel `end`."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def around(cls, values: list[float], start: float, end: float, *, least_decades: float = 1.0) -> LogAxis:
        """Return an axis that holds all `values` with some air, and spans so many decades at least."""
        usable = [v for v in values if v > 0 and math.isfinite(v)] or [1.0]
        low, high = math.log10(max(min(usable), _TINY)), math.log10(max(*usable, _TINY))
        air = max(0.12, (high - low) * 0.06, (least_decades - (high - low)) / 2)
        return cls(10 ** (low - air), 10 ** (high + air), start, end)

    def at(self, value: float) -> float:
        share = math.log(max(value, _TINY) / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def ticks(self, most: int = 8) -> tuple[float, ...]:
        """Return powers of ten; every n-th if there are too many, with 2 and 5 times each if there are few."""
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        decades = last - first + 1
        if decades >= 3:
            step = max(1, math.ceil(decades / most))
            return tuple(10.0**power for power in range(first, last + 1, step))
        found = [m * 10.0**p for p in range(first - 1, last + 2) for m in (1, 2, 5)]
        return tuple(v for v in found if self.holds(v))


@dataclass(frozen=True, slots=True)
class LinearAxis:
    """Values from `low` to `high`, from pixel `start` to pixel `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        return self.start + (value - self.low) / ((self.high - self.low) or 1.0) * (self.end - self.start)

    def ticks(self, most: int = 5) -> tuple[float, ...]:
        """Return round values, about as many as are wanted."""
        span = (self.high - self.low) or 1.0
        rough = span / most
        size = 10.0 ** math.floor(math.log10(rough))
        step = next(size * m for m in (1, 2, 5, 10) if size * m >= rough * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        return tuple((first + n) * step for n in range(int((self.high - first * step) / step + 1e-9) + 1))
