"""Measurements of one kernel on one device over time: changes from one to the next, and the trend."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from profiler.measurement import Measurement
from profiler.store import StoredMeasurement
from server.text.format import format_percent

_BARS = "▁▂▃▄▅▆▇█"
_SMALL_PERCENT = 1.0  # changes below that are not worth a word, however sure


@dataclass(frozen=True, slots=True)
class Moment:
    """One measurement. `changes` are words on what differs from the ones before it, such as `kernel edited`."""

    stored: StoredMeasurement
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trend:
    """The medians of one launch, the oldest first."""

    launch: str
    medians_us: tuple[float, ...]

    @property
    def change_percent(self) -> float:
        """Return the change from the first to the last [%]; below 0 if it became faster."""
        first, last = self.medians_us[0], self.medians_us[-1]
        return (last / first - 1) * 100 if first > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Timeline:
    """The measurements of one kernel on one device, the oldest first."""

    kernel_id: str
    device_id: str
    moments: tuple[Moment, ...]

    @property
    def drivers(self) -> frozenset[str]:
        return frozenset(moment.stored.measurement.driver for moment in self.moments)

    def trends(self) -> tuple[Trend, ...]:
        """Return the trend of each launch that was measured more than once."""
        medians: dict[str, list[float]] = {}
        for moment in self.moments:
            m = moment.stored.measurement
            medians.setdefault(m.launch, []).append(m.median_us)
        return tuple(Trend(launch, tuple(found)) for launch, found in medians.items() if len(found) > 1)


def timelines(kept: Iterable[StoredMeasurement]) -> tuple[Timeline, ...]:
    """Return timelines by kernel and device, in the order in which they first appear; `kept` has the oldest first."""
    found: dict[tuple[str, str], list[StoredMeasurement]] = {}
    for stored in kept:
        found.setdefault((stored.kernel_id, stored.measurement.device_id), []).append(stored)
    return tuple(Timeline(kernel, device, _moments(entries)) for (kernel, device), entries in found.items())


def sparkline(values: Sequence[float]) -> str:
    """Return a small bar for each value, on a logarithmic scale from the least to the greatest."""
    logs = [math.log(max(value, 1e-9)) for value in values]
    low, high = min(logs), max(logs)
    if high - low < math.log1p(_SMALL_PERCENT / 100):
        return _BARS[len(_BARS) // 2] * len(values)
    return "".join(_BARS[round((each - low) / (high - low) * (len(_BARS) - 1))] for each in logs)


def _moments(entries: Sequence[StoredMeasurement]) -> tuple[Moment, ...]:
    seen: list[Measurement] = []
    moments = []
    for stored in entries:
        moments.append(Moment(stored, tuple(_changes(stored.measurement, seen)) if seen else ()))
        seen.append(stored.measurement)
    return tuple(moments)


def _changes(now: Measurement, before: Sequence[Measurement]) -> Iterable[str]:
    last = before[-1]
    if now.kernel_fingerprint != last.kernel_fingerprint:
        is_known = any(each.kernel_fingerprint == now.kernel_fingerprint for each in before)
        yield "an earlier version again" if is_known else "kernel edited"
    if now.driver != last.driver:
        yield "other driver"
    same_size = next((each for each in reversed(before) if each.launch == now.launch), None)
    if same_size is None:
        return
    if now.options != same_size.options:
        yield "other build options"
    elif now.launch_key != same_size.launch_key:
        yield "other arguments"
    yield from _speed(now, same_size)


def _speed(now: Measurement, before: Measurement) -> Iterable[str]:
    """Return the change of speed in words, only if the intervals of both medians lie apart."""
    if before.median_us <= 0 or (now.ci95_us[0] <= before.ci95_us[1] and before.ci95_us[0] <= now.ci95_us[1]):
        return
    percent = (now.median_us / before.median_us - 1) * 100
    if abs(percent) >= _SMALL_PERCENT:
        yield f"{format_percent(abs(percent))} {'slower' if percent > 0 else 'faster'}"
