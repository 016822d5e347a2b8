"""Counting at sites, one set of records for each chain of calls, and what the counting itself costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import thread_time
from typing import Protocol

import numpy as np

from model.sampling.sample import LINE_BYTES
from model.sampling.values import Array, BudgetEnded, Value

CALL_COST = 1000  # lane-steps that a NumPy call costs, however few its lanes
_LEAST_LOOKS, _MOST_LOOKS = 8, 32  # kept executions of an access
_MOST_PLACES = 1 << 15  # of all lanes, in kept executions
_SCATTER = 2654435761  # Knuth, "The Art of Computer Programming", section 6.4: multiplicative hashing
LOOK_COST = 20_000  # lane-steps of sorting the addresses of one execution
LOOK_AT_CLOCK = 200_000  # lane-steps between two looks: some systems take as long for one as for 50,000 of these
_SHARE_OF_LOOKS = 0.2  # of the budget: beyond, each access is looked at twice


class Meter:
    """What a sample has cost, and may."""

    __slots__ = ("cancelled", "deadline", "limit", "looks", "next_look", "spent", "why")

    def __init__(self, limit: float, seconds: float, cancelled: Value) -> None:
        self.limit = limit
        self.spent = 0.0
        self.looks = 0.0  # of that, on counting the lines of accesses
        self.next_look = 0.0  # at the clock, and at who may have cancelled
        self.deadline = thread_time() + seconds
        self.cancelled = cancelled
        self.why = ""

    def spend(self, calls: int, width: int) -> None:
        """Add the cost of `calls` NumPy calls on `width` lanes. Raises BudgetEnded."""
        self.spent += calls * (CALL_COST + width)
        if self.spent > self.limit:
            self.why = "steps"
            raise BudgetEnded
        if self.spent < self.next_look:
            return
        self.next_look = self.spent + LOOK_AT_CLOCK
        if thread_time() > self.deadline:
            self.why = "time"
        elif self.cancelled():
            self.why = "cancelled"
        else:
            return
        raise BudgetEnded


class CountedLanes(Protocol):
    """The lanes whose steps are counted: `active` of them, those in `mask`; see `model.sampling.lanes`."""

    items: int
    active: int
    lane: Array | None
    mask: Array | None
    meter: Meter

    def subgroups(self) -> Array: ...


@dataclass(slots=True)
class SiteRecord:
    """Sums of one site. `by_lane`: how often each lane took it; `by_all`: how often all lanes did together."""

    begun: float = 0.0
    taken: float = 0.0
    completed: float = 0.0
    by_all: int = 0
    by_lane: Array | None = None
    scale: float = 1.0  # of what a sample that was ended leaves out

    def take(self, lanes: CountedLanes, mask: Array | None, times: int = 1) -> None:
        """Note that the lanes in `mask` (None: all of `lanes`) took it."""
        if mask is None and lanes.lane is None:
            self.by_all += times
            return
        by_lane = self.by_lane
        if by_lane is None:
            by_lane = self.by_lane = np.zeros(lanes.items, np.int64)
        if lanes.lane is None:
            if times == 1:
                by_lane += mask
            else:
                by_lane[mask] += times
        else:
            by_lane[lanes.lane if mask is None else lanes.lane[mask]] += times


@dataclass(frozen=True, slots=True)
class Look:
    """One execution of an access that was looked at: the lanes that made it, and the first byte of each.

    `lines` is the mean number of distinct lines that one sub-group touched.
    """

    lanes: Array
    places: Array
    lines: float


@dataclass(slots=True)
class AccessRecord:
    """Sums of one access, and looks at executions that are spread evenly over all."""

    executed: float = 0.0
    executions: int = 0
    next_look: int = 0
    gap: int = 1  # mean number of executions between two looks
    looks: list[Look] = field(default_factory=list)
    size_bytes: int = 1
    scale: float = 1.0

    def note(self, lanes: CountedLanes, addresses: Value, size_bytes: int) -> None:
        """Note one execution by the active lanes; `addresses` are the first bytes, of all lanes."""
        self.executed += lanes.active
        self.executions += 1
        self.size_bytes = size_bytes
        meter = lanes.meter
        if self.executions <= self.next_look or (self.executions > 2 and meter.looks > _SHARE_OF_LOOKS * meter.limit):
            return
        # By uneven steps, or a loop around it would show the same of its iterations each time.
        self.next_look = self.executions + (self.executions * _SCATTER >> 7) % (2 * self.gap - 1)
        own = np.arange(lanes.items) if lanes.lane is None else lanes.lane
        groups = lanes.subgroups()
        if lanes.mask is not None:
            own, groups = own[lanes.mask], groups[lanes.mask]
        if addresses.ndim == 0:
            at = np.full(lanes.active, addresses)
        else:
            at = addresses if lanes.mask is None else addresses[lanes.mask]
        meter.looks += LOOK_COST + 20 * lanes.active
        meter.spent += LOOK_COST + 20 * lanes.active
        first = at // LINE_BYTES
        spans = size_bytes // LINE_BYTES if size_bytes > LINE_BYTES else 0
        keys = np.sort((groups << 50) ^ (first & ((1 << 50) - 1)))
        distinct = 1 + int(np.count_nonzero(keys[1:] != keys[:-1]))
        present = 1 + int(np.count_nonzero(groups[1:] != groups[:-1]))  # lanes stand in the order of sub-groups
        self.looks.append(Look(own, at, distinct * (1 + spans) / present))
        if len(self.looks) >= _MOST_LOOKS or len(self.looks) * lanes.active > _MOST_PLACES:
            self._thin()

    def _thin(self) -> None:
        """Keep every other look, and look half as often from now on."""
        if len(self.looks) > _LEAST_LOOKS:
            self.looks = self.looks[::2]
            self.gap *= 2

    def sequence(self) -> Array:
        """Return the first bytes that were looked at, one work-item after the other, as a CPU goes through them."""
        if not self.looks:
            return np.zeros(0, np.int64)
        lanes = np.concatenate([look.lanes for look in self.looks])
        return np.concatenate([look.places for look in self.looks])[np.argsort(lanes, kind="stable")]


class Context:
    """The records of one function, reached by one chain of calls."""

    __slots__ = ("accesses", "children", "made", "sites")

    def __init__(self, made: FunctionSites) -> None:
        self.made = made
        self.sites = [SiteRecord() for _ in made.sites]
        self.accesses = [AccessRecord() for _ in made.accesses]
        self.children: dict[int, Context] = {}

    def child(self, call_byte: int, made: FunctionSites) -> Context:
        """Return the records of a function that is called at this byte."""
        found = self.children.get(call_byte)
        if found is None:
            found = self.children[call_byte] = Context(made)
        return found


@dataclass(slots=True)
class FunctionSites:
    """The places of one function that are counted, in the order in which they were compiled: first and last byte."""

    name: str
    sites: list[tuple[int, int]] = field(default_factory=list)
    accesses: list[tuple[int, int]] = field(default_factory=list)
    taints: list[frozenset[str]] = field(default_factory=list)  # of what decides each site

    def site(self, start: int, end: int, taint: frozenset[str] = frozenset()) -> int:
        self.sites.append((start, end))
        self.taints.append(taint)
        return len(self.sites) - 1

    def access(self, start: int, end: int) -> int:
        self.accesses.append((start, end))
        return len(self.accesses) - 1
