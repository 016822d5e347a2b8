"""Two measurements of the same launch, some time apart, and what many such pairs say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

from profiler.measurement import Measurement
from profiler.statistics import quantile

COVERED = 0.90  # share of the pairs whose first interval holds the second median
DIFFERENCE_PERCENT = 3.0  # in the median, when the machine is quiet
QUIET_PERCENT = 5.0  # of the machine's processor time that others used, in the median over all measurements


@dataclass(frozen=True, slots=True)
class Pair:
    first: Measurement
    second: Measurement
    minutes: float  # from the begin of the first to that of the second

    @property
    def difference_percent(self) -> float:
        """Of the second median from the first, without its sign."""
        return abs(self.second.median_us / self.first.median_us - 1) * 100

    @property
    def is_covered(self) -> bool:
        low, high = self.first.ci95_us
        return low <= self.second.median_us <= high

    @property
    def stretch(self) -> float:
        """By what factor the first interval would have to reach further to just hold the second median."""
        low, high = self.first.ci95_us
        first_us, second_us = self.first.median_us, self.second.median_us
        room_us = high - first_us if second_us > first_us else first_us - low
        return abs(second_us - first_us) / room_us if room_us else float(second_us != first_us)

    @property
    def reach_percent(self) -> float:
        """Half the first interval, of its median."""
        low, high = self.first.ci95_us
        return (high - low) / 2 / self.first.median_us * 100


@dataclass(frozen=True, slots=True)
class Figures:
    """Over all pairs. Loads are over all measurements; None where the system does not tell."""

    pairs: int
    median_difference_percent: float
    p90_difference_percent: float
    covered: float
    median_reach_percent: float
    p90_stretch: float  # above 1, intervals are too narrow by this factor; below, they are needlessly wide
    shortest_minutes: float
    median_load_average: float
    highest_load_average: float
    median_other_load_percent: float | None
    highest_other_load_percent: float | None
    disturbed_batches: int
    unsettled: int
    with_notes: int

    @property
    def is_quiet(self) -> bool:
        return self.median_other_load_percent is not None and self.median_other_load_percent < QUIET_PERCENT

    @property
    def meets_the_bar(self) -> bool:
        return self.covered >= COVERED and self.median_difference_percent < DIFFERENCE_PERCENT


def figures(pairs: Sequence[Pair]) -> Figures:
    """Needs at least one pair."""
    measured = [one for pair in pairs for one in (pair.first, pair.second)]
    differences = [pair.difference_percent for pair in pairs]
    loads = [one.other_load_percent for one in measured if one.other_load_percent is not None]
    averages = [one.load_average for one in measured]
    return Figures(
        pairs=len(pairs),
        median_difference_percent=median(differences),
        p90_difference_percent=quantile(differences, 0.9),
        covered=sum(pair.is_covered for pair in pairs) / len(pairs),
        median_reach_percent=median(pair.reach_percent for pair in pairs),
        p90_stretch=quantile([pair.stretch for pair in pairs], COVERED),
        shortest_minutes=min(pair.minutes for pair in pairs),
        median_load_average=median(averages),
        highest_load_average=max(averages),
        median_other_load_percent=median(loads) if loads else None,
        highest_other_load_percent=max(loads) if loads else None,
        disturbed_batches=sum(one.disturbed_batches for one in measured),
        unsettled=sum(not one.settled for one in measured),
        with_notes=sum(bool(one.notes) for one in measured),
    )


def as_json(pairs: Sequence[Pair], failures: dict[str, str]) -> dict[str, object]:
    return {
        "figures": asdict(figures(pairs)) if pairs else None,
        "pairs": [asdict(pair) for pair in pairs],
        "failures": failures,
    }
