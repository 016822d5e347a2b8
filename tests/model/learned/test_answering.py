"""What is asked twice is computed once, and what was measured elsewhere on a device corrects what is said there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from model.learned.answering import Answering
from model.learned.lessons import MOST_LESSONS, Lesson, Lessons, packed, unpacked
from model.learned.question import ANALYTIC_FACT_NAMES, Answer, Question
from model.prediction import Quantiles

ASKED = Question(
    kernel="scale", tokens=("kernel", "void", "v0"), launch_facts=(1.0, math.nan),
    analytic_facts=(2.0,) * len(ANALYTIC_FACT_NAMES), device_facts=(3.0, math.nan), compiled_facts=None, total_us=10.0,
    least_us=1.0, doubt=0.0, device_id="cpu",
)  # fmt: skip


class Model:
    """Answers the analytical time, and counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        self.asked += len(questions)
        return [Answer(Quantiles(q.total_us / 2, q.total_us, q.total_us * 2), 0.0) for q in questions]


def measured(kernel: str, times_slower: float) -> Lesson:
    question = replace(ASKED, kernel=kernel)
    return Lesson(packed(question), question.total_us * times_slower)


def test_what_is_asked_twice_is_computed_once() -> None:
    model = Model()
    answering = Answering(model)
    first = answering.answer([ASKED, replace(ASKED, total_us=20.0), ASKED])
    again = answering.answer([replace(ASKED, launch_facts=(1.0, float("nan")))])
    assert [each.runtime_us.p50 for each in first] == [10.0, 20.0, 10.0]
    assert again == first[:1]
    assert model.asked == 2


def test_a_question_is_read_back_as_it_was_kept() -> None:
    told = replace(ASKED, compiled_facts=(0.5, math.nan))
    found = unpacked(packed(told))
    assert found is not None
    assert found.key == told.key
    assert found.tokens == told.tokens


@pytest.mark.parametrize("kept", [b"", b"damaged", packed(ASKED)[:-4]])
def test_what_cannot_be_read_back_teaches_nothing(kept: bytes) -> None:
    assert unpacked(kept) is None
    lessons = Lessons.of([Lesson(kept, 5.0)])
    assert Answering(Model()).answer([ASKED], {"cpu": lessons})[0].runtime_us.p50 == 10.0


def test_measurements_of_other_kernels_correct_what_is_said_by_as_much_as_they_prove() -> None:
    def said(count: int) -> float:
        lessons = Lessons.of(measured(f"other {number}", 2.0) for number in range(count))
        return Answering(Model()).answer([ASKED], {"cpu": lessons})[0].runtime_us.p50

    few, many = said(1), said(40)
    assert 10.0 < few < many < 20.0
    assert many > 18.0


def test_what_one_device_taught_says_nothing_of_another() -> None:
    lessons = Lessons.of(measured(f"other {number}", 2.0) for number in range(9))
    here, there = Answering(Model()).answer([ASKED, replace(ASKED, device_id="gpu")], {"cpu": lessons})
    assert here.runtime_us.p50 > there.runtime_us.p50 == 10.0


def test_a_kernels_own_measurement_is_held_against_what_was_said_without_it() -> None:
    lessons = Lessons.of([measured(ASKED.kernel, 9.0)])
    assert Answering(Model()).answer([ASKED], {"cpu": lessons})[0].runtime_us.p50 == 10.0


def test_what_another_version_asked_teaches_nothing() -> None:
    older = replace(ASKED, kernel="other", launch_facts=(1.0,))
    lessons = Lessons.of([Lesson(packed(older), 900.0)])
    assert Answering(Model()).answer([ASKED], {"cpu": lessons})[0].runtime_us.p50 == 10.0


def test_disturbed_lessons_are_left_out_and_counted_unless_another_of_the_same_launch_is_not() -> None:
    quiet, disturbed = measured("a", 1.0), replace(measured("a", 9.0), is_disturbed=True)
    assert Lessons.of([disturbed, quiet]) == Lessons.of([quiet])
    other = replace(measured("b", 9.0), is_disturbed=True)
    found = Lessons.of([other, other, quiet])
    assert (found.lessons, found.disturbed, found.version) == ((quiet,), 1, Lessons.of([quiet]).version)


def test_lessons_are_told_apart_and_only_the_newest_are_kept() -> None:
    anew, before = Lesson(b"asked", 1.0), Lesson(b"asked", 2.0)
    assert Lessons.of([anew, before]).lessons == (anew,)
    some = [measured(f"kernel {number}", 1.0 + number) for number in range(3)]
    assert Lessons.of(some).version == Lessons.of([*some, some[0]]).version
    assert Lessons.of(some).version != Lessons.of(some[1:]).version
    assert Lessons().version == Lessons.of([]).version
    many = [Lesson(b"%d" % number, 1.0) for number in range(MOST_LESSONS + 9)]
    assert Lessons.of(many).lessons == tuple(many[:MOST_LESSONS])
