"""Summaries of helper functions: once a kernel has cost enough to read, one call stands for the later ones.

Without that, the work would be proportional to the calls, nested ones multiplied, and not to the source.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from model.work.execution.builder import Builder, Live, PendingLoop
from model.work.execution.flow import LoopFrame
from model.work.execution.values import Value
from model.work.expressions.symbolic import Expression
from model.work.regions.region import Block, Loop

FREE_STEPS = 60_000  # in which every call is read: about a second


@dataclass(slots=True, eq=False)
class Shared(Builder):
    """What one call added to its block, for other blocks to repeat."""

    items: int = 1  # that it comes to, with all that is nested in it
    frozen: Block | None = None

    def freeze(self, live: Live) -> Block:
        if self.frozen is None:
            self.frozen = Builder.freeze(self, live)
        return _again(self.frozen)


def _again(block: Block) -> Block:
    """Return the same work at another place: executions are kept by the identity of block and access."""
    return replace(
        block,
        accesses=tuple(replace(a) for a in block.accesses),
        inner=tuple(
            replace(i, body=_again(i.body))
            if isinstance(i, Loop)
            else replace(i, then=_again(i.then), otherwise=_again(i.otherwise))
            for i in block.inner
        ),
    )


Extent = tuple[int, int, int, int]  # how much there is of each list of a block


def extent(block: Builder) -> Extent:
    return len(block.ops), len(block.accesses), len(block.barriers), len(block.inner)


@dataclass(slots=True, eq=False)
class CallSummary:
    """A call that was read: what it added to `block`, what it gave, and in which loops that holds."""

    frames: tuple[LoopFrame, ...]
    block: Builder | None  # None for one that was tried only, and so added nothing
    start: Extent
    end: Extent
    result: Value
    outputs: tuple[Expression, ...]  # the numbers in the result and in the variables that it was given pointers to
    forgets_shared: bool
    _shared: Shared | None = field(default=None, init=False)

    def holds_in(self, frames: list[LoopFrame]) -> bool:
        """Return whether its work may be repeated: it may rest on the counters of the loops it was read in."""
        return tuple(frames[: len(self.frames)]) == self.frames

    def holds_more_widely(self, other: CallSummary, frames: list[LoopFrame]) -> bool:
        """Return whether this one, just read, is the better one to keep."""
        return other.block is None or len(self.frames) <= len(other.frames) or not other.holds_in(frames)

    def shared(self) -> Shared:
        assert self.block is not None
        if self._shared is None:
            ops, accesses, barriers, inner = zip(self.start, self.end, strict=True)
            self._shared = Shared(
                self.block.level + 1,
                self.block.ops[slice(*ops)],
                self.block.accesses[slice(*accesses)],
                self.block.barriers[slice(*barriers)],
                self.block.inner[slice(*inner)],
            )
            self._shared.items = _items(self._shared)
        return self._shared


def _items(block: Builder) -> int:
    items = 1 + len(block.ops) // 16 + len(block.accesses)
    for inner in block.inner:
        for part in (inner.body,) if isinstance(inner, PendingLoop) else (inner.then, inner.otherwise):
            items += part.items if isinstance(part, Shared) else _items(part)
    return items
