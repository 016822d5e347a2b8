"""All that a prediction takes for granted, and how far that makes it uncertain."""

from __future__ import annotations

import math
from collections.abc import Iterable

from model.launch.launch import Assumption, Launch
from model.work.counts import WorkCounts
from model.work.region import DEFAULT_DATA_TRIPS
from model.work.work import Work

_UNDECIDED_SPREAD = 4.0
_LOOP = "loop."  # begins the subjects of assumptions on how often a loop runs


def assumptions_of(work: Work, counts: WorkCounts, launch: Launch) -> tuple[Assumption, ...]:
    """What the launch and the analysis took for granted and what only the data know.

    Once each: a branch in a loop is met twice.
    """
    known = (Assumption(p.name, p.text, p.spread, p.line, p.name.startswith(_LOOP)) for p in work.parameters.values())
    text = f"nothing says how often the loop on line {{line}} runs: taken for {DEFAULT_DATA_TRIPS} times"
    undecided = (Assumption(f"{_LOOP}{{line}}", text, _UNDECIDED_SPREAD, line, True) for line in counts.undecided_loops)
    return (*launch.assumptions, *dict.fromkeys((*work.assumptions, *known, *undecided)))


def doubt_of(assumptions: Iterable[Assumption]) -> float:
    """The logarithm of the factor that all of them may cost together, at least 0.

    Factors are taken for independent, so their logarithms add in squares.
    """
    return math.sqrt(sum(math.log(a.spread) ** 2 for a in assumptions))
