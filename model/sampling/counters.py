"""Counting at sites, one set of records for each chain of calls, and what the counting itself costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import thread_time
from typing import Protocol

import numpy as np

from model.sampling.sample import LINE_BYTES
from model.sampling.values import Array, BudgetEnded, Value, distinct

CALL_COST = 1000  # lane-steps that a NumPy call costs, however few its lanes
_LOOKED_AT = 8  # executions of an access whose lines are counted; later ones are looked at ever more rarely
_KEPT_ADDRESSES = 1 << 14
LOOK_COST = 20_000  # lane-steps of sorting the addresses of one execution
_SHARE_OF_LOOKS = 0.2  # of the budget: beyond, each access is looked at twice


class Meter:
    """What a sample has cost, and may."""

    __slots__ = ("cancelled", "deadline", "limit", "looks", "spent", "why")

    def __init__(self, limit: float, seconds: float, cancelled: Value) -> None:
        self.limit = limit
        self.spent = 0.0
        self.looks = 0.0  # of that, on counting the lines of accesses
        self.deadline = thread_time() + seconds
        self.cancelled = cancelled
        self.why = ""

    def spend(self, calls: int, width: int) -> None:
        """Add the cost of `calls` NumPy calls on `width` lanes. Raises BudgetEnded."""
        self.spent += calls * (CALL_COST + width)
        if self.spent > self.limit:
            self.why = "steps"
        elif thread_time() > self.deadline:
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


@dataclass(slots=True)
class AccessRecord:
    """Sums of one access. `looks`: executions whose lines were counted; `touched`: first bytes and how many follow."""

    executed: float = 0.0
    executions: int = 0
    looks: int = 0
    lines: float = 0.0
    kept: int = 0
    next_look: int = 0
    touched: list[Array] = field(default_factory=list)
    size_bytes: int = 1
    noted: int = 0
    scale: float = 1.0

    def is_growing(self) -> bool:
        """Return whether executions that were not looked at are likely to have touched other bytes."""
        if len(self.touched) < 4:
            return False
        half = len(self.touched) // 2
        before, later, both = (
            len(distinct(np.concatenate(part))) for part in (self.touched[:half], self.touched[half:], self.touched)
        )
        return both - before > 0.5 * later

    def note(self, lanes: CountedLanes, addresses: Value, size_bytes: int) -> None:
        """Note one execution by the active lanes; `addresses` are the first bytes, of all lanes."""
        self.executed += lanes.active
        self.executions += 1
        self.size_bytes = size_bytes
        meter = lanes.meter
        if self.executions <= self.next_look or (self.executions > 2 and meter.looks > _SHARE_OF_LOOKS * meter.limit):
            return
        if self.executions > _LOOKED_AT:
            self.next_look = self.executions + self.executions // 4
        if addresses.ndim == 0:
            at = np.full(lanes.active, addresses)
            groups = lanes.subgroups()
        else:
            at, groups = addresses, lanes.subgroups()
            if lanes.mask is not None:
                at = at[lanes.mask]
        if lanes.mask is not None:
            groups = groups[lanes.mask]
        self.looks += 1
        meter.looks += LOOK_COST + 20 * lanes.active
        meter.spent += LOOK_COST + 20 * lanes.active
        first = at // LINE_BYTES
        spans = size_bytes // LINE_BYTES if size_bytes > LINE_BYTES else 0
        keys = np.sort((groups << 50) ^ (first & ((1 << 50) - 1)))
        distinct = 1 + int(np.count_nonzero(keys[1:] != keys[:-1]))
        present = 1 + int(np.count_nonzero(groups[1:] != groups[:-1]))  # lanes stand in the order of sub-groups
        self.lines += distinct * (1 + spans) / present
        if self.kept < _KEPT_ADDRESSES:
            self.kept += len(at)
            self.noted += lanes.active
            self.touched.append(at)


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
