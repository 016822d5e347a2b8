"""Lines of memory that a CPU's caches fetch one by one, because no stream foretells them."""

from __future__ import annotations

from model.work.counts import AccessCount, Pattern
from model.work.work_counts import WorkCounts

LINE_BYTES, PAGE_BYTES = 64, 4096
COLUMN_STEP_BYTES, COLUMN_STEPS = 2048, 64  # more lines apart than prefetchers follow and the nearest cache keeps


def lone_lines(access: AccessCount) -> float:
    """Lines that this access brings one by one, with nothing to foresee them."""
    if access.pattern is Pattern.GATHERED:
        return access.count
    step = abs(access.step_bytes or 0)
    if access.pattern is Pattern.STRIDED and access.stride_bytes >= LINE_BYTES and not 0 < step < LINE_BYTES:
        return access.count
    return 0.0


def spread_bytes(access: AccessCount, work: WorkCounts, buffer_bytes: float) -> float:
    """Return how large a dense array would be that caches and translation buffers keep as badly as these few lines.

    Of elements that lie far apart each takes a line and, beyond a page, a translation of its own; a large power of two
    apart they share few sets of a cache. Sources: Hennessy & Patterson, "Computer Architecture", appendix B.
    """
    stride = abs(access.stride_bytes)
    if access.pattern is not Pattern.STRIDED or stride < LINE_BYTES:
        return 0.0
    elements = min(access.count, access.footprint_bytes / max(1, access.element_bytes))
    side = work.global_size[0] if work.global_size else work.work_items
    return float(min(elements * max(min(stride, PAGE_BYTES), stride & -stride), side * stride, buffer_bytes))


def is_column(access: AccessCount, work: WorkCounts) -> bool:
    """Return whether each work-item walks down a column whose lines are gone before its neighbour comes by."""
    steps = access.count / max(1, work.work_items)
    return abs(access.step_bytes or 0) >= COLUMN_STEP_BYTES and steps >= COLUMN_STEPS
