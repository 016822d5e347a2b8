"""What versions measured in turns say: which are out, whether enough is known, how their times and outputs compare.

Pure decisions over what was seen, as `profiler.batches` is for one launch alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from random import Random
from statistics import median

from profiler.batches import Batch, is_enough, judge, median_of, sampling_interval
from profiler.statistics import CONFIDENCE, quantile

FAR_SLOWER = 2.0  # times the best's slowest run: one turn is enough to tell
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Stopping:
    """When a version's turns end early: as soon as its interval lies above that of the fastest, after `least_turns`.

    Versions in `always` (by number) are measured to the end all the same, so that a gain over them is well known.
    """

    drops_slower: bool = True
    always: frozenset[int] = frozenset({0})
    least_turns: int = 3


@dataclass(frozen=True, slots=True)
class Ratio:
    """The time of one version over another's, and the 95 % interval of that."""

    ratio: float
    low: float
    high: float

    @property
    def is_faster(self) -> bool:
        """Return whether it takes less time beyond the noise."""
        return self.high < 1

    @property
    def is_slower(self) -> bool:
        return self.low > 1


def slower(batches: Mapping[int, Sequence[Batch]], stopping: Stopping) -> set[int]:
    """Return the versions that need no more turns. `batches` are of those that still take turns."""
    timed = {number: own for number, own in batches.items() if own}
    if not stopping.drops_slower or len(timed) < 2:
        return set()
    best = min(timed, key=lambda number: median_of(timed[number]))
    slowest_us = max(run for batch in timed[best] for run in batch.runs_us)
    _, high_us = sampling_interval(timed[best])
    out = set()
    for number in timed.keys() - stopping.always - {best}:
        own = timed[number]
        is_far = min(run for batch in own for run in batch.runs_us) > FAR_SLOWER * slowest_us
        is_above = len(own) >= stopping.least_turns <= len(timed[best]) and sampling_interval(own)[0] > high_us
        if is_far or is_above:
            out.add(number)
    return out


def is_all_known(batches: Mapping[int, Sequence[Batch]]) -> bool:
    """Return whether more turns would hardly change a median."""
    judged = [judge(own) for own in batches.values()]
    return all(not one.is_busy and is_enough(one.batches) for one in judged)


def ratio_of(turns_us: Sequence[float], base_us: Sequence[float]) -> Ratio | None:
    """Return the median of the ratios turn by turn, with a bootstrap interval; None without a common turn.

    What slows the machine down for a turn slows both, and leaves their ratio alone. Turns are drawn anew with
    replacement (percentile method; Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13), from
    the same seed for the same turns. Up to five turns hardly tell how ratios spread: then the interval is all of them.
    """
    logs = [log(one / base) for one, base in zip(turns_us, base_us, strict=False) if one > 0 and base > 0]
    if not logs:
        return None
    if len(logs) < 6:
        return Ratio(exp(median(logs)), exp(min(logs)), exp(max(logs)))
    draw = Random(len(logs))
    medians = [median(draw.choices(logs, k=len(logs))) for _ in range(RESAMPLES)]
    low, high = quantile(medians, (1 - CONFIDENCE) / 2), quantile(medians, (1 + CONFIDENCE) / 2)
    return Ratio(exp(median(logs)), exp(low), exp(high))


@dataclass(frozen=True, slots=True)
class Difference:
    """What a version's outputs have other than the first version's.

    `max_ulps` is the greatest distance of two floating-point numbers in units in the last place, `max_relative` that
    relative to the first version's number, or to the root mean square of its buffer where the number is smaller. Both
    are 0 where nothing differs, and None where integers or bytes differ, or only one of two numbers is a NaN: no
    tolerance covers that.
    """

    compared: tuple[str, ...] = ()  # names of the outputs, as the first version has them
    not_compared: tuple[str, ...] = ()  # outputs that one of both lacks, or that have another length
    differing: tuple[str, ...] = ()
    max_ulps: int | None = 0
    max_relative: float | None = 0.0
    example: str = ""  # "`C[12]` is 3.5 instead of 3.25"

    @property
    def equal(self) -> bool | None:
        """Return whether all outputs have the same values; None where some were not compared."""
        if self.differing:
            return False
        return None if self.not_compared or not self.compared else True

    def within(self, ulps: int = 0, relative: float = 0.0) -> bool:
        """Return whether all outputs were compared and differ by no more than either tolerance."""
        if self.not_compared or not self.compared or self.max_ulps is None or self.max_relative is None:
            return False
        return self.max_ulps <= ulps or self.max_relative <= relative
