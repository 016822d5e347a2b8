"""Messages between the server and its predictor process. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from model.launch.launch import Launch
from model.learned.lessons import Lessons
from model.learned.question import Question
from model.opencl.include_policy import Reach


@dataclass(frozen=True, slots=True)
class Ask:
    """To the child. `taught` are the lessons that it does not have yet, by device; they replace earlier ones.

    Without questions it loads the weights, so that the next answer is quick.
    """

    questions: tuple[Question, ...]
    taught: Mapping[str, Lessons]

    @property
    def answers(self) -> int:
        """How many are to come."""
        return len(self.questions)


@dataclass(frozen=True, slots=True)
class RunItems:
    """To the child: run some work-items of this launch of `kernel`. The answer is a `Sample`, alone.

    Files beyond `reach` are not included.
    """

    text: str
    path: Path | None
    reach: Reach | None
    kernel: str
    launch: Launch

    @property
    def answers(self) -> int:
        """How many are to come."""
        return 1
