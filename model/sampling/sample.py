"""What sampled execution gives: counts by site, summed over the work-items that were run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.work.memory.growth import Growth
from model.work.regions.region import Site

SUBGROUP = 32  # work-items that are counted as running in lock-step
LINE_BYTES = 64


@dataclass(frozen=True, slots=True)
class SampleBudget:
    """How much one sample may cost.

    `lane_steps`: one NumPy call on n lanes costs n + `CALL_COST` of them; the same on every machine. The first batch
    of work-items may take a few times as many, as nothing is known without it. `seconds`: the last guard, of processor
    time after the kernel was compiled: other processes do not change what comes out.
    """

    lane_steps: int = 36_000_000
    seconds: float = 0.25


@dataclass(frozen=True, slots=True)
class SiteCounts:
    """Sums over all sampled work-items and all times that they came by.

    `begun`: the statement or expression was begun. `taken`: of if, ?: and case, the first side or this case was
    entered; of && and ||, the right operand was evaluated; of loops, iterations begun. `completed`: control went on to
    what follows. `lane_slots`: for each sub-group its size times the most often that any of its lanes took it, summed.
    `is_ordered`: all did the same, and what an atomic operation on global memory gave back may decide it, so that it
    depends on how many work-items came before.
    """

    begun: float
    taken: float
    completed: float
    lane_slots: float
    is_ordered: bool = False


@dataclass(frozen=True, slots=True)
class AccessCounts:
    """What was counted of an access.

    `executed`: by lanes. `lines_per_subgroup`: mean number of distinct 64-byte lines that the active lanes of one
    sub-group touch in one execution. `places` and `lines`: how many different first bytes and lines there are, and how
    that grows, work-item after work-item; None after a few executions.
    """

    executed: float
    lines_per_subgroup: float
    places: Growth | None = None
    lines: Growth | None = None


@dataclass(frozen=True, slots=True)
class RawSample:
    """`items` work-items were run; see `SiteCounts` and `AccessCounts`.

    `group_imbalance`: largest over mean of the groups' lane-steps. `complete`: False where the budget ended it, and
    counts are extrapolated. `rests_on`: buffers and images whose contents no fill described and that did decide a
    branch, a trip count or an address; `scalars`: by-value arguments that did. `open_ended`: no lane had left the loop
    in which the budget ended, and nothing bounds it closely. `group_share`: the part of all work-items that is one
    work-group; 0 where all were run. `stopped`: why nothing can be said; None where it ran.
    """

    items: int
    sites: Mapping[Site, SiteCounts]
    accesses: Mapping[Site, AccessCounts]
    group_imbalance: float
    complete: bool
    rests_on: tuple[str, ...]
    notes: tuple[str, ...]
    stopped: str | None
    scalars: tuple[str, ...] = ()
    open_ended: bool = False
    group_share: float = 0.0
