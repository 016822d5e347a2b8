"""Moving a prediction to where its kernel stands now.

Predictions are kept by meaning. When lines are added above a kernel, its costs stay and only their lines move; a
function moves as a whole, since its own text is part of what a prediction is kept by.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

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


def moves(before: Sequence[int], now: Sequence[int]) -> Moves:
    """From the lines on which functions stood to those on which the same ones stand; -1: in another file."""
    if before == now:
        return Moves()
    known = sorted((line, then - line) for line, then in zip(before, now, strict=True) if line >= 0)
    return Moves(tuple(line for line, _ in known), tuple(delta for _, delta in known))


def placed(prediction: Prediction, moved: Moves) -> Prediction:
    """`prediction` with all lines as they are now, and said in its assumptions."""
    return _Placed.of(prediction, moved)


def apart(prediction: Prediction) -> tuple[Prediction, Moves]:
    """Return what `placed` put together: nothing is moved for it. What is said of the former goes for all places."""
    return (prediction._of, prediction._moved) if isinstance(prediction, _Placed) else (prediction, Moves())


# What does not depend on where a kernel stands.
_SETTLED = frozenset({each.name for each in fields(Prediction)} - {"work", "assumptions", "line_costs", "advice"})


class _Placed(Prediction):
    """A prediction that finds its lines when somebody asks for them: most are only glanced at while typing."""

    __slots__ = ("_moved", "_of")

    _of: Prediction
    _moved: Moves

    def __new__(cls, *arguments: Any, **fields: Any) -> Prediction:  # type: ignore[misc]  # noqa: ANN401
        """Return a plain one, for `dataclasses.replace`."""
        return Prediction(*arguments, **fields)

    @classmethod
    def of(cls, prediction: Prediction, moved: Moves) -> Prediction:
        found = object.__new__(cls)
        object.__setattr__(found, "_of", prediction)
        object.__setattr__(found, "_moved", moved)
        return found

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """Asked for what is not set yet."""
        if name in _SETTLED:
            return getattr(self._of, name)
        if name not in _NAMES:
            raise AttributeError(name)
        if name == "advice":  # shown of all kernels at once, and there is little of it
            advice = tuple(_advised(each, self._moved) for each in self._of.advice)
            object.__setattr__(self, name, advice)
            return advice
        for each, value in zip(_NAMES, _values(_whole(self._of, self._moved)), strict=True):
            object.__setattr__(self, each, value)
        return getattr(self, name)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Prediction) and _values(self) == _values(other))

    def __hash__(self) -> int:
        return hash(_values(self))


_NAMES = tuple(each.name for each in fields(Prediction))


def _values(prediction: Prediction) -> tuple[Any, ...]:
    return tuple(getattr(prediction, name) for name in _NAMES)


def _whole(prediction: Prediction, moved: Moves) -> Prediction:
    assumptions = tuple(_said(a, moved) for a in prediction.assumptions)
    if not moved.any:
        return replace(prediction, assumptions=assumptions)

    work = prediction.work
    accesses = {a: replace(a, line=moved.line(a.line)) for a in work.accesses}
    return replace(
        prediction,
        assumptions=assumptions,
        advice=tuple(_advised(a, moved) for a in prediction.advice),
        line_costs=tuple(replace(cost, line=moved.line(cost.line)) for cost in prediction.line_costs),
        work=replace(
            work,
            accesses=tuple(accesses[a] for a in work.accesses),
            breakdown=work.breakdown.moved(moved.line, accesses) if work.breakdown is not None else None,
            facts=work.facts.moved(moved.line),
            undecided_loops=tuple(moved.line(line) for line in work.undecided_loops),
            estimated_loops=tuple(moved.line(line) for line in work.estimated_loops),
        ),
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
