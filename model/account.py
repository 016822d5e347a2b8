"""One account of a predicted time: which resource takes how much of it, what overlaps, and what is not explained.

The analytical model says which resources a launch keeps busy and which of them hide behind others. Whatever gave the
time that is shown (the analytical model, the learned one, measurements), its account is the analytical one brought to
that time. The bottleneck, the times of resources, the shares of source lines and the advice are all read from here, so
they cannot contradict each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

LAUNCH_FLOOR = "launch floor"
OTHER = "other"
# As much longer than the analytical model's time is put down to what keeps its resources busy: it is off by so much on
# kernels that it reads well. What is beyond has causes that it does not know.
MOST_EXPLAINED = 2.5
CRITICAL_SHARE = 0.1  # of the time: saving less than that is within what predictions are off
_LEAST_HIDDEN = 0.05  # of the time: less overlap is not worth a word
_KEPT = 4096


class Bound(StrEnum):
    """What limits a launch."""

    COMPUTE = "compute"
    MEMORY = "memory"
    LATENCY = "latency"  # too little parallelism, barriers, contended atomics, dependent loads
    LAUNCH = "launch"  # the launch floor and the cost of starting groups


# What each resource says of a launch that it holds up.
BOUNDS = {
    "floating point": Bound.COMPUTE,
    "integer": Bound.COMPUTE,
    "special functions": Bound.COMPUTE,
    "operations that wait for each other": Bound.LATENCY,
    "global memory": Bound.MEMORY,
    "local memory": Bound.MEMORY,
    "private memory": Bound.MEMORY,
    "images": Bound.MEMORY,
    "barriers": Bound.LATENCY,
    "atomics": Bound.LATENCY,
    "starting groups": Bound.LAUNCH,
    "launch floor": Bound.LAUNCH,
}

RESOURCES = tuple(BOUNDS)  # in the order of `Times.resources`
COMPUTE = ("floating point", "integer", "special functions", "operations that wait for each other")
ON_CHIP = ("local memory", "private memory", "images")
MEMORY = ("global memory", *ON_CHIP)


@dataclass(frozen=True, slots=True)
class Times:
    """Microseconds per resource, and the whole.

    `floor_us` is what no answer may be below (`model.analytic.bounds`); `least_us`, a roofline that takes all for
    cached, is what the learned model was trained to look at. In the order of `resources`, `needed_us` is what each
    takes with the efficiency that is reckoned with, `exposed_us` what it adds to `total_us` (their sum): the rest of it
    is hidden behind others.
    """

    resources: tuple[tuple[str, Bound, float], ...]
    total_us: float
    least_us: float
    floor_us: float = 0.0
    needed_us: tuple[float, ...] = ()
    exposed_us: tuple[float, ...] = ()

    @property
    def bounded_us(self) -> float:
        """What the analytical model says, within its bounds."""
        return max(self.total_us, self.least_us, self.floor_us)


@dataclass(frozen=True, slots=True)
class ResourceTime:
    """`time_us` is what the resource adds to the time shown, `hidden_us` what it works while others take longer.

    `bound` is None for `other`: what the analytical model does not explain.
    """

    resource: str
    time_us: float
    bound: Bound | None = None
    share: float = 0.0  # of the time shown, 0..1
    hidden_us: float = 0.0


@dataclass(frozen=True, slots=True)
class TimeAccount:
    """`parts`, the longest first, sum to `runtime_us`."""

    runtime_us: float
    parts: tuple[ResourceTime, ...]

    @property
    def limiter(self) -> Bound:
        """The kind of resource that takes most of the time, as far as it is explained."""
        return self.kinds[0][0] if self.kinds else Bound.LAUNCH

    @property
    def kinds(self) -> tuple[tuple[Bound, float], ...]:
        """Each kind of resource with its share of the time, the largest first."""
        sums: dict[Bound, float] = {}
        for part in self.parts:
            if part.bound is not None:
                sums[part.bound] = sums.get(part.bound, 0.0) + part.share
        return tuple(sorted(sums.items(), key=lambda kind: -kind[1]))

    @property
    def unexplained(self) -> float:
        """The share of the time that the analytical model has no cause for."""
        return self.share_of(OTHER)

    @property
    def overlapped(self) -> tuple[ResourceTime, ...]:
        """What is hidden behind the limiter, where it is worth a word."""
        least_us = _LEAST_HIDDEN * self.runtime_us
        return tuple(p for p in self.parts if p.bound is not self.limiter and p.hidden_us >= least_us)

    def share_of(self, *resources: str) -> float:
        return sum(part.share for part in self.parts if part.resource in resources)

    def time_of(self, *resources: str) -> float:
        return sum(part.time_us for part in self.parts if part.resource in resources)

    def is_critical(self, *resources: str) -> bool:
        """Return whether saving these resources' time is worth anything; without a name, the launch as a whole."""
        return not resources or self.share_of(*resources) >= CRITICAL_SHARE


@lru_cache(_KEPT)
def account_of(times: Times | None, runtime_us: float) -> TimeAccount:
    """Return the account of a launch that takes `runtime_us`, from what the analytical model says of it.

    A launch's floor is the device's and stays; all else is taken to be as much longer or shorter as the whole is.
    """
    entries = _entries(times) if times is not None else []
    whole_us = sum(part.time_us for part in entries)
    if not entries or whole_us <= 0 or not math.isfinite(whole_us) or runtime_us <= 0:
        return TimeAccount(runtime_us, (ResourceTime(OTHER, runtime_us, share=1.0),) if runtime_us > 0 else ())
    floor_us = min(sum(part.time_us for part in entries if part.resource == LAUNCH_FLOOR), runtime_us)
    busy_us = sum(part.time_us for part in entries if part.resource != LAUNCH_FLOOR)
    factor = min((runtime_us - floor_us) / busy_us, MOST_EXPLAINED) if busy_us > 0 else 0.0
    parts = [
        replace(part, time_us=floor_us)
        if part.resource == LAUNCH_FLOOR
        else replace(part, time_us=part.time_us * factor, hidden_us=part.hidden_us * factor)
        for part in entries
    ]
    other_us = runtime_us - floor_us - busy_us * factor
    if other_us > 1e-9 * runtime_us:
        parts.append(ResourceTime(OTHER, other_us))
    shared = [replace(part, share=part.time_us / runtime_us) for part in parts if part.time_us > 0]
    return TimeAccount(runtime_us, tuple(sorted(shared, key=lambda part: -part.time_us)))


def _entries(times: Times) -> list[ResourceTime]:
    exposed = times.exposed_us or tuple(time_us for _, _, time_us in times.resources)
    needed = times.needed_us or exposed
    return [
        ResourceTime(name, added_us, bound, hidden_us=max(0.0, needed_us - added_us))
        for (name, bound, _), added_us, needed_us in zip(times.resources, exposed, needed, strict=True)
    ]


def overlapped(groups: Sequence[Mapping[str, float]], norm: float) -> dict[str, tuple[float, float]]:
    """Return what each resource needs, and what it adds to the time of resources that overlap under a norm [us].

    `groups` of resources overlap. The norm is homogeneous, so by Euler's theorem the whole is the sum of each time by
    the whole's derivative there: what is far shorter than the others adds next to nothing.
    """
    sums = [sum(group.values()) for group in groups]
    longest = max(sums, default=0.0)
    found: dict[str, tuple[float, float]] = {}
    if math.isfinite(longest) and longest > 0:
        powers = [(each / longest) ** norm for each in sums]
        added = [longest * math.pow(sum(powers), 1 / norm - 1) * power for power in powers]
    else:
        added = sums
    for group, whole, part in zip(groups, sums, added, strict=True):
        share = part / whole if 0 < whole < math.inf else 1.0
        for name, time_us in group.items():
            needed_us, exposed_us = found.get(name, (0.0, 0.0))
            found[name] = needed_us + time_us, exposed_us + time_us * share
    return found
