"""What passes between the server and its predictor process. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.learned.lessons import Lessons
from model.learned.question import Question


@dataclass(frozen=True, slots=True)
class Ask:
    """To the child. `taught` are the lessons that it does not have yet, by device; they replace earlier ones.

    Without questions it loads the weights, so that the next answer is quick.
    """

    questions: tuple[Question, ...]
    taught: Mapping[str, Lessons]
