"""Which work-items a CPU's runtime puts side by side in a vector: those of the dimension that suits the accesses.

Intel's runtime chooses the dimension when it compiles; others take the first. Seen with its version 2026.22: a product
of matrices whose neighbours in a row differ in the second id is as fast as with the first, and where groups have few
work-items along that dimension as slow as where they have few along the first one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from model.device import Device
from model.work.counts import AccessCount, Pattern
from model.work.features.vectorization_contexts import ContextCount, Placed
from model.work.work_counts import WorkCounts


class Lanes(NamedTuple):
    """A launch as the runtime runs it: `pattern` and first sizes are of work-items that come next to each other.

    `width` of them are side by side at most.
    """

    contexts: tuple[ContextCount, ...]
    accesses: tuple[AccessCount, ...]
    local_size: tuple[int, ...]
    global_size: tuple[int, ...]
    width: int


def lanes_of(work: WorkCounts, device: Device) -> Lanes:
    """Return how the runtime of a CPU runs a launch."""
    local, is_turned = work.local_size or (1,), False
    if device.is_intels_cpu and _suits_rows(work.contexts):
        is_turned = True
        if work.is_local_size_chosen:  # groups are as long as along the first dimension, along the one that suits
            local = _swapped(local)
    width = local[1] if is_turned else local[0]
    if width == 1 and max(local[:2]) > 1:  # the next one differs in the other id, and vectors hold one work-item
        is_turned = not is_turned
    if not is_turned:
        return Lanes(work.contexts, work.accesses, local, work.global_size, width)
    contexts = tuple(_turned(part) for part in work.contexts)
    accesses = tuple(turned(access) for access in work.accesses)
    return Lanes(contexts, accesses, _swapped(local), _swapped(work.global_size), width)


def _suits_rows(contexts: Iterable[ContextCount]) -> bool:
    """Return whether more accesses are next to each other along the second dimension than along the first."""
    first = second = 0.0
    for part in contexts:
        for placed in part.accesses:
            if placed.access.rows is not None and not placed.image and not placed.is_call:
                first += placed.access.count * (placed.access.pattern is Pattern.UNIT)
                is_seen = placed.access.rows[0] is Pattern.UNIT and not placed.has_hidden_rows
                second += placed.access.count * is_seen
    return second > first


def _turned(part: ContextCount) -> ContextCount:
    return replace(
        part,
        accesses=tuple(_turned_round(placed) for placed in part.accesses),
        off_accesses=tuple(_turned_round(placed) for placed in part.off_accesses),
    )


def _turned_round(placed: Placed) -> Placed:
    return placed._replace(
        access=turned(placed.access), is_hidden=placed.has_hidden_rows, has_hidden_rows=placed.is_hidden
    )


def turned(access: AccessCount) -> AccessCount:
    """Return an access as neighbours in the second dimension see it."""
    if access.rows is None:
        return access
    pattern, stride_bytes = access.rows
    return replace(access, pattern=pattern, stride_bytes=stride_bytes, rows=(access.pattern, access.stride_bytes))


def _swapped(size: Sequence[int]) -> tuple[int, ...]:
    return (size[1], size[0], *size[2:]) if len(size) > 1 else tuple(size)
