"""The best candidates, measured in turns with the launch as it is, and what comes of that."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from profiler.measure import MeasureLimits
from profiler.measurement import MeasureError
from profiler.process.worker import CancelToken, OnProgress
from profiler.side_by_side import Version
from profiler.store import StoredMeasurement
from profiler.turns import Ratio
from server.analysis.sources import stored
from server.device_work.orders import BUDGET_S
from server.tuning.measuring import How, measure_all, measure_in_rounds
from server.tuning.search import Candidate, Search

MOST_MEASURED = 10
TOLERANCE = 1e-5  # relative: sums in another order differ by as much


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate and, where it was measured, what came of it. `ratio` is its time over that of the launch as it is."""

    candidate: Candidate
    version: Version | None = None
    ratio: Ratio | None = None
    equal: bool | None = None  # its outputs are the first's, exactly or within the tolerance; None: not known

    @property
    def measured_us(self) -> float | None:
        return self.version.median_us if self.version is not None else None

    @property
    def error(self) -> MeasureError | None:
        """Why it has no time, if it was to be measured."""
        return self.version.error if self.version is not None else None


@dataclass(frozen=True, slots=True)
class Tuned:
    """The outcome. `tried` begins with what was measured, fastest first; the launch as it is stands among them.

    `best` is the number of the fastest launch whose outputs are right, or where nothing was measured of the fastest as
    predicted; None where none is known to be right.
    """

    search: Search
    tried: tuple[Tried, ...]
    baseline: int
    best: int | None
    was_measured: bool = False
    was_cancelled: bool = False

    @property
    def winner(self) -> Tried | None:
        """Return the best, if it is another launch than the one as it is and faster beyond the noise."""
        if self.best is None or self.best == self.baseline:
            return None
        best = self.tried[self.best]
        if not self.was_measured:
            return best
        return best if best.ratio is not None and best.ratio.is_faster else None


def predicted_only(found: Search) -> Tuned:
    """Rank without measuring, for devices that are not here: what was measured elsewhere first, then by prediction."""
    timed = [one for one in (found.baseline, *found.candidates) if one.imported_us is not None]
    rest = [one for one in (found.baseline, *found.candidates) if one.imported_us is None]
    everything = [
        *sorted(timed, key=lambda one: one.imported_us or 0.0),
        *sorted(rest, key=lambda one: one.predicted_us),
    ]
    tried = tuple(Tried(one) for one in everything)
    return Tuned(found, tried, everything.index(found.baseline), 0)


def measured(
    found: Search,
    *,
    most: int | None = MOST_MEASURED,
    tolerance: float = TOLERANCE,
    budget_s: float = BUDGET_S,
    limits: MeasureLimits | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Tuned:
    """Measure `most` of the candidates, in rounds as `picking` has it, None: all of them, beside the launch as it is.

    After `cancel.set()` what was measured until then counts. Raises what kept the launch as it is from being measured.
    """
    how = How(budget_s, tolerance, limits, on_progress, cancel)
    done = measure_all(found, how) if most is None else measure_in_rounds(found, most, how)
    every = (found.baseline, *found.candidates)
    tried = {place: Tried(every[place], one.version, one.ratio, one.equal) for place, one in done.outcomes.items()}
    first = tried[0]
    relative = {place: 1.0 if place == 0 else one.relative for place, one in done.outcomes.items()}
    order = sorted(tried, key=lambda place: relative[place] or inf)
    timed = [tried[place] for place in order if tried[place].measured_us is not None]
    rest = [one for one in tried.values() if one.measured_us is None]
    others = [Tried(one) for place, one in enumerate(every) if place not in tried]
    ranked = (*timed, *rest, *others)
    best = next((at for at, one in enumerate(timed) if one.equal or one is first), None)
    return Tuned(found, ranked, ranked.index(first), best, bool(timed), done.was_cancelled)


def kept(tuned: Tuned) -> list[StoredMeasurement]:
    """Return what belongs into the store."""
    path = tuned.search.found.path
    return [
        stored(one.version.measurement, one.candidate.forecast, path)
        for one in tuned.tried
        if one.version is not None and one.version.measurement is not None
    ]
