"""The shape of a kernel's work: blocks that run equally often, loops with symbolic trip counts, branches.

Frozen results of the analysis; `builder` makes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from model.opencl.types import AddressSpace
from model.work.counts import OpKind
from model.work.expressions.loop_simulation import runs_in
from model.work.expressions.symbolic import Atom, Expression
from model.work.regions.launch_arithmetic import Arithmetic

DEFAULT_DATA_TRIPS = 16  # of a loop about which nothing is known


@dataclass(frozen=True, slots=True)
class Access:
    """One load or store in the source. `offset` is in bytes from the buffer's start; None when unknowable.

    `waits_share`: of its executions in a loop, those that wait for what the iteration before has loaded, one by one;
    `waits_ops` operations lie between.
    """

    buffer: str
    space: AddressSpace
    is_store: bool
    is_atomic: bool
    line: int
    element_bytes: int
    offset: Expression | None
    is_image: bool = False
    is_between_texels: bool = False  # an image read at float coordinates, which a sampler may interpolate
    width: int = 1  # components of a vector
    is_call: bool = False  # by `vload` or `vstore`, which some runtimes do not inline
    hidden: int = 0  # bit d: compilers may not see that offsets are consecutive in dimension d: see `narrow_ids`
    waits_share: float = 0.0
    waits_ops: int = 0
    site: Site | None = field(default=None, compare=False)  # None for what stands nowhere in the source


class Op(NamedTuple):
    """Operations per execution of a block, counted as in `counts.OpCount`.

    Their results are the same for all work-items that differ in the first `shared` dimensions only: 3 for all of a
    group. Where they rest on sizes that runtimes load, `shared` is less than 0: -3 for all of a group.
    """

    line: int
    kind: OpKind
    element: str
    times: float
    width: int = 1
    function: str = ""
    shared: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """Straight-line code: costs by source line, and the loops and branches inside.

    `fused` integer operations on 32 bits (those on 64 count twice) need no instruction of their own on a GPU: see
    `fused_integers`. `chain` is the longest run of operations, outside loops, that what it stores waits for, in
    additions of floats as in a loop; 0 where it is short.
    """

    ops: tuple[Op, ...]
    accesses: tuple[Access, ...]
    barriers: tuple[int, ...]  # the line of each
    inner: tuple[Loop | Branch, ...]
    fused: float = 0.0
    arithmetic: tuple[Arithmetic, ...] = ()  # that the launch alone decides
    chain: float = 0.0


@dataclass(frozen=True, slots=True)
class Leaves:
    """When a loop over data ends, over the loop's counter.

    Before an iteration where `before` holds, within one where `within` holds, and at the latest after `limit`.
    """

    before: Expression
    within: Expression
    limit: Expression | None

    @property
    def ends_in_header(self) -> bool:
        """Whether nothing but its condition ends it, after what that has loaded."""
        return self.within.constant == 0 and self.before.has("load")


@dataclass(frozen=True, slots=True)
class Loop:
    """`body` runs for `counter` = 0 .. trips-1.

    `chain` is the longest run of operations that each iteration must wait for the one before to finish, in additions
    of floats: 1 for `s += a * b`, 0 where iterations are independent of each other; calls and integer operations count
    as what they take. `accumulators` counts runs of floats that do not wait for one another.
    Where the data decide when it is left, `trips` holds a default and `leaves` the conditions.
    """

    trips: Expression
    counter: Atom
    body: Block
    line: int
    chain: float = 0
    accumulators: int = 0
    leaves: Leaves | None = None
    site: Site | None = field(default=None, compare=False)


class Event(StrEnum):
    """What those do at a branch's site who then run `then`."""

    TAKEN = "taken"  # they enter the first side, this case, or evaluate the right operand
    COMPLETED = "completed"  # they go on after it, and have not left from inside it
    ENTERED = "entered"  # they begin an iteration at all


@dataclass(frozen=True, slots=True)
class Branch:
    """`then` runs where `condition` is not 0, `otherwise` elsewhere.

    Where the condition depends on data, `share` names the part of work-items that enter `then`.
    """

    condition: Expression
    then: Block
    otherwise: Block
    line: int
    share: Atom | None
    site: Site | None = field(default=None, compare=False)
    event: Event = Event.TAKEN


def decides(block: Block, atom: Atom) -> bool:
    """Return whether `atom` decides how often something in `block` runs."""
    for inner in block.inner:
        leaves = inner.trips.leaves if isinstance(inner, Loop) else inner.condition.leaves
        parts = (inner.body,) if isinstance(inner, Loop) else (inner.then, inner.otherwise)
        if atom in leaves or any(decides(part, atom) for part in parts):
            return True
    return False


@dataclass(frozen=True, slots=True)
class Site:
    """A node of the source, reached through a chain of calls, outermost first.

    Bytes are those of the node in the tree of the function that it stands in (`Function.body`'s tree); so sites are
    only comparable within one reading of one program. `calls` holds, for each call on the way from the kernel, the
    caller's name and the byte at which the call expression starts in the caller's tree.
    """

    calls: tuple[tuple[str, int], ...]
    function: str
    start_byte: int
    end_byte: int


def estimated_in(block: Block, runs: Mapping[int, float], estimated: Set[Atom]) -> Iterator[Loop | Branch]:
    """Yield what is executed as often, or by those, as loops say that were run for some of the work-items only."""
    for inner in block.inner:
        parts = (inner.body,) if isinstance(inner, Loop) else (inner.then, inner.otherwise)
        if any(runs.get(id(part)) for part in parts):
            if not estimated.isdisjoint(runs_in(inner.trips if isinstance(inner, Loop) else inner.condition)):
                yield inner
            for part in parts:
                yield from estimated_in(part, runs, estimated)
