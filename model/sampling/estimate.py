"""What is likely to come where the budget ends a run: counts of loops that were still running, scaled up."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

from model.sampling.counters import Context

MOST_ITERATIONS = 1e9
FEW = 8  # lanes whose leaving tells little of when the others will
FAR = 10  # times as many iterations as were seen


@dataclass(slots=True)
class Unfinished:
    """A loop that ran when the budget ended: its `lanes` had begun `iterations` of it since it was entered.

    `bound`: how many iterations the lanes still had before them at most, where the condition says so. `has_exits`: they
    may leave before that.
    """

    record: Any
    context: Any
    site: int
    begun: int
    lanes: int
    iterations: int
    lane_iterations: float
    recent: tuple[int, int]  # an iteration about half way, and how many lanes began it
    bound: float | None
    has_exits: bool


@dataclass(slots=True)
class Draws:
    """What one atomic operation gave back: means over the lanes, of the first and of the last of `times`."""

    first: float
    last: float
    times: int = 1

    def add(self, mean: float) -> None:
        self.last = mean
        self.times += 1

    @property
    def step(self) -> float:
        """Return how far the counter goes in one iteration. In the first the mean lane is half a step ahead of zero."""
        return (self.last - self.first) / (self.times - 1) if self.times > 1 else 2 * self.last


def scaled_up(loops: list[Unfinished]) -> None:
    """Scale the counts of `loops`, given innermost first, and of all that stands in them.

    Inner ones first, by what all of their iterations were so far: the last time they were entered is one of many.
    """
    for loop in loops:
        done = max(1.0, loop.record.taken)
        each, _ = remaining(loop)
        factor = (done + loop.lanes * each) / done
        loop.record.completed += loop.lanes
        _scale(loop.context, loop.site, factor)


def remaining(loop: Unfinished) -> tuple[float, bool]:
    """Return how many iterations each lane that is in the loop has before it, and whether that is anybody's guess.

    Lanes leave at the rate at which they did lately (from half the iterations on), never later than the bound. Where
    few did and this says that the others stay for far longer than they have, it is a guess: somewhere between.
    """
    since, lanes_then = loop.recent
    rounds = max(1, loop.iterations - since)
    left = lanes_then - loop.lanes
    bound = loop.bound if loop.bound is not None else MOST_ITERATIONS
    if left <= 0:
        each = bound if loop.bound is not None else float(loop.iterations)
    else:
        rate = min(1.0, left / (rounds * (lanes_then + loop.lanes) / 2))
        each = min(bound, 1.0 / rate) if rate * bound > 50 else (1.0 - (1.0 - rate) ** bound) / rate
    each = max(0.0, min(each, MOST_ITERATIONS))
    seen = max(1, loop.iterations)
    if left <= 0 and loop.bound is None:
        return each, True
    if left < FEW and (loop.has_exits or left > 0) and each > FAR * seen:
        return sqrt(each * seen), True
    return each, False


def _scale(context: Context, site: int, factor: float) -> None:
    """Everything that was counted in the bytes of a loop, and in what it calls."""
    start, end = context.made.sites[site]
    for number, record in enumerate(context.sites):
        first, last = context.made.sites[number]
        if number == site:
            record.taken *= factor
            record.scale *= factor
        elif start <= first and last <= end:
            record.begun *= factor
            record.taken *= factor
            record.completed *= factor
            record.scale *= factor
    for number, access in enumerate(context.accesses):
        first, last = context.made.accesses[number]
        if start <= first and last <= end:
            access.scale *= factor
    for byte, child in context.children.items():
        if start <= byte < end:
            _scale_all(child, factor)


def _scale_all(context: Context, factor: float) -> None:
    stack = [context]
    while stack:
        at = stack.pop()
        for record in at.sites:
            record.begun *= factor
            record.taken *= factor
            record.completed *= factor
            record.scale *= factor
        for access in at.accesses:
            access.scale *= factor
        stack.extend(at.children.values())
