"""What a launch does to memory and control flow, access by access and branch by branch: computed when asked for.

`WorkCounts.facts` holds one `Facts`. Lines are those of the text that was analysed: whoever has moved a prediction
(see `model.line_remap`) finds in `WorkCounts.accesses` the same accesses, in the same order, with lines as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from model.work.counts import AccessCount
from model.work.execution.registers import Pressure
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.symbolic import GLOBAL_ID
from model.work.features.access_facts import GLOBAL_SPACES, AccessFacts, Step
from model.work.features.divergence import (
    BarrierFacts,
    BranchFacts,
    LoopFacts,
    Paths,
    barrier_facts,
    branch_facts,
    loop_facts,
)
from model.work.features.register_reuse import Promotion, loaded_shares, promotion
from model.work.features.warp_slowdown import warp_slowdown
from model.work.features.working_sets import WorkingSet, working_set
from model.work.memory.footprint import Footprint, Reach, footprint_of, total
from model.work.memory.scopes import Scope, Shape
from model.work.memory.transactions import Transactions
from model.work.regions.enclosing_scopes import Setting
from model.work.regions.region import Access, Block
from model.work.walk.walk import Walk


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
        self.paths, self.read = paths, tuple(read)
        self.pressure = pressure

    @cached_property
    def accesses(self) -> tuple[AccessFacts, ...]:
        """As `WorkCounts.accesses`, one for one."""
        found = self.paths.settings.accesses
        return tuple(
            AccessFacts(count, reach, found.get(id(reach.access), Setting()), self.paths) for reach, count in self.read
        )

    @cached_property
    def buffers(self) -> tuple[BufferFacts, ...]:
        """Global and constant memory, images left out."""
        own: dict[str, list[AccessFacts]] = {}
        for access in self.accesses:
            if access.count.space in GLOBAL_SPACES and not access.reach.access.is_image:
                own.setdefault(access.count.buffer, []).append(access)
        return tuple(BufferFacts(name, *self._together(accesses)) for name, accesses in own.items())

    def _together(self, accesses: Sequence[AccessFacts]) -> Iterator[Footprint]:
        """Yield what accesses of one buffer touch together, by scope; a single one has that of its own."""
        if len(accesses) == 1:
            yield from (accesses[0].item, accesses[0].group, accesses[0].launch)
            return
        reaches = [access.reach for access in accesses]
        for scope in Scope:
            yield footprint_of(reaches, scope, self.paths.walk, self.paths.shape, lines=True)

    @cached_property
    def line_bytes(self) -> tuple[float, float]:
        """Bytes of the distinct lines of global and constant memory that a typical group and the launch touch.

        As `group` and `launch` say, without what a work-item does, and wherever rows happen to begin.
        """
        own: dict[str, list[Reach]] = {}
        for reach, count in self.read:
            if count.space in GLOBAL_SPACES and not reach.access.is_image:
                own.setdefault(count.buffer, []).append(reach)
        walk, shape = self.paths.walk, self.paths.shape
        group, launch = (
            sum(
                footprint_of(reaches, scope, walk, shape, lines=True, rows_on_lines=True).line_bytes
                for reaches in own.values()
            )
            for scope in (Scope.GROUP, Scope.LAUNCH)
        )
        return group, launch

    @cached_property
    def promotion(self) -> Promotion:
        """Private arrays that a GPU's compiler can keep in registers."""
        return promotion(self.accesses, self.loops)

    @cached_property
    def loaded_shares(self) -> Mapping[int, float]:
        """Return, by the identity of a load's count, the share of its executions that GPUs' compilers leave."""
        return loaded_shares(self.accesses, self.paths)

    @cached_property
    def fused_integers(self) -> float:
        """Integer operations of all work-items that GPUs do together with others; those on 64 bits count twice."""
        settings = self.paths.settings
        blocks = [self.paths.root, *(loop.body for loop, *_ in settings.loops)]
        for branch, *_ in settings.branches:
            blocks += branch.then, branch.otherwise
        return sum(block.fused * self.paths.runs(block) for block in blocks)

    @cached_property
    def warp_slowdown(self) -> float:
        """How much longer warps are busy than their lanes, where these part."""
        settings, runs = self.paths.settings, self.paths.walk.runs
        branches = [b for b, *_ in settings.branches if self.paths.runs(b.then) + self.paths.runs(b.otherwise) > 0]
        loops = [loop for loop, _, parent in settings.loops if self.paths.runs(parent) > 0]
        by_branch = {id(branch): facts for branch, facts in zip(branches, self.branches, strict=True)}
        by_loop = {id(loop): facts for loop, facts in zip(loops, self.loops, strict=True)}
        return warp_slowdown(self.paths.root, runs, by_branch, by_loop)

    @cached_property
    def working_set(self) -> WorkingSet:
        """What a typical group touches, as a whole and in one iteration of each loop."""
        own = [(r, c) for r, c in self.read if c.space in GLOBAL_SPACES and not r.access.is_image and c.count > 0]
        return working_set(own, self.paths)

    @cached_property
    def busy_share(self) -> float:
        """The share of the work-items that are within all bounds: a launch is often made larger than what it is for.

        Borders that are left out on both sides belong to it: groups there have nearly as much to do as all others.
        """
        shape, share = self.paths.shape, 1.0
        visits = [visit for own in self.paths.walk.visited.values() for visit in own]
        for d, atom in enumerate(GLOBAL_ID):
            spans = [ranges.get(atom) for _, _, ranges in visits]
            known = [span for span in spans if span is not None]
            size = shape.local[d] * shape.groups[d]
            if known and len(known) == len(spans) and size:
                low, high = min(low for low, _ in known), max(high for _, high in known)
                border = low % shape.local[d]
                share *= min(1.0, (high - low + 2 * border) / size)
        return share or 1.0

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
        return branch_facts(self.paths)

    @cached_property
    def loops(self) -> tuple[LoopFacts, ...]:
        return loop_facts(self.paths)

    @cached_property
    def barriers(self) -> tuple[BarrierFacts, ...]:
        return barrier_facts(self.paths)

    @cached_property
    def divergence(self) -> float:
        """The share of warps whose lanes part, over all branches by how many work-items come there (0..1)."""
        come = sum(b.come for b in self.branches)
        return sum(b.come * b.warps_diverging for b in self.branches) / come if come else 0.0

    @cached_property
    def group_imbalance(self) -> float | None:
        """The greatest over the mean work of a group, in the loop where they differ most; None without such loops.

        Where the data decide it is that of all their work, as it was seen.
        """
        known = [loop.group_imbalance for loop in self.loops if loop.group_imbalance is not None]
        seen = self.paths.walk.seen
        if seen is not None and len(known) < len(self.loops):
            known.append(seen.sample.group_imbalance)
        return max(known, default=None)

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

    def moved(self, line: Callable[[int], int]) -> Facts:
        """With the lines of branches, loops and barriers where they are now."""
        return _MovedFacts(self, line)

    @property
    def registers(self) -> int:
        """Estimate of the 32-bit registers that a work-item needs at once (see `registers`)."""
        return self.pressure.registers

    @property
    def live_across_barriers(self) -> int | None:
        """Estimate of the 32-bit registers that hold a value over a barrier; None without barriers."""
        return self.pressure.over_barriers


class _MovedFacts(Facts):
    """The same where lines have moved. Accesses stay as they are: theirs are in `WorkCounts.accesses`."""

    def __init__(self, origin: Facts, line: Callable[[int], int]) -> None:
        super().__init__(origin.paths, origin.read, origin.pressure)
        self._origin, self._line = origin, line

    @cached_property
    def accesses(self) -> tuple[AccessFacts, ...]:
        return self._origin.accesses

    @cached_property
    def buffers(self) -> tuple[BufferFacts, ...]:
        return self._origin.buffers

    @cached_property
    def branches(self) -> tuple[BranchFacts, ...]:
        return tuple(replace(b, line=self._line(b.line)) for b in self._origin.branches)

    @cached_property
    def loops(self) -> tuple[LoopFacts, ...]:
        return tuple(replace(loop, line=self._line(loop.line)) for loop in self._origin.loops)

    @cached_property
    def barriers(self) -> tuple[BarrierFacts, ...]:
        return tuple(_moved(barrier, self._line) for barrier in self._origin.barriers)


def _moved(barrier: BarrierFacts, line: Callable[[int], int]) -> BarrierFacts:
    loop, divergent = (None if at is None else line(at) for at in (barrier.loop_line, barrier.divergent_line))
    return replace(barrier, line=line(barrier.line), loop_line=loop, divergent_line=divergent)


def reach_of(access: Access, paths: Paths, limits: dict[str, float]) -> Reach:
    walk = paths.walk
    return Reach(access, walk.visited[id(access)], walk.extents[id(access)], limits.get(access.buffer, math.inf))


def no_facts() -> Facts:
    """Of a launch of nothing."""
    nothing = Block((), (), (), ())
    return Facts(Paths(nothing, Walk(LaunchBindings({}, {}, {})), Shape((1, 1, 1), (1, 1, 1))), (), Pressure(0, None))


__all__ = [
    "GLOBAL_SPACES", "AccessFacts", "BarrierFacts", "BranchFacts", "BufferFacts", "Facts", "Footprint", "LoopFacts",
    "Step", "Transactions", "no_facts", "reach_of",
]  # fmt: skip
