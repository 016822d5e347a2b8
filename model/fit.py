"""How one kernel's runtime follows its work, from launches of it that were measured: t = a + b x work.

`work` is the analytical time of a launch without the launch floor, so that `a` holds what every launch of this
kernel costs and `b` how much of the device's rates this kernel reaches. Both are found robustly, in relative error
(Theil-Sen's idea of lines through pairs of points, least absolute deviation among them): one wild measurement does
not bend the line. Where the points leave `a` or `b` open - one point, equal sizes, launches that are all overhead -
they stay near what the analytical model says: the device's launch floor, and 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

MAX_POINTS = 24  # pairs are tried one by one; the nearest in time tell no more

# How far sizes that were left out lie from fits (see `tests/accuracy/sizes.py`), as the standard deviation of the
# logarithm: through one measured size, and through several.
_ONE_POINT = 0.22
_SEVERAL_POINTS = 0.13
_PER_DOUBLING = 0.35  # by how much of itself it grows with each doubling beyond the measured sizes
_PRIOR_POINTS = 2.0  # so many points' worth of the above stand against what the residuals say
_ANALYTIC_DOUBT = math.log(2.5)  # of the analytical time against the truth
_FLOOR = math.log(2.0)  # of a kernel's overhead against the device's launch floor
_ANALYTIC_ERROR = 0.03  # of the work between sizes: what a residual is worth however quiet the measurement was
P90 = 1.2816  # standard deviations from the median to p90


@dataclass(frozen=True, slots=True)
class Point:
    """One measured launch. `work_us` is the analytical time of it without the launch floor, `noise` a part of 1."""

    work_us: float
    measured_us: float
    noise: float = 0.0


@dataclass(frozen=True, slots=True)
class Fit:
    """t = overhead_us + factor x work_us. `sigma` is the deviation of ln t to expect among the measured sizes."""

    overhead_us: float
    factor: float
    sigma: float
    points: tuple[Point, ...]

    def runtime_us(self, work_us: float) -> float:
        """Return the time of a launch whose analytical time is `work_us`; grows with it [us]."""
        return self.overhead_us + self.factor * max(0.0, work_us)

    def spread(self, work_us: float) -> float:
        """Return the factor from p50 to p90: it widens with every doubling beyond the measured sizes."""
        near = self.sigma * (1 + _PER_DOUBLING * self._doublings_beyond(work_us))
        return math.exp(P90 * math.hypot(near, self._slope_share(work_us)))

    def error(self, point: Point) -> float:
        """Return how far the line is off at a point: above 0 where it is too slow, as a part of 1."""
        return self.runtime_us(point.work_us) / point.measured_us - 1

    @property
    def median_error(self) -> float:
        """Of the line at its own points, without sign."""
        return median(abs(self.error(point)) for point in self.points)

    def _doublings_beyond(self, work_us: float) -> float:
        most, least = max(p.work_us for p in self.points), min(p.work_us for p in self.points)
        ratios = [work_us / most if most > 0 else 1.0, least / work_us if work_us > 0 else 1.0]
        return math.log2(max(1.0, *ratios))

    def _slope_share(self, work_us: float) -> float:
        """Return the uncertainty of `factor`, by its part in the answer.

        Launches that are all overhead do not show it.
        """
        seen = max(self._share(point.work_us) for point in self.points)
        unsure = min(_ANALYTIC_DOUBT, self.sigma / seen - self.sigma) if seen > 0 else _ANALYTIC_DOUBT
        return unsure * self._share(work_us)

    def _share(self, work_us: float) -> float:
        whole = self.runtime_us(work_us)
        return self.factor * work_us / whole if whole > 0 else 0.0


def fit(points: Sequence[Point], floor_us: float) -> Fit | None:
    """Return the line through measured points; None without any. `floor_us` is what any launch costs on the device.

    Points come by importance: beyond MAX_POINTS, later ones are left out.
    """
    kept = tuple(p for p in points if p.measured_us > 0 and p.work_us >= 0 and math.isfinite(p.work_us))[:MAX_POINTS]
    if not kept:
        return None
    best = min(_lines(kept, floor_us), key=lambda line: _misfit(line, kept, floor_us))
    return Fit(*best, _sigma(best, kept), kept)


_Line = tuple[float, float]  # overhead_us, factor


def _lines(points: Sequence[Point], floor_us: float) -> Iterator[_Line]:
    """Yield lines through two points each, and through one with the expected overhead or factor, or no overhead."""
    for number, p in enumerate(points):
        yield max(0.0, p.measured_us - p.work_us), 1.0
        if p.work_us > 0:
            yield 0.0, p.measured_us / p.work_us
            if p.measured_us > floor_us:
                yield floor_us, (p.measured_us - floor_us) / p.work_us
        for q in points[number + 1 :]:
            if q.work_us != p.work_us:
                factor = (q.measured_us - p.measured_us) / (q.work_us - p.work_us)
                overhead_us = p.measured_us - factor * p.work_us
                if factor > 0 and overhead_us >= 0:
                    yield overhead_us, factor


def _misfit(line: _Line, points: Sequence[Point], floor_us: float) -> float:
    overhead_us, factor = line
    residuals = sum(abs(_residual(line, p)) / math.hypot(_ANALYTIC_ERROR, p.noise) for p in points)
    from_analytic = abs(math.log(factor)) / _ANALYTIC_DOUBT
    from_floor = abs(math.log((overhead_us + floor_us) / (2 * floor_us))) / _FLOOR if floor_us > 0 else 0.0
    return residuals + from_analytic + from_floor


def _residual(line: _Line, point: Point) -> float:
    return math.log(max(line[0] + line[1] * point.work_us, 1e-12) / point.measured_us)


def _sigma(line: _Line, points: Sequence[Point]) -> float:
    """From the residuals where there are more points than the line needs, else from what fits are known for."""
    known = _ONE_POINT if _sizes(points) == 1 else _SEVERAL_POINTS
    free = max(0, len(points) - 2)
    seen = sum(min(_residual(line, p) ** 2, _ANALYTIC_DOUBT**2) for p in points)
    noise = median(p.noise for p in points)
    return math.hypot(math.sqrt((_PRIOR_POINTS * known**2 + seen) / (_PRIOR_POINTS + free)), noise / 2)


def _sizes(points: Sequence[Point]) -> int:
    """Return the number of amounts of work; those within 5 % of each other count as one."""
    return len({round(math.log(p.work_us) / 0.05) if p.work_us > 0 else None for p in points})
