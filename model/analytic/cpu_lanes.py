"""Which work-items a CPU's runtime puts side by side in a vector: those of the dimension that suits the accesses.

Intel's runtime chooses the dimension when it compiles; others take the first. Seen with its version 2026.22: a product
of matrices whose neighbours in a row differ in the second id is as fast as with the first, and where groups have few
work-items along that dimension as slow as where they have few along the first one; the same for the third. Where it
chooses the local size, it does so along that dimension alone: images of 3 channels that come last run in groups of 3
work-items, 20 times as long as in groups of 64, and as long with a single channel, which it does not know to be one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from model.device import Device
from model.launch.driver_choice import chosen_local_size
from model.work.counts import AccessCount, Pattern
from model.work.execution.narrow_ids import WORD_BYTES
from model.work.features.vectorization_contexts import ContextCount, Placed
from model.work.work_counts import WorkCounts

_ROWS, _PLANES = 1, 2


class Lanes(NamedTuple):
    """A launch as the runtime runs it: `pattern` and first sizes are of work-items that come next to each other.

    `width` of them are side by side at most; `groups` are started.
    """

    contexts: tuple[ContextCount, ...]
    accesses: tuple[AccessCount, ...]
    local_size: tuple[int, ...]
    global_size: tuple[int, ...]
    width: int
    groups: int


def lanes_of(work: WorkCounts, device: Device) -> Lanes:
    """Return how the runtime of a CPU runs a launch."""
    local, dimension, groups = work.local_size or (1,), 0, work.work_groups
    if device.is_intels_cpu:
        dimension = _suitable_dimension(work.contexts)
        if dimension and work.is_local_size_chosen:
            local = chosen_local_size(work.global_size, device, dimension)
            groups = math.prod(math.ceil(g / s) for g, s in zip(work.global_size, local, strict=True))
    width = local[dimension] if dimension < len(local) else 1
    if width == 1:  # the next one differs in another id, and vectors hold one work-item
        dimension = next((d for d, size in enumerate(local) if size > 1), dimension)
    if not dimension:
        return Lanes(work.contexts, work.accesses, local, work.global_size, width, groups)
    contexts = tuple(_turned(part, dimension) for part in work.contexts)
    accesses = tuple(_turned_access(access, dimension) for access in work.accesses)
    return Lanes(contexts, accesses, _swapped(local, dimension), _swapped(work.global_size, dimension), width, groups)


def _suitable_dimension(contexts: Iterable[ContextCount]) -> int:
    """Return the dimension along which most accesses are next to each other, the first of several."""
    along = [0.0, 0.0, 0.0]
    for part in contexts:
        for placed in part.accesses:
            access = placed.access
            if placed.image or placed.is_call or (access.rows is None and access.planes is None):
                continue
            is_narrow = access.element_bytes < WORD_BYTES  # the compiler picks their dimension whether hidden or not
            along[0] += access.count * (access.pattern is Pattern.UNIT and not placed.varying & 1)
            for dimension, pattern in ((_ROWS, access.rows), (_PLANES, access.planes)):
                hidden = placed.varying if is_narrow else placed.varying | placed.hidden
                along[dimension] += access.count * (_is_unit(pattern) and not hidden >> dimension & 1)
    return along.index(max(along))


def _is_unit(pattern: tuple[Pattern, int] | None) -> bool:
    return pattern is not None and pattern[0] is Pattern.UNIT


def _turned(part: ContextCount, dimension: int) -> ContextCount:
    def turned(accesses: Iterable[Placed]) -> tuple[Placed, ...]:
        return tuple(_turned_round(placed, dimension) for placed in accesses)

    off, *unbound = (replace(each, accesses=turned(each.accesses)) for each in (part.off, *part.unbound))
    return replace(part, accesses=turned(part.accesses), off=off, unbound=tuple(unbound))


def _turned_round(placed: Placed, dimension: int) -> Placed:
    return placed._replace(
        access=_turned_access(placed.access, dimension),
        hidden=_bits_swapped(placed.hidden, dimension),
        varying=_bits_swapped(placed.varying, dimension),
    )


def _bits_swapped(bits: int, dimension: int) -> int:
    differ = (bits ^ bits >> dimension) & 1
    return bits ^ (differ | differ << dimension)


def _turned_access(access: AccessCount, dimension: int) -> AccessCount:
    """Return an access as neighbours in another dimension see it."""
    other = access.rows if dimension == _ROWS else access.planes
    if other is None:
        return access
    pattern, stride_bytes = other
    along_first = access.pattern, access.stride_bytes
    if dimension == _ROWS:
        return replace(access, pattern=pattern, stride_bytes=stride_bytes, rows=along_first)
    return replace(access, pattern=pattern, stride_bytes=stride_bytes, planes=along_first)


def _swapped(size: Sequence[int], dimension: int) -> tuple[int, ...]:
    """Return a size with the first dimension's in the place of another's, and the other way round."""
    swapped = list(size)
    if dimension < len(swapped):
        swapped[0], swapped[dimension] = swapped[dimension], swapped[0]
    return tuple(swapped)
