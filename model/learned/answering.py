"""A loaded model with what it was asked before and what measurements taught: answers twice asked cost nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from cachetools import LRUCache

from model.learned.learned import LearnedModel
from model.learned.lessons import Lessons, unpacked
from model.learned.question import Answer, Question
from model.learned.residual_gp import Correction, Experience

_ANSWERS_KEPT = 16_384
_DEVICES_KEPT = 8
_NOTHING: Mapping[str, Lessons] = MappingProxyType({})
_Key = tuple[str, str, bytes]


class Answering:
    """Not for two threads at once. Kept by the kernel's meaning, the launch and the device, as facts tell."""

    def __init__(self, model: LearnedModel) -> None:
        self._model = model
        self._answers: LRUCache[_Key, Answer] = LRUCache(_ANSWERS_KEPT)
        self._corrections: LRUCache[tuple[str, tuple[int, ...]], Correction] = LRUCache(_DEVICES_KEPT)

    def answer(self, questions: Sequence[Question], lessons: Mapping[str, Lessons] = _NOTHING) -> list[Answer]:
        """Answer in the order of the questions, corrected by the lessons of each device, which stand by its id."""
        return [
            self._corrected(question, answer, lessons.get(question.device_id))
            for question, answer in zip(questions, self._own(questions), strict=True)
        ]

    def _corrected(self, question: Question, answer: Answer, lessons: Lessons | None) -> Answer:
        if lessons is None or not lessons.lessons:
            return answer
        return self._correction(lessons, question).applied(question, answer)

    def correction(self, lessons: Lessons) -> Correction | None:
        """Return the correction from all measurements of a device; None where there are none of this version."""
        newest = next((q for each in lessons.lessons if (q := unpacked(each.question)) is not None), None)
        return self._correction(lessons, newest) if newest is not None else None

    def _own(self, questions: Sequence[Question]) -> list[Answer]:
        """Return the model's own outputs, or the analytical model's where it was not trained, in one call."""
        asked = {question.key: question for question in questions if question.analytic_alone is None}
        new = {key: question for key, question in asked.items() if key not in self._answers}
        # What is kept may make room for what is new.
        found = {key: self._answers[key] for key in asked if key in self._answers}
        found |= zip(new, self._model.answer(tuple(new.values())) if new else (), strict=True)
        self._answers.update(found)
        return [
            found[each.key] if each.analytic_alone is None else Answer(each.analytic_alone, 0.0) for each in questions
        ]

    def _correction(self, lessons: Lessons, like: Question) -> Correction:
        key = lessons.version, _shape(like)
        if key not in self._corrections:
            unfolded = [(unpacked(each.question), each) for each in lessons.lessons]
            known = [(q, each) for q, each in unfolded if q is not None and _shape(q) == _shape(like)]
            answers = self._own([question for question, _ in known])
            experiences = [
                Experience(question, answer, each.measured_us, each.family)
                for (question, each), answer in zip(known, answers, strict=True)
            ]
            self._corrections[key] = Correction.fitted(experiences)
        return self._corrections[key]


def _shape(question: Question) -> tuple[int, ...]:
    """How many facts of each kind: questions of another shape are of another version."""
    return len(question.launch_facts), len(question.analytic_facts), len(question.device_facts)
