"""Adding up what batches counted, and giving it out by site."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from model.launch.launch import Launch
from model.opencl.kernel import ParameterKind
from model.sampling.compiler import Compiler
from model.sampling.counters import AccessRecord, Context, SiteRecord
from model.sampling.estimate import remaining
from model.sampling.items import Chosen
from model.sampling.lanes import Lanes
from model.sampling.memory import Memory
from model.sampling.sample import LINE_BYTES, AccessCounts, RawSample, SiteCounts
from model.sampling.values import Array
from model.work.memory.growth import WINDOWS, Growth
from model.work.regions.region import Site

_SETTLED = 0.02  # relative standard error of the work of a sub-group that is good enough
_LEAST_DRAWS = 64  # accesses below which windows say nothing


@dataclass(slots=True)
class AccessTotals:
    """Sums of one access: `lines` of each look at it, `sequence` of first bytes in each batch."""

    executed: float = 0.0
    lines: list[float] = field(default_factory=list)
    sequence: list[Array] = field(default_factory=list)

    def counts(self) -> AccessCounts:
        places = np.concatenate(self.sequence)
        lines = float(np.mean(self.lines)) if self.lines else 0.0
        return AccessCounts(self.executed, lines, growth_of(places), growth_of(places // LINE_BYTES))


class Totals:
    """Sums over all batches of one sample."""

    def __init__(self, compiler: Compiler) -> None:
        self.compiler = compiler
        self.items = 0
        self.sites: dict[Site, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0, 0.0])
        self.accesses: dict[Site, AccessTotals] = defaultdict(AccessTotals)
        self.taints: dict[Site, frozenset[str]] = {}
        self.notes: dict[str, None] = {}
        self.open_ended = False
        self.work_of_subgroups: list[Any] = []
        self.work_of_groups: list[Any] = []

    def add(self, chosen: Chosen, lanes: Lanes, memory: Memory) -> None:
        """Add the counts of one batch."""
        self.items += chosen.count
        work = np.zeros(chosen.count)
        stack: list[tuple[tuple[tuple[str, int], ...], Context]] = [((), lanes.context)]
        while stack:
            calls, context = stack.pop()
            made = context.made
            for number, record in enumerate(context.sites):
                if record.begun:
                    start, end = made.sites[number]
                    site = Site(calls, made.name, start, end)
                    self._add_site(site, record, chosen)
                    self.taints[site] = made.taints[number]
                    if record.by_lane is not None:
                        work += record.by_lane
                    work += record.by_all
            for number, access in enumerate(context.accesses):
                if access.executed:
                    start, end = made.accesses[number]
                    self._add_access(Site(calls, made.name, start, end), access)
            for byte, child in context.children.items():
                stack.append(((*calls, (made.name, byte)), child))
        self.work_of_subgroups.append(np.bincount(chosen.subgroup, work))
        self.work_of_groups.append(np.bincount(chosen.group, work))
        for name, how in memory.strays.items():
            self.notes[f"the sample {how} outside of `{name}`"] = None

    def _add_site(self, site: Site, record: SiteRecord, chosen: Chosen) -> None:
        sizes = np.bincount(chosen.subgroup)
        most = np.full(len(sizes), record.by_all, np.float64)
        if record.by_lane is not None:
            highest = np.zeros(len(sizes), np.int64)
            np.maximum.at(highest, chosen.subgroup, record.by_lane)
            most += highest
        sums = self.sites[site]
        sums[0] += record.begun
        sums[1] += record.taken
        sums[2] += record.completed
        sums[3] += max(float((most * sizes).sum()) * record.scale, record.taken)

    def _add_access(self, site: Site, record: AccessRecord) -> None:
        sums = self.accesses[site]
        sums.executed += record.executed * record.scale
        sums.lines += [look.lines for look in record.looks]
        sums.sequence.append(record.sequence())

    def note_unfinished(self, why: str, loops: list[Any]) -> None:
        """Say that the budget ended the run."""
        if not loops:
            self.notes["the sample ended before its work-items did"] = None
            return
        how = {"time": "took too long", "cancelled": "was cancelled"}.get(why, "ended")
        rounds = loops[0].iterations
        self.open_ended = any(is_guess for _, is_guess in map(remaining, loops))
        self.notes[f"the sample {how} while a loop still ran after {rounds} iterations: the rest is estimated"] = None

    def is_settled(self) -> bool:
        """Return whether more work-items would hardly tell more."""
        work = np.concatenate(self.work_of_subgroups)
        if len(work) < 8 or not work.mean():
            return not work.mean()
        return bool(work.std() / work.mean() / np.sqrt(len(work)) < _SETTLED)

    def sample(self, launch: Launch, *, complete: bool, group_share: float) -> RawSample:
        """Return all that was counted; see `RawSample` for `group_share`."""
        described = {target for target, _ in launch.fills}
        images = {name for name, _ in launch.images}
        groups = np.concatenate(self.work_of_groups) if self.work_of_groups else np.zeros(0)
        imbalance = float(groups.max() / groups.mean()) if len(groups) > 1 and groups.mean() > 0 else 1.0
        found = self.compiler.flows.buffers(self.compiler.address_taints.union(*self.taints.values()))
        kernel = self.compiler.kernel
        values = {p.name for p in kernel.of_kind(ParameterKind.SCALAR, ParameterKind.STRUCT)} & found
        names = {p.name for p in kernel.parameters} & found - values
        rests_on = sorted(n for n in names if n not in described or n in images)
        return RawSample(
            self.items,
            self._counts(),
            {site: each.counts() for site, each in self.accesses.items()},
            max(1.0, imbalance),
            complete,
            tuple(rests_on),
            (*self.notes, *self.compiler.notes),
            None,
            tuple(sorted(values)),
            self.open_ended,
            group_share,
        )

    def _counts(self) -> dict[Site, SiteCounts]:
        c = self.compiler
        pointers = {p.name for p in c.kernel.of_kind(ParameterKind.BUFFER)}
        atomic = c.flows.buffers(c.atomic_taints) & pointers
        kinds = set(self.taints.values()) if atomic else set()  # many sites rest on the same
        ordered = {taints for taints in kinds if c.flows.buffers(taints) & atomic}
        found = {}
        for site, (begun, taken, completed, lane_slots) in self.sites.items():
            is_ordered = self.taints[site] in ordered and 0 in (taken, completed, begun - taken)
            found[site] = SiteCounts(begun, taken, completed, lane_slots, is_ordered)
        return found


def growth_of(places: Array) -> Growth | None:
    """Return how the places [draws] of a sequence of accesses grow; None for a few accesses."""
    draws = len(places)
    if draws < _LEAST_DRAWS:
        return None
    order = np.argsort(places, kind="stable")
    is_other = np.diff(places[order]) != 0  # [draws - 1]
    counts = []
    for k in reversed(range(WINDOWS)):
        window = order * 2**k // draws  # of each access, in the order of places
        counts.append(float(1 + np.count_nonzero(is_other | (np.diff(window) != 0))) / 2**k)
    return Growth(float(draws), tuple(counts))
