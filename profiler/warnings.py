"""What a user should know about a measurement beyond its figures, in whole sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from profiler.measurement import Measurement

MANY_OUTLIERS = 0.05  # share of the runs
FEWEST_OUTLIERS = 2  # one run tells nothing
LONG = 1.2  # the longest run over the median; nearer ones are no news
LOUD = 10.0  # percent of the machine that others used
CLOCKS_AGREE = 1.05  # the event's time over the wall clock's, at most


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What was seen while measuring and is not a figure of the result."""

    is_busy: bool = False  # too few batches were undisturbed, so that the least disturbed count
    is_restored: bool = True  # buffers that the kernel changes were put back before each run
    changed: tuple[str, ...] = ()  # the names of these buffers and images
    has_exact_repeats: bool = False  # so many runs as were asked for, whatever they show
    longest_us: float = 0.0


def remarks(measured: Measurement, seen: Circumstances) -> tuple[str, ...]:
    """Return the most important first."""
    return tuple(_remarks(measured, seen))


def _remarks(measured: Measurement, seen: Circumstances) -> Iterator[str]:
    if seen.is_busy:
        used = measured.other_load_percent
        others = f"others used {used:.0f} % of its processors" if used is not None else "others used it"
        counted = "all runs count" if seen.has_exact_repeats else "the least disturbed batches count"
        yield f"the machine was busy ({others}), so {counted}; measure again when it is quiet"
    elif (measured.other_load_percent or 0.0) > LOUD:
        count = measured.disturbed_batches
        batches = "1 disturbed batch was" if count == 1 else f"{count} disturbed batches were"
        repeated = f"; {batches} repeated" if count else ""
        yield f"others used {measured.other_load_percent:.0f} % of the machine's processors meanwhile{repeated}"
    if not seen.is_restored:
        names = ", ".join(f"`{name}`" for name in seen.changed)
        yield f"{names} could not be put back between runs: each run but the first starts from what the last one left"
    if measured.drift_percent:
        direction = "upwards" if measured.drift_percent > 0 else "downwards"
        yield (
            f"times drift {direction}, by {abs(measured.drift_percent):.0f} % over the measurement: "
            "the device changes its clock, or something else on it begins or ends"
        )
    are_many = measured.outliers >= max(FEWEST_OUTLIERS, MANY_OUTLIERS * measured.repeats)
    if are_many and seen.longest_us >= LONG * measured.median_us:
        yield (
            f"{measured.outliers} of {measured.repeats} runs lie far off the others, "
            f"the longest took {seen.longest_us / measured.median_us:.1f} times the median"
        )
    if measured.wall_us is not None and measured.median_us > CLOCKS_AGREE * measured.wall_us:
        yield (
            f"the driver's clock says {measured.median_us:.4g} us where {measured.wall_us:.4g} us passed: "
            "its profiling times cannot be trusted"
        )
    if not measured.settled and not seen.is_busy and not seen.has_exact_repeats:
        yield "the budget was spent before the median was known to 3 %; a larger one gives a narrower interval"
