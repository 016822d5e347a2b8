"""What a launch does to memory and control flow, access by access and branch by branch: computed when asked for.

`WorkCounts.facts` holds one `Facts`. Lines are those of the text that was analysed: whoever has moved a prediction
(see `model.placement`) finds in `WorkCounts.accesses` the same accesses, in the same order, with lines as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.work.affine import AffineIndex
from model.work.counts import AccessCount


@dataclass(frozen=True, slots=True)
class Footprint:
    """Bytes that executed loads and stores ask for, and how many of them are distinct.

    `line_bytes` are the distinct 64-byte cache lines, times 64, were the buffer to start on a line.
    `is_exact` where enumerating every address would give the same; else an estimate from above.
    """

    requested_bytes: float
    distinct_bytes: float
    line_bytes: float
    is_exact: bool

    @property
    def reuse(self) -> float | None:
        """How often each distinct byte is asked for; None where nothing is."""
        return self.requested_bytes / self.distinct_bytes if self.distinct_bytes else None


@dataclass(frozen=True, slots=True)
class Step:
    """Bytes from one iteration to the next of a loop around an access; None where the data or no order decide it."""

    line: int
    name: str  # of the loop's variable in the source, where it has one
    trips: float
    bytes: int | None

    @property
    def set_conflicts(self) -> int:
        """How many of 64 cache sets of 64-byte lines this step leaves unused, as a factor: 1 = none, 64 = all but one.

        Steps by large powers of two fall into few sets of a cache, so that little of it serves.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Transactions:
    """What the 32 lanes of a warp ask of global memory at once, on average over the lanes that run.

    A warp of 32 lanes fetches 32-byte sectors of 128-byte lines ("CUDA C++ Best Practices Guide", coalesced access).
    """

    sectors: float
    lines: float
    least_sectors: float  # had the same bytes stood side by side

    @property
    def factor(self) -> float:
        """Sectors fetched over sectors needed: 1 = coalesced, 8 = each lane of a 4-byte access its own sector."""
        return self.sectors / self.least_sectors if self.least_sectors else 1.0


@dataclass(frozen=True, slots=True)
class AccessFacts:
    """One access of the source under a launch. `count` is the same object as in `WorkCounts.accesses` (unmoved)."""

    count: AccessCount
    index: AffineIndex
    steps: tuple[Step, ...]  # innermost loop first
    item: Footprint  # of a typical work-item that gets there
    group: Footprint  # of a typical work-group
    launch: Footprint
    transactions: Transactions | None  # None for local and private memory and images
    bank_conflict_degree: float | None  # 1 = none, 32 = all lanes in line; None for all but local memory


@dataclass(frozen=True, slots=True)
class BufferFacts:
    """All accesses of one buffer or array together: bytes that several of them touch count once."""

    buffer: str
    item: Footprint
    group: Footprint
    launch: Footprint


@dataclass(frozen=True, slots=True)
class BranchFacts:
    """One `if`, `switch` case or `?:` of the source."""

    line: int
    share: float  # of the work-items that come there, those that enter
    warps_diverging: float  # share of 32-lane warps whose lanes take both sides
    groups_diverging: float  # share of work-groups whose work-items take both sides
    decided_by: str  # "ids", "data" or "uniform": the same for all work-items of a group
    is_exact: bool


@dataclass(frozen=True, slots=True)
class LoopFacts:
    """One loop of the source."""

    line: int
    depth: int  # 0 for outermost
    name: str  # of its variable, where it has one
    trips: float  # on average, per time it is entered
    trip_kind: str  # "constant", "uniform", "ids" or "data"
    has_barrier: bool
    is_innermost: bool
    chain: int  # float operations each iteration waits for
    accumulators: int  # independent chains of them
    warp_efficiency: float | None  # mean over greatest number of trips within a warp; None where the data decide
    group_imbalance: float | None  # greatest over mean work of a group in this loop


@dataclass(frozen=True, slots=True)
class BarrierFacts:
    """One barrier of the source."""

    line: int
    count: float  # times work-groups execute it
    loop_line: int | None  # of the innermost loop around it
    divergent_line: int | None  # of a condition around it that differs, for sure, within a work-group; else None


class Facts:
    """Everything above for one launch. Properties are computed when first asked for, and kept."""

    accesses: tuple[AccessFacts, ...]  # as `WorkCounts.accesses`, one for one
    buffers: tuple[BufferFacts, ...]  # global and constant memory
    branches: tuple[BranchFacts, ...]
    loops: tuple[LoopFacts, ...]
    barriers: tuple[BarrierFacts, ...]
    registers: int  # estimate: live 32-bit registers per work-item
    live_across_barriers: int | None  # estimate: those that hold a value over a barrier; None without barriers
