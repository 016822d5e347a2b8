"""Which kernels of a long document come first, in predictions and in running work-items: those that are looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from model.forecast import KernelChoice
from model.opencl.kernel import Kernel
from server.snapshot import Analysis, Unsampled

Window = tuple[int, int]  # first and last line, from 0
MOST_AT_ONCE = 16  # kernels of a document that is predicted whole: it takes no longer than a person notices
MOST_FIRST = 6  # some editors ask for the whole document, whatever of it they show


def visible_first(window: Callable[[], Window | None]) -> KernelChoice:
    """Return what chooses the kernels in `window`, the lines that are shown; all of them where there are few."""

    def choose(kernels: Sequence[Kernel]) -> Sequence[Kernel]:
        if len(kernels) <= MOST_AT_ONCE:
            return kernels
        top, bottom = window() or (0, 0)
        below = [kernel for kernel in kernels if kernel.range.end_line >= top]
        shown = [kernel for kernel in below if kernel.range.start_line <= bottom]
        return (shown or below[:1] or kernels[-1:])[:MOST_FIRST]

    return choose


def unsampled_in_order(analysis: Analysis, window: Callable[[], Window | None]) -> list[Unsampled]:
    """Return the launches of which work-items are to be run; in a long document those in `window` come first."""
    unsampled = [*analysis.unsampled.values(), *analysis.unsampled_runs]
    if not unsampled:
        return unsampled
    first = {kernel.name for kernel in visible_first(window)(analysis.forecast.kernels)}
    return sorted(unsampled, key=lambda each: each.kernel not in first)
