"""All that a prediction takes for granted, and how far that makes it uncertain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from model.launch.launch import Assumption, Launch
from model.work.counts import WorkCounts
from model.work.found_out import described, found_out, not_found_out
from model.work.region import DEFAULT_DATA_TRIPS
from model.work.work import Work

_UNDECIDED_SPREAD = 4.0
_LOOP = "loop."  # begins the subjects of assumptions on how often a loop runs
_ESTIMATED_SPREAD = 2.0
_ESTIMATED = "how often the loop on line {line} runs was worked out for a few work-items only: they stand for all"


def assumptions_of(work: Work, counts: WorkCounts, launch: Launch) -> tuple[Assumption, ...]:
    """What the launch and the analysis took for granted and what only the data know.

    Once each: a branch in a loop is met twice. Where some work-items were run, what they told takes the place of what
    would have to be assumed.
    """
    text = f"nothing says how often the loop on line {{line}} runs: taken for {DEFAULT_DATA_TRIPS} times"
    undecided = (Assumption(f"{_LOOP}{{line}}", text, _UNDECIDED_SPREAD, line, True) for line in counts.undecided_loops)
    estimated = (Assumption(f"{_LOOP}{{line}}", _ESTIMATED, _ESTIMATED_SPREAD, line) for line in counts.estimated_loops)
    found = (*work.assumptions, *_by_data(work, counts, launch), *undecided, *estimated)
    return (*launch.assumptions, *dict.fromkeys(found))


def _by_data(work: Work, counts: WorkCounts, launch: Launch) -> Iterator[Assumption]:
    sample = counts.sample
    if sample is not None and sample.stopped is None:
        yield from found_out(work, launch, sample)
        return
    known = described(work, counts)
    yield from (
        Assumption(p.name, p.text, p.spread, p.line, p.name.startswith(_LOOP))
        for a, p in work.parameters.items()
        if a not in known
    )
    if sample is not None:
        yield from not_found_out(sample)


def doubt_of(assumptions: Iterable[Assumption]) -> float:
    """The logarithm of the factor that all of them may cost together, at least 0.

    Factors are taken for independent, so their logarithms add in squares.
    """
    return math.sqrt(sum(math.log(a.spread) ** 2 for a in assumptions))
