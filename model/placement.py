"""Moving a prediction to where its kernel stands now.

Predictions are kept by meaning. When lines are added above a kernel, its costs stay and only their lines move; a
function moves as a whole, since its own text is part of what a prediction is kept by.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace

from model.advice.advice import Advice
from model.launch.launch import Assumption
from model.prediction import Prediction


@dataclass(frozen=True, slots=True)
class Moves:
    """Where functions stood (ascending), and how many lines each has moved since."""

    starts: tuple[int, ...] = ()
    deltas: tuple[int, ...] = ()

    def line(self, line: int) -> int:
        """Where `line` is now: it moved with the function that begins above it."""
        at = bisect_right(self.starts, line) - 1
        return line + self.deltas[at] if at >= 0 else line

    @property
    def any(self) -> bool:
        return any(self.deltas)


def moves(before: Mapping[str, int], now: Mapping[str, int]) -> Moves:
    """From where functions stood to where they stand (see `Program.function_lines`)."""
    if before == now:
        return Moves()
    known = sorted((line, now.get(name, line) - line) for name, line in before.items())
    return Moves(tuple(line for line, _ in known), tuple(delta for _, delta in known))


def placed(prediction: Prediction, moved: Moves) -> Prediction:
    """`prediction` with all lines as they are now, and said in its assumptions."""
    assumptions = tuple(_said(a, moved) for a in prediction.assumptions)
    if not moved.any:
        return replace(prediction, assumptions=assumptions)

    work = prediction.work
    accesses = {a: replace(a, line=moved.line(a.line)) for a in work.accesses}
    lines = tuple(
        replace(cost, line=moved.line(cost.line), accesses=tuple(accesses[a] for a in cost.accesses))
        for cost in work.lines
    )
    return replace(
        prediction,
        assumptions=assumptions,
        advice=tuple(_advised(a, moved) for a in prediction.advice),
        lines=tuple(replace(share, line=moved.line(share.line)) for share in prediction.lines),
        work=replace(work, accesses=tuple(accesses[a] for a in work.accesses), lines=lines),
    )


def _advised(advice: Advice, moved: Moves) -> Advice:
    return advice if advice.line is None else replace(advice, line=moved.line(advice.line))


def _said(assumption: Assumption, moved: Moves) -> Assumption:
    if assumption.line is None:
        return assumption
    line = moved.line(assumption.line)
    words = str(line + 1)
    return replace(
        assumption,
        subject=assumption.subject.replace("{line}", words),
        text=assumption.text.replace("{line}", words),
        line=line,
    )
