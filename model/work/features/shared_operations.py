"""What CPU runtimes compute once for neighbouring work-items, as its result is the same.

They run a group as loops over its work-items, the innermost over the first dimension, and compilers move out of these
what does not change in them: `cos(angle)` of an argument is computed once for a group, `cos(angle * y)` once for a row.
Loads stay, since a store of another work-item may change what they find. PoCL's loops hold the guards of the source,
and of code that is guarded nothing moves that must not run without; Intel's runtime moves that, too. Within loops of
the source nothing moves. What rests on the number of work-items or of groups, which runtimes load, is computed anew for
each work-item by PoCL, and once for each vector by Intel's runtime. Seen on PoCL 3.0 and Intel's runtime 2026.22, with
calls, divisions and powers that are shared by a group or a row. Integer arithmetic, most of it of indices, moves out of
guarded code as well: nothing goes wrong where it runs unasked. On PoCL predictions of the dataset's training rows are
truer so, and on Intel's runtime truer where it is counted for each work-item. Additions and products of floats stay:
they cost next to nothing beside other work, and what was moved must be kept. Source: LLVM's loop-invariant code motion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import NamedTuple

from model.device import Device
from model.work.counts import OpCount, OpKind
from model.work.features.vectorization_contexts import ContextCount
from model.work.regions.flat_blocks import HARMLESS
from model.work.work_counts import WorkCounts

_ROUNDING = 1e-9  # of a difference of counts that should be 0


class Executed(NamedTuple):
    """Operations as often as they are executed: `each` by all work-items, `moved` by some of them for the others."""

    each: tuple[OpCount, ...]
    moved: tuple[OpCount, ...] = ()

    @property
    def all(self) -> tuple[OpCount, ...]:
        return self.each + self.moved


def executed(part: ContextCount, local_size: Sequence[int], device: Device) -> Executed:
    """Return what a CPU's runtime executes in one surrounding."""
    if not part.shared:
        return Executed(part.ops)
    left = {_key(op): op.count for op in part.ops}
    moved = []
    for op, sharing in _moving(part, local_size, device):
        left[_key(op)] -= op.count
        moved.append(replace(op, count=op.count / sharing))
    each = (replace(op, count=left[_key(op)]) for op in part.ops if left[_key(op)] > _ROUNDING * op.count)
    return Executed(tuple(each), tuple(moved))


def saved_operations(work: WorkCounts, device: Device) -> tuple[OpCount, ...]:
    """Return those of a launch's operations that a CPU's runtime need not execute."""
    if work.breakdown is None or not any(part.shared for part in work.breakdown.outline.parts):
        return ()
    return tuple(
        replace(op, count=op.count * (1 - 1 / sharing))
        for part in work.contexts
        for op, sharing in _moving(part, work.local_size, device)
    )


def _moving(part: ContextCount, local_size: Sequence[int], device: Device) -> Iterator[tuple[OpCount, int]]:
    """Yield what moves out of the loops over work-items, and how many of these share one execution."""
    is_intels = device.is_intels_cpu
    for op, dimensions, is_guarded in part.shared:
        if is_intels and op.kind in HARMLESS and not op.function:
            continue
        if dimensions < 0:  # not out of the loops, but for a whole vector at once
            sharing = min(device.preferred_multiple, local_size[0]) if is_intels and local_size else 1
        else:
            sharing = prod(local_size[:dimensions])
        if sharing > 1 and (is_intels or not is_guarded):
            yield op, sharing


def _key(op: OpCount) -> tuple[OpKind, str, int, str]:
    return op.kind, op.element, op.width, op.function
