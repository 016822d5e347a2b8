"""What a launch does with one load or store of the source: computed when asked for, and kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from model.opencl.types import AddressSpace
from model.work.counts import AccessCount, Pattern
from model.work.expressions.symbolic import ZERO
from model.work.features.divergence import Paths
from model.work.memory.affine import AffineIndex, LoopName, Obstacle, affine_index, index_text
from model.work.memory.footprint import Footprint, Reach, footprint_of
from model.work.memory.lanes import Warp, warps_of
from model.work.memory.scopes import Scope
from model.work.memory.stride import is_scattered, step_in
from model.work.memory.transactions import Transactions, fetched_in_lines, gathered, mean_conflict_degree, transactions
from model.work.regions.enclosing_scopes import LANES, Setting, accesses_in

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

    def index_in_words(self, line: Callable[[int], int] = int) -> str:
        """In elements, as a user would write it; `iteration(12)` counts those of the loop on line 12 (from 1).

        Empty where there is no affine form. `line` says where a line is now.
        """
        loops = self._setting.loops
        names = {loop.counter: LoopName(f"iteration({line(loop.line) + 1})", ZERO, 1) for loop in loops}
        return index_text(self.index, self.count.element_bytes // self.count.width, names, {})

    @cached_property
    def words(self) -> str:
        """`index_in_words` where no line has moved."""
        return self.index_in_words()

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
    def is_uniform(self) -> bool:
        """Whether all lanes of a warp go to one place, although nothing says which it is."""
        offset, known = self._reach.access.offset, self._paths.known
        if offset is None or self._reach.access.is_image or offset.leaves & LANES:
            return False
        unknown = [a for a in offset.leaves if a.kind == "unknown" and a not in known.parameters]
        return bool(unknown) and all(a in known.uniform for a in unknown) and not offset.has("load")

    @cached_property
    def has_private_index(self) -> bool:
        """Whether its index was loaded from a private array, whose contents are unknown and differ by lane.

        Neighbours' entries are most often next to each other, as their own ids are.
        """
        offset = self._reach.access.offset
        if offset is None or self.count.pattern is not Pattern.BROADCAST or offset.leaves & LANES:
            return False
        loads = (leaf for leaf in offset.leaves if leaf.kind == "load")
        return any(str(load.arguments[0]).endswith(" (private)") for load in loads)

    @cached_property
    def transactions(self) -> Transactions | None:
        """None for local and private memory, images, and where nobody knows the place."""
        return self._transactions(lambda: self.warps)

    @cached_property
    def usual_transactions(self) -> Transactions | None:
        """Return `transactions` counted independently of where rows begin: see `warps_of`."""
        paths = self._paths
        visits = paths.walk.visited[id(self._reach.access)]
        return self._transactions(
            lambda: tuple(
                warps_of(self._reach.access, visits, self._setting, paths.known, paths.shape, rows_on_lines=True)
            )
        )

    def _transactions(self, warps: Callable[[], tuple[Warp, ...]]) -> Transactions | None:
        if self.count.space not in GLOBAL_SPACES or self._reach.access.is_image:
            return None
        offset = self._reach.access.offset
        seen = self._paths.walk.seen
        if seen is not None and (found := seen.accesses.get(id(self._reach.access))) is not None:
            return fetched_in_lines(found.lines_per_subgroup, self.count.element_bytes)
        if offset is not None and self.index.obstacle is Obstacle.DATA and is_scattered(offset, self._paths.known):
            return gathered(self.count.element_bytes)
        return transactions(warps(), self.count.element_bytes)

    @cached_property
    def bank_conflict_degree(self) -> float | None:
        """1 = none, 32 = all lanes in one bank; None for all but local memory, and where nobody knows the place."""
        if self.count.space is not AddressSpace.LOCAL:
            return None
        return mean_conflict_degree(self.warps, self.count.element_bytes)

    @cached_property
    def is_accumulated_in_memory(self) -> bool:
        """Whether a loop adds to it over and over in one place (`y[i] += ...`), and stores each sum.

        Compilers load the first value before the loop, but must store every one where another buffer may alias.
        """
        access, loops = self._reach.access, self._setting.loops
        if not access.is_store or access.is_atomic or access.offset is None or not loops:
            return False
        if loops[-1].counter in access.offset.leaves:
            return False
        around = next(block for loop, _, block in self._paths.settings.loops if loop is loops[-1])
        return any(
            not other.is_store and other.buffer == access.buffer and other.offset == access.offset
            for other in accesses_in(around)
        )

    @property
    def reach(self) -> Reach:
        return self._reach
