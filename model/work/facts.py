"""What a launch does to memory and control flow, access by access and branch by branch: computed when asked for.

`WorkCounts.facts` holds one `Facts`. Lines are those of the text that was analysed: whoever has moved a prediction
(see `model.placement`) finds in `WorkCounts.accesses` the same accesses, in the same order, with lines as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from model.opencl.types import AddressSpace
from model.work.affine import AffineIndex, Obstacle, affine_index
from model.work.banks import mean_conflict_degree
from model.work.counts import AccessCount
from model.work.divergence import (
    BarrierFacts,
    BranchFacts,
    LoopFacts,
    Paths,
    barrier_facts,
    branch_facts,
    loop_facts,
)
from model.work.evaluate import Knowledge
from model.work.footprint import Footprint, Reach, footprint_of, total
from model.work.lanes import Warp, warps_of
from model.work.region import Access, Block
from model.work.registers import Pressure
from model.work.settings import Setting
from model.work.stride import is_scattered, step_in
from model.work.touched import Scope, Shape
from model.work.transactions import Transactions, gathered, transactions
from model.work.walk import Walk

GLOBAL_SPACES = frozenset({AddressSpace.GLOBAL, AddressSpace.GENERIC, AddressSpace.CONSTANT})
CACHE_SETS = 64  # of a level-1 cache of 32 to 48 KiB with 8 to 12 ways, as CPUs have
LINE_BYTES = 64


@dataclass(frozen=True, slots=True)
class Step:
    """Bytes from one iteration to the next of a loop around an access; None where the data or no order decide it."""

    line: int
    trips: float
    bytes: int | None

    @property
    def set_conflicts(self) -> int:
        """One in how many of a cache's sets this step falls into: 1 = all of them serve, 64 = a single one does.

        Steps by large powers of two, down a matrix's column, make lines push each other out of a cache that is large
        enough. For 64 sets of 64-byte lines.
        """
        if not self.bytes or self.bytes % LINE_BYTES:
            return 1
        return math.gcd(self.bytes // LINE_BYTES, CACHE_SETS)


class AccessFacts:
    """One access of the source under a launch; `count` is its entry in `WorkCounts.accesses`."""

    def __init__(self, count: AccessCount, reach: Reach, setting: Setting, paths: Paths) -> None:
        self.count = count
        self._reach, self._setting, self._paths = reach, setting, paths

    @cached_property
    def index(self) -> AffineIndex:
        return affine_index(self._reach.access)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """For each loop around it, innermost first."""
        paths = self._paths
        point, ranges = paths.walk.points[id(self._reach.access)]
        parents = {id(loop): block for loop, _, block in paths.settings.loops}
        return tuple(
            Step(
                loop.line,
                paths.runs(loop.body) / max(1.0, paths.runs(parents[id(loop)])),
                step_in(self._reach.access, loop.counter, paths.known, point, ranges),
            )
            for loop in reversed(self._setting.loops)
        )

    @cached_property
    def item(self) -> Footprint:
        """Of a typical work-item that gets there."""
        return self._footprint(Scope.ITEM)

    @cached_property
    def group(self) -> Footprint:
        """Of a typical work-group."""
        return self._footprint(Scope.GROUP)

    @cached_property
    def launch(self) -> Footprint:
        return self._footprint(Scope.LAUNCH)

    def _footprint(self, scope: Scope) -> Footprint:
        return footprint_of([self._reach], scope, self._paths.walk, self._paths.shape, lines=True)

    @cached_property
    def warps(self) -> tuple[Warp, ...]:
        """Typical warps with the place of each lane; empty where the data decide."""
        paths = self._paths
        visits = paths.walk.visited[id(self._reach.access)]
        return tuple(warps_of(self._reach.access, visits, self._setting, paths.known, paths.shape))

    @cached_property
    def transactions(self) -> Transactions | None:
        """None for local and private memory, images, and where nobody knows the place."""
        if self.count.space not in GLOBAL_SPACES or self._reach.access.is_image:
            return None
        offset = self._reach.access.offset
        if offset is not None and self.index.obstacle is Obstacle.DATA and is_scattered(offset, self._paths.known):
            return gathered(self.count.element_bytes)
        return transactions(self.warps, self.count.element_bytes)

    @cached_property
    def bank_conflict_degree(self) -> float | None:
        """1 = none, 32 = all lanes in one bank; None for all but local memory, and where nobody knows the place."""
        if self.count.space is not AddressSpace.LOCAL:
            return None
        return mean_conflict_degree(self.warps, self.count.element_bytes)

    @property
    def reach(self) -> Reach:
        return self._reach


@dataclass(frozen=True, slots=True)
class BufferFacts:
    """All accesses of one buffer together: bytes that several of them touch count once."""

    buffer: str
    item: Footprint
    group: Footprint
    launch: Footprint


class Facts:
    """All of it for one launch. Properties are computed when first asked for, and kept."""

    def __init__(self, paths: Paths, read: Sequence[tuple[Reach, AccessCount]], pressure: Pressure) -> None:
        self._paths, self._read = paths, tuple(read)
        self.pressure = pressure

    @cached_property
    def accesses(self) -> tuple[AccessFacts, ...]:
        """As `WorkCounts.accesses`, one for one."""
        found = self._paths.settings.accesses
        return tuple(
            AccessFacts(count, reach, found.get(id(reach.access), Setting()), self._paths)
            for reach, count in self._read
        )

    @cached_property
    def buffers(self) -> tuple[BufferFacts, ...]:
        """Global and constant memory, images left out."""
        own: dict[str, list[Reach]] = {}
        for access in self.accesses:
            if access.count.space in GLOBAL_SPACES and not access.reach.access.is_image:
                own.setdefault(access.count.buffer, []).append(access.reach)
        walk, shape = self._paths.walk, self._paths.shape
        return tuple(
            BufferFacts(name, *(footprint_of(reaches, scope, walk, shape, lines=True) for scope in Scope))
            for name, reaches in own.items()
        )

    @cached_property
    def item(self) -> Footprint:
        """All global and constant memory that a typical work-item touches."""
        return total([b.item for b in self.buffers])

    @cached_property
    def group(self) -> Footprint:
        return total([b.group for b in self.buffers])

    @cached_property
    def launch(self) -> Footprint:
        return total([b.launch for b in self.buffers])

    @cached_property
    def branches(self) -> tuple[BranchFacts, ...]:
        return branch_facts(self._paths)

    @cached_property
    def loops(self) -> tuple[LoopFacts, ...]:
        return loop_facts(self._paths)

    @cached_property
    def barriers(self) -> tuple[BarrierFacts, ...]:
        return barrier_facts(self._paths)

    @cached_property
    def bank_conflict_degree(self) -> float | None:
        """Over all accesses of local memory, by how often they are executed; None where there are none."""
        own = [(a.count.count, a.bank_conflict_degree) for a in self.accesses]
        known = [(count, degree) for count, degree in own if degree is not None]
        executed = sum(count for count, _ in known)
        return sum(count * degree for count, degree in known) / executed if executed else None

    @cached_property
    def transaction_factor(self) -> float | None:
        """Sectors fetched over sectors needed, over all accesses of global memory; None where there are none."""
        own = [(a.count.count, a.transactions) for a in self.accesses if not a.count.is_atomic]
        known = [(count, t) for count, t in own if t is not None]
        needed = sum(count * t.least_sectors for count, t in known)
        return sum(count * t.sectors for count, t in known) / needed if needed else None

    @property
    def registers(self) -> int:
        """Estimate of the 32-bit registers that a work-item needs at once (see `registers`)."""
        return self.pressure.registers

    @property
    def live_across_barriers(self) -> int | None:
        """Estimate of the 32-bit registers that hold a value over a barrier; None without barriers."""
        return self.pressure.over_barriers

    @cached_property
    def divergence(self) -> float:
        """The share of warps whose lanes part, over all branches by how many work-items come there (0..1)."""
        settings = self._paths.settings.branches
        come = {b.line: self._paths.runs(b.then) + self._paths.runs(b.otherwise) for b, _, _ in settings}
        total_come = sum(come.get(b.line, 0.0) for b in self.branches)
        parted = sum(come.get(b.line, 0.0) * b.warps_diverging for b in self.branches)
        return parted / total_come if total_come else 0.0


def reach_of(access: Access, paths: Paths, limits: dict[str, float]) -> Reach:
    walk = paths.walk
    return Reach(access, walk.visited[id(access)], walk.extents[id(access)], limits.get(access.buffer, math.inf))


def no_facts() -> Facts:
    """Of a launch of nothing."""
    nothing = Block((), (), (), ())
    return Facts(Paths(nothing, Walk(Knowledge({}, {}, {})), Shape((1, 1, 1), (1, 1, 1))), (), Pressure(0, None))


__all__ = [
    "AccessFacts", "BarrierFacts", "BranchFacts", "BufferFacts", "Facts", "Footprint", "LoopFacts", "Step",
    "Transactions", "no_facts", "reach_of",
]  # fmt: skip
