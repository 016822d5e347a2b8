"""Which candidates to measure next, from their predictions and from what was measured until then.

A Gaussian process over the logarithm of measured over predicted time (Rasmussen and Williams, "Gaussian Processes for
Machine Learning", 2006, algorithm 2.1) corrects the predictions of what is not measured yet. What a tuned value does to
the error of a prediction is taken to add up over the values, apart from a smaller part that is one of their combination
(Duvenaud et al., "Additive Gaussian Processes", 2011). The next to be measured is the one whose time may well be the
least: the lower confidence bound (Srinivas et al., "Gaussian Process Optimization in the Bandit Setting", 2010). Those
of one round are picked as if each took what it is expected to take (Ginsbourger et al., "Kriging is well-suited to
parallelize optimization", 2010).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, isfinite, log, log2, prod

import numpy as np

from model.launch.launch import Launch
from server.tuning.search import Candidate

ROUNDS = (0.3, 0.3, 0.2, 0.2)  # share of what may be measured: the more rounds, the better the last ones know
# How far predictions are off, as standard deviations of the logarithm. Chosen on ten kernels; see tests/accuracy.
_ALL_ALIKE = 1.0  # by the same factor everywhere
_SLOPE = 0.3  # by an exponent of the predicted time
_EACH_VALUE = 1.0  # by the tuned values, each for itself
_TOGETHER = 0.5  # by their combination
_STEPS = 3.0  # over which an error is forgotten; one is a factor of two
_NOISE = 0.1  # of a measurement
_DARING = 1.0  # standard deviations below what is expected
_FAILED = 1.0  # above the slowest: what fails is no place to look around
_MOST_STEPS = 6.0  # between two values of one axis
_OTHER_KIND = 2.0  # steps between a local size that is given and one that the driver chooses
_Coordinate = float | str | None


def rounds_of(most: int) -> list[int]:
    """Return how many to measure in each round, of `most` in all."""
    counts: list[int] = []
    for share in ROUNDS:
        counts.append(min(most - sum(counts), max(1, round(share * most))))
    counts[-1] += most - sum(counts)
    return [count for count in counts if count > 0]


def in_rounds(
    baseline: Candidate,
    candidates: Sequence[Candidate],
    counts: Sequence[int],
    measure: Callable[[int, Sequence[int]], Mapping[int, float | None] | None],
) -> None:
    """Have so many candidates measured in each round; `measure` gets its number and the places.

    It returns what these took, None for a failure, and at first what the launch as it is took; None ends it all.
    """
    picker = Picker(baseline, candidates)
    for number, count in enumerate(counts):
        times = measure(number, picker.picked(count))
        if times is None:
            return
        for place in sorted(times):
            picker.note(place, times[place])


@dataclass(slots=True)
class _Seen:
    """A launch whose time is known, or assumed within a round: log of the time, and its covariances with all."""

    place: int
    log_time: float
    covariances: list[float]


class Picker:
    """Owns what is known of a search's launches so far. Place 0 is the launch as it is, place n the n-th candidate."""

    def __init__(self, baseline: Candidate, candidates: Sequence[Candidate]) -> None:
        every = (baseline, *candidates)
        self._axes = list(_axes([one.launch for one in every]))
        self._expected = [log(max(one.expected_us, 1e-3)) for one in every]
        mean = sum(self._expected) / len(every)
        self._slopes = [_SLOPE * (one - mean) for one in self._expected]
        self._seen: list[_Seen] = []
        self._failed: set[int] = set()

    def note(self, place: int, time_us: float | None) -> None:
        """Learn what a launch took; None if it failed."""
        if time_us is None:
            self._failed.add(place)
        else:
            self._seen.append(self._seen_at(place, log(max(time_us, 1e-3))))

    def picked(self, count: int) -> list[int]:
        """Return the places of candidates to measure next, at most `count`; the first ever is the fastest expected."""
        known = [*self._seen]
        slowest = max((one.log_time for one in known), default=0.0)
        known += [self._seen_at(place, slowest + _FAILED) for place in sorted(self._failed)]
        taken = {0, *(one.place for one in known)}
        chosen: list[int] = []
        for _ in range(count):
            rest = [place for place in range(1, len(self._expected)) if place not in taken]
            if not rest:
                break
            if len(taken) == 1 or not known:
                place, expected = rest[0], self._expected[rest[0]]
            else:
                place, expected = self._least(known, rest)
            chosen.append(place)
            taken.add(place)
            known.append(self._seen_at(place, expected))
        return chosen

    def _seen_at(self, place: int, log_time: float) -> _Seen:
        return _Seen(place, log_time, [self._covariance(place, other) for other in range(len(self._expected))])

    def _covariance(self, one: int, other: int) -> float:
        far = [steps(axis[one], axis[other]) for axis in self._axes]
        each = sum(exp(-distance / _STEPS) for distance in far) / len(far) if far else 1.0
        together = exp(-sum(far) / _STEPS)
        slope = self._slopes[one] * self._slopes[other]
        return _ALL_ALIKE**2 + slope + _EACH_VALUE**2 * each + _TOGETHER**2 * together

    def _least(self, known: Sequence[_Seen], rest: Sequence[int]) -> tuple[int, float]:
        """Return the place in `rest` with the least lower bound, and the logarithm of its expected time."""
        places = list(rest)
        errors = np.array([one.log_time - self._expected[one.place] for one in known])  # [known]
        all_shared = np.array([one.covariances for one in known])  # [known, launches]
        covariance = all_shared[:, [one.place for one in known]] + _NOISE**2 * np.eye(len(known))
        shared = all_shared[:, places]  # [known, rest]
        expected = (
            np.array(self._expected)[places] + errors[0] + shared.T @ np.linalg.solve(covariance, errors - errors[0])
        )
        explained = (shared * np.linalg.solve(covariance, shared)).sum(axis=0)
        variance = _ALL_ALIKE**2 + _EACH_VALUE**2 + _TOGETHER**2 + np.array(self._slopes)[places] ** 2
        lower = expected - _DARING * np.sqrt(np.maximum(0.0, variance - explained))
        best = int(np.argmin(lower.round(9)))  # of equal ones the first, which is the fastest as predicted
        return places[best], float(expected[best])


def _axes(launches: Sequence[Launch]) -> Iterator[list[_Coordinate]]:
    """Yield the coordinate of each launch for each thing in which they differ; None where it has none."""
    each = [dict(_coordinates(launch)) for launch in launches]
    for name in dict.fromkeys(name for one in each for name in one):
        values = [one.get(name) for one in each]
        if len(set(values)) > 1:
            yield values


def _coordinates(launch: Launch) -> Iterator[tuple[tuple[str, str], _Coordinate]]:
    for name, value in (*launch.options.defines, *launch.scalars):
        yield ("value", name), _coordinate(value)
    local = launch.local_size
    if local is not None:
        yield ("local", "items"), log2(max(1, prod(local)))
        for axis, size in zip("xyz", local, strict=False):
            yield ("local", axis), log2(max(1, size))


def _coordinate(value: object) -> _Coordinate:
    """Return a number's logarithm, so that a step is a factor of two; a word stays one."""
    try:
        number = float(str(value))
    except ValueError:
        return str(value)
    if not isfinite(number):
        return str(value)
    return log2(number) if number >= 1 else number - 1


def steps(one: _Coordinate, other: _Coordinate) -> float:
    """Return how far two coordinates lie apart."""
    if one == other:
        return 0.0
    if one is None or other is None:
        return _OTHER_KIND
    if isinstance(one, str) or isinstance(other, str):
        return 1.0
    return min(_MOST_STEPS, abs(one - other))
