"""Recorded launches of one kernel, those that do nearly the same work taken together.

Two launches are taken together if they have the same build options, global and local size, if all lengths, and the
arguments that bound loops or are checked against ids, differ by a tenth at most, and if their buffers hold the same
kind of contents. Other arguments, such as a step or a factor, may differ as they like.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from model.launch.launch import Number
from model.launch.recorded import RecordedLaunch

CLOSE = 1.1
_MOST_COMPARED = 64  # clusters of the same sizes; what is like none of those with the most time stays alone
Counts = Callable[[str], bool]  # whether launches that differ in this argument may differ in their work


@dataclass(frozen=True, slots=True)
class Cluster:
    """Recorded launches that do nearly the same work; `middle` is the one in their middle.

    `event_us` is the median that the program's events told of one launch and `total_us` of all, None where none of them
    was timed.
    """

    middle: RecordedLaunch
    count: int
    distinct: int
    event_us: float | None
    total_us: float | None


@dataclass(slots=True)
class _Group:
    numbers: dict[str, tuple[Number, ...]]  # of its first launch
    members: list[RecordedLaunch] = field(default_factory=list)


def clustered(launches: Iterable[RecordedLaunch], counts: Counts) -> tuple[Cluster, ...]:
    """Return the clusters of one kernel's launches, those with the most time first, untimed ones by their count."""
    groups: dict[Hashable, list[_Group]] = {}
    for launch in sorted(launches, key=lambda launch: launch.weight, reverse=True):
        numbers = {name: tuple(e.evaluate({}) for e in each) for name, each in launch.spec.values if counts(name)}
        alike = groups.setdefault(_sizes(launch), [])
        found = next((group for group in alike[:_MOST_COMPARED] if _are_close(group.numbers, numbers)), None)
        if found is None:
            found = _Group(numbers)
            alike.append(found)
        found.members.append(launch)
    clusters = (_cluster(group.members) for alike in groups.values() for group in alike)
    return tuple(sorted(clusters, key=lambda each: (each.total_us or 0.0, each.count), reverse=True))


def _sizes(launch: RecordedLaunch) -> Hashable:
    spec = launch.spec
    contents = tuple(sorted((name, fill.kind) for name, fill in spec.fills))
    return spec.options, spec.global_size, spec.local_size, contents


def _are_close(one: dict[str, tuple[Number, ...]], other: dict[str, tuple[Number, ...]]) -> bool:
    return one.keys() == other.keys() and all(
        len(numbers) == len(other[name]) and all(map(_is_close, numbers, other[name])) for name, numbers in one.items()
    )


def _is_close(one: Number, other: Number) -> bool:
    low, high = sorted((abs(one), abs(other)))
    return one == other or (high <= CLOSE * low and (one > 0) == (other > 0))


def _cluster(members: Sequence[RecordedLaunch]) -> Cluster:
    """Untimed launches count as the timed ones among them."""
    count = sum(launch.count for launch in members)
    timed = [launch for launch in members if launch.event_us is not None]
    timed_count = sum(launch.count for launch in timed)
    if not timed_count:
        return Cluster(_middle(members), count, len(members), None, None)
    middle = _middle(sorted(timed, key=lambda launch: launch.event_us or 0.0))
    total_us = sum(launch.total_us or 0.0 for launch in timed) * count / timed_count
    return Cluster(middle, count, len(members), middle.event_us, total_us)


def _middle(members: Sequence[RecordedLaunch]) -> RecordedLaunch:
    """Return the one at which half of the program's launches are reached."""
    half, reached = sum(launch.count for launch in members) / 2, 0
    for launch in members:
        reached += launch.count
        if reached >= half:
            return launch
    return members[-1]
