"""Lines of a prediction as they are now: predictions are kept by meaning, and their kernels move as the user types.

When lines are added above a kernel, its costs stay and only their lines move; a function moves as a whole, since its
own text is part of what a prediction is kept by.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from model.launch.launch import Assumption
from model.line_costs import LineCost
from model.work.work_counts import WorkCounts


@dataclass(frozen=True, slots=True)
class LineShifts:
    """Old first lines of functions (ascending), and the number of lines that each has moved since.

    `host_lines` are the lines of a host file on which an embedded program's lines are written.
    """

    starts: tuple[int, ...] = ()
    deltas: tuple[int, ...] = ()
    host_lines: tuple[int, ...] = ()

    def line(self, line: int) -> int:
        """Return where `line` is now: it moved with the function that begins above it."""
        at = bisect_right(self.starts, line) - 1
        moved = line + self.deltas[at] if at >= 0 else line
        return self.host_lines[moved] if 0 <= moved < len(self.host_lines) else moved

    @property
    def any(self) -> bool:
        return any(self.deltas) or bool(self.host_lines)


NO_SHIFTS = LineShifts()


def line_shifts(before: Sequence[int], now: Sequence[int]) -> LineShifts:
    """Return the way from the lines on which functions stood to those on which they stand; -1: in another file."""
    if before == now:
        return NO_SHIFTS
    known = sorted((line, then - line) for line, then in zip(before, now, strict=True) if line >= 0)
    return LineShifts(tuple(line for line, _ in known), tuple(delta for _, delta in known))


@dataclass(frozen=True, eq=False)
class PlacedCounts:
    """What the analysis of a launch found, by source line: `counts`, `assumed` and `costs` as they were analysed.

    `work`, `assumptions` and `line_costs` are the same with the lines of today's text. They are worked out when first
    read: after a keystroke all kernels below it have moved, and most are only glanced at.
    """

    counts: WorkCounts
    assumed: tuple[Assumption, ...]  # `{line}` in their texts stands for the line
    costs: Sequence[LineCost] = ()  # a tuple, or equal to one
    shifts: LineShifts = NO_SHIFTS

    @cached_property
    def work(self) -> WorkCounts:
        return _moved(self.counts, self.shifts) if self.shifts.any else self.counts

    @cached_property
    def assumptions(self) -> tuple[Assumption, ...]:
        return tuple(_worded(each, self.shifts) for each in self.assumed)

    @cached_property
    def line_costs(self) -> Sequence[LineCost]:
        if not self.shifts.any:
            return self.costs
        return tuple(replace(cost, line=self.shifts.line(cost.line)) for cost in self.costs)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, PlacedCounts) and self._values() == other._values())

    def __hash__(self) -> int:
        return hash(self._values())

    def _values(self) -> tuple[WorkCounts, tuple[Assumption, ...], Sequence[LineCost]]:
        return self.work, self.assumptions, self.line_costs


def _moved(work: WorkCounts, shifts: LineShifts) -> WorkCounts:
    accesses = {a: replace(a, line=shifts.line(a.line)) for a in work.accesses}
    return replace(
        work,
        accesses=tuple(accesses[a] for a in work.accesses),
        breakdown=work.breakdown.moved(shifts.line, accesses) if work.breakdown is not None else None,
        facts=work.facts.moved(shifts.line),
        undecided_loops=tuple(shifts.line(line) for line in work.undecided_loops),
        estimated_loops=tuple(shifts.line(line) for line in work.estimated_loops),
    )


def _worded(assumption: Assumption, shifts: LineShifts) -> Assumption:
    if assumption.line is None:
        return assumption
    line = shifts.line(assumption.line)
    words = str(line + 1)
    return replace(
        assumption,
        subject=assumption.subject.replace("{line}", words),
        text=assumption.text.replace("{line}", words),
        line=line,
    )
