"""A kernel's blocks in a row, with everything about them that no launch changes: what each count would ask anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from model.opencl.types import AddressSpace
from model.work.counts import OpKind
from model.work.expressions.symbolic import GLOBAL_ID, LOCAL_ID, Atom
from model.work.regions.loop_bounds import bounding_sides
from model.work.regions.region import Access, Block, Branch, Loop

UNROLLED_TRIPS = 64  # longer loops of constant length stay loops

OpKey = tuple[OpKind, str, int, str]  # kind, element, width, function
Ops = tuple[tuple[int, float], ...]  # the number of a key, and how often a block executes such operations

_LANE_IDS = frozenset((*GLOBAL_ID, *LOCAL_ID))
_DEAR = frozenset({OpKind.DIVIDE, OpKind.SQRT, OpKind.INT_DIVIDE, OpKind.SPECIAL, OpKind.NATIVE})
HARMLESS = frozenset({OpKind.INTEGER, OpKind.INT_MUL})  # may run where the source would not have run them


class SharedOp(NamedTuple):
    """Calls, divisions and integer arithmetic that give the same in the first `dimensions` of a group.

    They go by the number of their key. Of less than 0, they do in as many, but rest on sizes that are loaded.

    `is_guarded`: they are under a branch on which neighbours may differ, and must not run without it; or they are in an
    unrolled loop.
    """

    key: int
    times: float
    dimensions: int
    is_guarded: bool
    is_unrolled: bool


class Form(StrEnum):
    """How a compiler sees the index of an access, wherever it leads."""

    PLAIN = "plain"  # sums of ids, counters and constants
    OFFSET = "offset"  # with a scalar argument in it: `x[row * width + i]`
    OPAQUE = "opaque"  # with a function of ids that hides which addresses are neighbours: `x[clamp(i - 1, 0, n)]`


class Seen(NamedTuple):
    """What a compiler sees of an access: bit d of `varying` where only a launch tells the distance in dimension d."""

    form: Form
    image: str  # as in `vectorization_contexts.Placed`
    varying: int


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One block: the body of `loop`, or one side of `branch` (`is_then`: the first), in the block numbered `parent`.

    `accesses` are those that go to memory. `ops` leaves out what stands on lines of loops that were followed iteration
    by iteration: that is in `unrolled`. `shared` is what neighbours share of both, out of loops.
    `waits`: work-items go through the loop one by one. `parts_ways`: neighbours may differ in whether they enter.
    `is_bound`: some runtimes start none of those that do not: see `loop_bounds`.
    """

    block: Block
    parent: int
    loop: Loop | None
    branch: Branch | None
    is_then: bool
    accesses: tuple[Access, ...]
    ops: Ops
    unrolled: Ops
    shared: tuple[SharedOp, ...]
    unrolled_lines: frozenset[int]
    has_barrier: bool
    waits: bool
    parts_ways: bool
    is_bound: bool


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """`parts` in the order of the source, outer ones first; `keys` are the operations that occur."""

    parts: tuple[Part, ...]
    keys: tuple[OpKey, ...]
    forms: dict[int, Seen] = field(default_factory=dict)  # of accesses, kept by `contexts_of`


def outline_of(root: Block, unrolled: frozenset[int], bounding: frozenset[Atom]) -> Outline:
    """Put the blocks in `root` in a row.

    `unrolled` are the lines of loops that were followed iteration by iteration. Comparisons of the ids in `bounding`
    may become bounds of a runtime's loops.
    """
    parts: list[Part] = []
    keys: dict[OpKey, int] = {}
    barriers: dict[int, bool] = {}
    bounds = {id(side) for side in bounding_sides(root, bounding)}
    _mark_barriers(root, barriers)
    stack: list[tuple[_Inner, int, bool, bool | None]] = [(_Inner(root), -1, False, False)]
    while stack:
        (block, loop, branch, is_then), parent, over_barrier, is_guarded = stack.pop()
        has_barrier = barriers[id(block)]
        waits = loop is not None and not has_barrier and _waits(loop, over_barrier=over_barrier)
        own = len(parts)
        parts_ways = branch is not None and differs(branch)
        # None: in a loop.
        is_guarded = None if loop is not None or is_guarded is None else is_guarded or parts_ways
        parts.append(
            Part(
                block, parent, loop, branch, is_then, tuple(a for a in block.accesses if not is_register(a)),
                _merged(block, keys, unrolled, inside=False), _merged(block, keys, unrolled, inside=True),
                () if is_guarded is None else tuple(_shared(block, keys, unrolled, is_guarded=is_guarded)),
                unrolled, has_barrier, waits, parts_ways, id(block) in bounds,
            )
        )  # fmt: skip
        over = over_barrier or (loop is not None and has_barrier)
        stack.extend(reversed([(inner, own, over, is_guarded) for inner in _within(block)]))
    return Outline(tuple(parts), tuple(keys))


class _Inner(NamedTuple):
    block: Block
    loop: Loop | None = None
    branch: Branch | None = None
    is_then: bool = False


def _within(block: Block) -> Iterator[_Inner]:
    for inner in block.inner:
        if isinstance(inner, Loop):
            yield _Inner(inner.body, loop=inner)
        else:
            yield _Inner(inner.then, branch=inner, is_then=True)
            yield _Inner(inner.otherwise, branch=inner)


def _merged(block: Block, keys: dict[OpKey, int], unrolled: frozenset[int], *, inside: bool) -> Ops:
    merged: dict[int, float] = {}
    for line, kind, element, count, width, function, _ in block.ops:
        if count and (line in unrolled) is inside:
            key = keys.setdefault((kind, element, width, function), len(keys))
            merged[key] = merged.get(key, 0.0) + count
    return tuple(merged.items())


def _shared(
    block: Block, keys: Mapping[OpKey, int], unrolled: frozenset[int], *, is_guarded: bool
) -> Iterator[SharedOp]:
    for line, kind, element, count, width, function, shared in block.ops:
        is_harmless = kind in HARMLESS and not function
        if count and (shared > 0 if is_harmless else shared and (function or kind in _DEAR)):
            is_unrolled = line in unrolled
            stays = is_unrolled or (is_guarded and not is_harmless)
            yield SharedOp(keys[kind, element, width, function], count, shared, stays, is_unrolled)


def _mark_barriers(block: Block, found: dict[int, bool]) -> bool:
    """Return whether a barrier stands anywhere within, by identity of the block."""
    inside = [_mark_barriers(inner.block, found) for inner in _within(block)]
    has_any = found[id(block)] = bool(block.barriers) or any(inside)
    return has_any


def _waits(loop: Loop, *, over_barrier: bool) -> bool:
    """Return whether work-items go through this loop one by one.

    They do where its iterations wait for each other, or the data decide how many there are. Short loops of fixed length
    are unrolled, unless what they sum up lives across barriers and so in memory.
    """
    if loop.trips.constant is not None and loop.trips.constant <= UNROLLED_TRIPS and not over_barrier:
        return False
    return loop.chain > 0 or loop.trips.has("load", "unknown")


def is_register(access: Access) -> bool:
    """Private arrays indexed by constants live in registers."""
    return access.space is AddressSpace.PRIVATE and access.offset is not None and access.offset.constant is not None


def differs(branch: Branch) -> bool:
    """Return whether neighbouring work-items may take different sides."""
    if is_common(branch):
        return False
    return branch.share is not None or not _LANE_IDS.isdisjoint(branch.condition.leaves)


def is_common(branch: Branch) -> bool:
    """Return whether data decide that are the same for all work-items of a group, as a program that each interprets.

    So neighbours stay together, and a processor that goes through one work-item after another has seen it all before.
    """
    condition = branch.condition
    if not condition.has("load") or condition.has("unknown") or not _LANE_IDS.isdisjoint(condition.leaves):
        return False
    return not any(leaf.kind == "load" and str(leaf.arguments[0]).endswith(" (private)") for leaf in condition.leaves)
