"""Which candidates to measure: half of them the fastest as predicted, and half as different as can be from those.

Predictions are off alike for launches that are alike, so that the fastest ten as predicted may all be wrong together.
The other half is therefore picked farthest first (Gonzalez, "Clustering to minimize the maximum intercluster distance",
1985), among all that are not predicted to be far slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, inf, log2

from model.launch.launch import Launch, Number
from server.tuning.search import Candidate

FASTEST = 0.5  # share that is picked by prediction alone
FAR_SLOWER = 3.0  # times the fastest: predictions are seldom off by more between launches of one kernel
_MOST_STEPS = 3.0  # between two values of one macro
_OTHER_KIND = 2.0  # steps between a local size that is given and one that the driver chooses


def picked(candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """Return `most` of the candidates, which come fastest first; the first is always among them."""
    chosen = list(candidates[: ceil(FASTEST * most)])
    rest = candidates[len(chosen) : len(candidates)]
    near = [one for one in rest if one.expected_us <= FAR_SLOWER * candidates[0].expected_us]
    slow = [one for one in rest if one.expected_us > FAR_SLOWER * candidates[0].expected_us]
    nearest = [min(distance(one.launch, other.launch) for other in chosen) for one in near]
    while near and len(chosen) < most:
        at = max(range(len(near)), key=lambda place: nearest[place])  # of equal ones the first, which is the fastest
        chosen.append(near.pop(at))
        del nearest[at]
        nearest = [min(far, distance(one.launch, chosen[-1].launch)) for one, far in zip(near, nearest, strict=True)]
    return [*chosen, *slow[: most - len(chosen)]]


def distance(one: Launch, other: Launch) -> float:
    """Return how far two launches lie apart: a step is a factor of two in a size or a number, or another word."""
    steps = 0.0
    mine: dict[str, str | Number] = {**dict(one.options.defines), **dict(one.scalars)}
    theirs: dict[str, str | Number] = {**dict(other.options.defines), **dict(other.scalars)}
    steps += sum(_steps(mine.get(name), theirs.get(name)) for name in mine.keys() | theirs.keys())
    if (one.local_size is None) != (other.local_size is None):
        return steps + _OTHER_KIND
    local = zip(one.local_size or (), other.local_size or (), strict=False)
    whole = zip(one.global_size, other.global_size, strict=False)
    return steps + sum(abs(log2(first / second)) for first, second in (*local, *whole))


def _steps(one: object, other: object) -> float:
    if one == other:
        return 0.0
    try:
        first, second = float(str(one)), float(str(other))
    except ValueError:
        return 1.0
    if 0 < first < inf and 0 < second < inf:
        return min(_MOST_STEPS, abs(log2(first / second)))
    return 1.0
