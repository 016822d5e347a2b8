"""Measures candidates in rounds, each chosen by what the ones before showed, and the best of them once more together.

In each round the launch as it is and the best until then take turns with the new ones, so that times of different
rounds compare by their ratios to the former.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from model.forecast import Forecast
from profiler.measure import MeasureLimits
from profiler.measurement import Cancelled, MeasureRequest
from profiler.process.worker import CancelToken, OnProgress
from profiler.side_by_side import SideBySide, Version, measure_side_by_side
from profiler.turns import Ratio, Stopping
from server.tuning.picking import Picker, in_rounds, rounds_of
from server.tuning.search import Candidate, Search

ROUND_SHARE = 0.25  # of the budget of a version, in each round before the last
FINALISTS = 3  # beside the launch as it is


@dataclass(frozen=True, slots=True)
class How:
    """What measuring keeps to. `budget_s` is of timed turns for each version; `tolerance` as outputs are compared."""

    budget_s: float
    tolerance: float
    limits: MeasureLimits | None = None
    on_progress: OnProgress | None = None
    cancel: CancelToken | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a candidate. `ratio` is its time over that of the launch as it is, in the same turns.

    `equal`: its outputs are those of the launch as it is, exactly or within the tolerance; None: not known.
    """

    version: Version
    ratio: Ratio | None = None
    equal: bool | None = None

    @property
    def relative(self) -> float | None:
        """Return its time, the launch as it is taking 1; None if it was not timed."""
        return self.ratio.ratio if self.ratio is not None and self.version.median_us is not None else None


@dataclass(frozen=True, slots=True)
class Measured:
    """Outcomes by place: 0 is the launch as it is, n the n-th candidate."""

    outcomes: dict[int, Outcome]
    was_cancelled: bool = False


def measure_all(found: Search, how: How) -> Measured:
    """Measure every candidate to the end, in turns. Raises what kept the launch as it is from being measured."""
    places = range(len(found.candidates) + 1)
    return _together(found, places, {}, how, Stopping(drops_slower=False))


def measure_in_rounds(found: Search, most: int, how: How) -> Measured:
    """Measure at most `most` candidates. Raises what kept the launch as it is from being measured."""
    counts = rounds_of(min(most, len(found.candidates)))
    if len(counts) < 2 or most >= len(found.candidates):
        chosen = Picker(found.baseline, found.candidates).picked(most)
        return _together(found, [0, *chosen], {}, how, Stopping())
    brief = replace(how, budget_s=ROUND_SHARE * how.budget_s)
    outcomes: dict[int, Outcome] = {}
    was_cancelled = False

    def round_of(number: int, places: Sequence[int]) -> dict[int, float | None] | None:
        nonlocal was_cancelled
        whole = [0, *_leaders(outcomes, 1), *places]
        made = _together(found, whole, outcomes, _part(brief, number, len(counts) + 1), Stopping())
        was_cancelled = made.was_cancelled
        fresh = {place: one for place, one in made.outcomes.items() if place not in outcomes}
        outcomes.update(made.outcomes)
        base_us = outcomes[0].version.median_us
        if was_cancelled or base_us is None:
            return None
        relative = {place: 1.0 if place == 0 else one.relative for place, one in fresh.items()}
        return {place: base_us * time if time is not None else None for place, time in relative.items()}

    in_rounds(found.baseline, found.candidates, counts, round_of)
    if was_cancelled:
        return Measured(outcomes, was_cancelled=True)
    finalists = [0, *_leaders(outcomes, FINALISTS)]
    made = _together(found, finalists, outcomes, _part(how, len(counts), len(counts) + 1), Stopping())
    timed = {place: one for place, one in made.outcomes.items() if one.version.median_us is not None}
    return Measured(outcomes | timed, made.was_cancelled)


def _leaders(outcomes: dict[int, Outcome], most: int) -> list[int]:
    """Return the fastest candidates whose outputs are right, or where none is known to be, the fastest."""
    timed = {place: one.relative for place, one in outcomes.items() if place and one.relative is not None}
    right = [place for place in timed if outcomes[place].equal]
    return sorted(right or timed, key=lambda place: timed[place] or 0.0)[:most]


def _part(how: How, number: int, of: int) -> How:
    """Return the same, with the progress of one part of several."""
    told = how.on_progress
    if told is None:
        return how
    return replace(how, on_progress=lambda fraction, text: told((number + fraction) / of, text))


def _together(
    found: Search, places: Sequence[int], before: dict[int, Outcome], how: How, stopping: Stopping
) -> Measured:
    """Measure these launches in turns. What was proved of one before is not proved again."""
    every = (found.baseline, *found.candidates)
    requests = [_request(found, every[place], before.get(place)) for place in places]
    side = measure_side_by_side(
        requests,
        budget_s=how.budget_s * len(requests),
        stopping=stopping,
        limits=how.limits,
        on_progress=how.on_progress,
        cancel=how.cancel,
    )
    error = side.versions[0].error
    if error is not None and not isinstance(error, Cancelled):
        raise error
    return Measured(
        {place: _outcome(side, number, how.tolerance) for number, place in enumerate(places)}, side.was_cancelled
    )


def _outcome(side: SideBySide, number: int, tolerance: float) -> Outcome:
    version = side.versions[number]
    difference = version.difference
    equal = difference.equal if difference is not None else None
    if difference is not None and equal is False:
        equal = difference.within(relative=tolerance)
    return Outcome(version, side.ratio(number) if number else None, equal)


def _request(found: Search, candidate: Candidate, before: Outcome | None) -> MeasureRequest:
    forecast: Forecast = candidate.forecast
    source, kernel = forecast.compiled_from(found.found.text)
    path, device = str(found.found.path), found.found.device
    measurement = before.version.measurement if before is not None else None
    proof = measurement.proof if measurement is not None else ""
    return MeasureRequest(source, path, kernel, candidate.launch, device.id, proved=proof)
