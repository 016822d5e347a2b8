"""The smallest kind of weights: the analytical time, times a power of two that is linear in the facts of the launch.

All of it stands in `model.json`:
`{"kind": "linear", "log2_factor": 0.5, "launch": [0.1, ...], "spread": 1.5, "novelty": 0.2}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.learned.question import Answer, Question
from model.prediction import Quantiles

_MOST_DOUBLINGS = 60.0


@dataclass(frozen=True, slots=True)
class LinearModel:
    """`launch` are the slopes over `Question.launch_facts`, the first ones; `spread` is the factor to p10 and p90."""

    log2_factor: float
    launch: tuple[float, ...]
    spread: float
    novelty: float

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Answer:
        slopes = zip(self.launch, question.launch_facts, strict=False)
        doublings = self.log2_factor + sum(slope * fact for slope, fact in slopes)
        p50 = question.total_us * 2 ** min(max(doublings, -_MOST_DOUBLINGS), _MOST_DOUBLINGS)
        return Answer(Quantiles(p50 / self.spread, p50, p50 * self.spread), self.novelty)


def load(_folder: Path, description: dict[str, Any]) -> LinearModel:
    """Read the model. Raises `ValueError` or `TypeError` for what are no numbers."""
    return LinearModel(
        float(description["log2_factor"]),
        tuple(float(slope) for slope in description.get("launch", ())),
        max(1.0, float(description.get("spread", 1.5))),
        float(description.get("novelty", 0.0)),
    )
