"""What running some of the work-items tells of a launch, loop by loop, branch by branch and access by access.

Plain data, by their place in the kernel's blocks, so that one process may find it and another use it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from model.work.memory.growth import Growth
from model.work.regions.region import Access, Block, Branch, Loop

Inner = Loop | Branch | Access


@dataclass(frozen=True, slots=True)
class LoopSample:
    """`begun` times the loop was begun, in the sample; `trips` iterations each time, on average.

    `efficiency` is the mean over the greatest number of iterations within a sub-group.
    """

    begun: float
    trips: float
    efficiency: float


@dataclass(frozen=True, slots=True)
class BranchSample:
    """`share` of those who come there enter `then`, and `undecided_share` of those for whom the launch does not decide.

    `fullness`: of the lanes of the sub-groups that enter, how many do; None where that was not counted. `is_ordered`:
    all that were run did the same, and the last work-group is taken to do the other: atomic operations decide.
    """

    begun: float
    share: float
    undecided_share: float
    fullness: float | None = None
    is_ordered: bool = False


@dataclass(frozen=True, slots=True)
class AccessSample:
    """`lines_per_subgroup` of 64 bytes on average; `places` and `lines` grow as in `AccessCounts`."""

    lines_per_subgroup: float
    places: Growth | None
    lines: Growth | None


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """`items` work-items were run. Loops, branches and accesses by their number in `numbered`.

    `asked` are those at which something would have been assumed. `rests_on` are the buffers whose contents no fill
    described and that decided something, `scalars` the by-value arguments that did. `open_ended`: the sample ended in a
    loop that no work-item had left and that nothing bounds closely. `stopped` says why nothing is known, None where it
    is.
    """

    items: int
    loops: Mapping[int, LoopSample] = field(default_factory=dict)
    branches: Mapping[int, BranchSample] = field(default_factory=dict)
    accesses: Mapping[int, AccessSample] = field(default_factory=dict)
    asked: frozenset[int] = frozenset()
    group_imbalance: float = 1.0
    is_complete: bool = True
    rests_on: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    stopped: str | None = None
    scalars: tuple[str, ...] = ()
    open_ended: bool = False


def numbered(root: Block) -> Iterator[tuple[int, Inner]]:
    """Yield all loops, branches and accesses, outer ones first, in an order that the blocks alone decide."""
    number = 0
    stack = [root]
    while stack:
        block = stack.pop()
        for access in block.accesses:
            yield number, access
            number += 1
        for inner in block.inner:
            yield number, inner
            number += 1
            stack += (inner.body,) if isinstance(inner, Loop) else (inner.then, inner.otherwise)


def key_of(inner: Inner) -> int:
    """Return what a walk knows it by: a loop by its body, which it shares with what is made of it for one walk."""
    return id(inner.body) if isinstance(inner, Loop) else id(inner)


@dataclass(frozen=True, slots=True)
class Seen:
    """A sample by what a walk knows things by."""

    sample: Sample
    loops: Mapping[int, LoopSample]
    branches: Mapping[int, BranchSample]
    accesses: Mapping[int, AccessSample]
    asked: frozenset[int]


def seen_in(root: Block, sample: Sample) -> Seen:
    loops: dict[int, LoopSample] = {}
    branches: dict[int, BranchSample] = {}
    accesses: dict[int, AccessSample] = {}
    asked: set[int] = set()
    for number, inner in numbered(root):
        key = key_of(inner)
        if number in sample.asked:
            asked.add(key)
        if number in sample.loops:
            loops[key] = sample.loops[number]
        elif number in sample.branches:
            branches[key] = sample.branches[number]
        elif number in sample.accesses:
            accesses[key] = sample.accesses[number]
    return Seen(sample, loops, branches, accesses, frozenset(asked))
