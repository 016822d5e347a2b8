"""When running some of the work-items would tell more than the launch does, and what is made of what that counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.launch.launch import Launch
from model.opencl.types import AddressSpace
from model.work.memory.stride import is_scattered
from model.work.regions.region import Access, Branch, Event, Loop, Site
from model.work.walk.sample import AccessSample, BranchSample, LoopSample, Sample, key_of, numbered
from model.work.walk.walk import Walk
from model.work.work import Work
from model.work.work_counts import WorkCounts

if TYPE_CHECKING:
    from model.sampling.sample import RawSample, SiteCounts

_GLOBAL = frozenset({AddressSpace.GLOBAL, AddressSpace.GENERIC, AddressSpace.CONSTANT})


def is_open(work: Work, launch: Launch, counts: WorkCounts) -> bool:
    """As `leaves_open`, of a launch that was counted; where that went by another one's sample, it may be."""
    if counts.sample is not None:
        return counts.sample is not work.sample_of(launch)
    return leaves_open(work, counts.facts.paths.walk)


def leaves_open(work: Work, walk: Walk) -> bool:
    """Return whether anything would be assumed: how often a loop runs, who enters a branch, where a gather goes.

    `walk` is one without a sample.
    """
    return bool(walk.assumed) or any(_is_gather(i, walk) for _, i in numbered(work.root) if isinstance(i, Access))


def wanted_sites(work: Work, walk: Walk) -> frozenset[Site]:
    """Return the accesses that are worth counting."""
    accesses = (inner for _, inner in numbered(work.root) if isinstance(inner, Access))
    return frozenset(a.site for a in accesses if a.site is not None and _is_gather(a, walk))


def sampled(work: Work, walk: Walk, raw: RawSample) -> Sample:
    """Return what was counted by site, in the order of `work`, which must come of the reading that was run.

    `walk` is one without a sample.
    """
    loops: dict[int, LoopSample] = {}
    branches: dict[int, BranchSample] = {}
    accesses: dict[int, AccessSample] = {}
    asked: set[int] = set()
    for number, inner in numbered(work.root):
        if isinstance(inner, Access):
            if _is_gather(inner, walk):
                asked.add(number)
                if inner.site is not None and (found := raw.accesses.get(inner.site)) is not None and found.executed:
                    accesses[number] = AccessSample(found.lines_per_subgroup, found.places, found.lines)
            continue
        if key_of(inner) in walk.assumed:
            asked.add(number)
        counts = raw.sites.get(inner.site) if inner.site is not None else None
        if counts is None or not counts.begun:
            continue
        if isinstance(inner, Loop):
            efficiency = min(1.0, counts.taken / counts.lane_slots) if counts.lane_slots else 1.0
            loops[number] = LoopSample(counts.begun, counts.taken / counts.begun, efficiency)
        else:
            branches[number] = _branch(inner, counts, walk, raw.group_share)
    is_known = raw.stopped is None
    return Sample(
        items=raw.items,
        loops=loops if is_known else {},
        branches=branches if is_known else {},
        accesses=accesses if is_known else {},
        asked=frozenset(asked),
        group_imbalance=raw.group_imbalance,
        is_complete=raw.complete,
        rests_on=raw.rests_on,
        notes=raw.notes,
        stopped=raw.stopped,
        scalars=raw.scalars,
        open_ended=raw.open_ended,
    )


def _branch(branch: Branch, counts: SiteCounts, walk: Walk, group_share: float) -> BranchSample:
    fullness = None
    match branch.event:
        case Event.TAKEN:
            share = counts.taken / counts.begun
            fullness = min(1.0, counts.taken / counts.lane_slots) if counts.lane_slots else None
        case Event.COMPLETED:
            share = counts.completed / counts.begun
        case Event.ENTERED:
            share = counts.taken / counts.begun
    share = min(1.0, share)
    is_ordered = counts.is_ordered and group_share > 0 and share in (0, 1)
    if is_ordered:
        # Some groups have yet to come: of the common forms, "the last one goes on" is the one that is not seen.
        share = abs(share - group_share)
    came, let_in, undecided = walk.met.get(key_of(branch), (0.0, 0.0, 0.0))
    own = (share * came - let_in) / undecided if undecided > 0 else share
    return BranchSample(counts.begun, share, min(1.0, max(0.0, own)), fullness, is_ordered)


def _is_gather(access: Access, walk: Walk) -> bool:
    """Return whether the data say where in global memory it goes."""
    extent = walk.extents.get(id(access))
    if extent is None or not extent.count or access.space not in _GLOBAL or access.is_image:
        return False
    offset = access.offset
    return offset is None or (offset.has("load", "unknown") and is_scattered(offset, walk.known))
