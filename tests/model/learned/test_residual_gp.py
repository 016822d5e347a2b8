"""A few measurements on a device correct what is said of other kernels there, by no more than they can prove."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.learned.device_facts import DEVICE_FACT_NAMES
from model.learned.question import ANALYTIC_FACT_NAMES, Answer, Question
from model.learned.residual_gp import (
    ALIKE_DEVIATION,
    BOUND_DEVIATION,
    COVERED,
    DEVICE_DEVIATION,
    FEWEST_TO_JUDGE,
    KERNEL_DEVIATION,
    NARROWEST,
    REACH,
    WIDEST,
    Correction,
    Experience,
    Launches,
    correction_of,
    left_out_errors,
    shares_of,
    stretch_of,
)
from model.prediction import Quantiles

SAID = Answer(Quantiles(50.0, 100.0, 200.0), 0.25)
NOWHERE = -20.0  # log2 us
MEMORY, COMPUTE = "global memory", "floating point"


def asked(kernel: str, bound: str = MEMORY) -> Question:
    """A launch whose time is nearly all one resource's."""
    analytic = dict.fromkeys(ANALYTIC_FACT_NAMES, NOWHERE) | {
        "total": 6.0,
        "least": 5.0,
        "launch floor": 0.0,
        bound: 6.0,
    }
    return Question(
        kernel=kernel, tokens=(), launch_facts=(), analytic_facts=tuple(analytic[name] for name in ANALYTIC_FACT_NAMES),
        device_facts=(), compiled_facts=None, total_us=64.0, least_us=32.0, doubt=0.0, device_id="cpu",
    )  # fmt: skip


def measured(kernel: str, times_slower: float, bound: str = MEMORY, place: tuple[float, ...] = ()) -> Experience:
    return Experience(asked(kernel, bound), replace(SAID, place=place), times_slower * SAID.runtime_us.p50)


def factor(
    experiences: Sequence[Experience], bound: str = MEMORY, kernel: str = "own", place: tuple[float, ...] = ()
) -> float:
    """By how much the answer of a kernel is corrected."""
    found = Correction.fitted(experiences).applied(asked(kernel, bound), replace(SAID, place=place))
    q = found.runtime_us
    widths = math.log(q.p50 / q.p10), math.log(q.p90 / q.p50)
    assert widths[0] == pytest.approx(widths[1])  # as in what was said
    assert widths[0] >= math.log(2) * 0.999
    assert found.novelty == SAID.novelty
    return found.runtime_us.p50 / SAID.runtime_us.p50


def test_without_measurements_the_answer_stays() -> None:
    assert Correction.fitted([]).applied(asked("own"), SAID) == SAID


def test_measurements_as_predicted_change_nothing() -> None:
    assert factor([measured(f"{n}", 1.0) for n in range(9)]) == pytest.approx(1)


@pytest.mark.parametrize("bound", [MEMORY, COMPUTE])
def test_a_device_that_is_twice_as_slow_is_found_out_the_more_kernels_are_measured(bound: str) -> None:
    known = [measured(f"{n}", 2.0, (MEMORY, COMPUTE)[n % 2]) for n in range(100)]
    found = [factor(known[:count], bound) for count in (1, 3, 10, 100)]
    assert found == sorted(found)
    assert 1.1 < found[0] < 1.8
    assert 1.9 < found[-1] < 2.0


def test_many_launches_of_one_kernel_prove_less_than_as_many_kernels() -> None:
    one_kernel, many = factor([measured("one", 2.0)] * 20), factor([measured(f"{n}", 2.0) for n in range(20)])
    assert 1.1 < one_kernel < many
    assert one_kernel == pytest.approx(factor([measured("one", 2.0)]), rel=0.05)


@given(st.floats(1e-9, 1e12), st.sampled_from([MEMORY, COMPUTE]))
def test_one_kernel_that_is_wildly_off_moves_others_by_a_bounded_factor(times_slower: float, bound: str) -> None:
    usual = [measured(f"{n}", 1.0, COMPUTE) for n in range(10)]
    assert 0.8 < factor([*usual, measured("wild", times_slower, MEMORY)], COMPUTE) < 1.25
    assert 1 / 5 < factor([measured("wild", times_slower)], bound) < 5


def test_kernels_that_the_same_resource_holds_up_are_corrected_most() -> None:
    slow_memory = [measured(f"{n}", 2.0, MEMORY) for n in range(8)]
    known = [*slow_memory, *(measured(f"c{n}", 1.0, COMPUTE) for n in range(8))]
    assert factor(slow_memory, MEMORY) > factor(slow_memory, COMPUTE) > 1
    assert factor(known, MEMORY) > 1.4
    assert factor(known, MEMORY) > factor(known, COMPUTE) * 1.2


def test_a_kernels_own_measurements_are_left_out() -> None:
    others = [measured(f"{n}", 2.0) for n in range(5)]
    # But for how far the others are trusted, which is found out once for all.
    assert factor([*others, measured("own", 50.0)]) == pytest.approx(factor(others), rel=0.01)
    assert factor([measured("own", 50.0)] * 3) == 1


def test_measurements_that_say_nothing_teach_nothing() -> None:
    nothing = Experience(asked("zero"), SAID, 0.0)
    unsaid = Experience(asked("unsaid"), Answer(Quantiles(0.0, 0.0, 0.0), 0.0), 10.0)
    assert factor([nothing, unsaid]) == 1


def test_shares_are_of_the_sum_and_of_nothing_they_are_nothing() -> None:
    analytic = np.full((2, len(ANALYTIC_FACT_NAMES)), -1000.0)
    analytic[0, ANALYTIC_FACT_NAMES.index(MEMORY)], analytic[0, ANALYTIC_FACT_NAMES.index(COMPUTE)] = 4.0, 2.0
    memory, compute = (ANALYTIC_FACT_NAMES.index(name) - 2 for name in (MEMORY, COMPUTE))
    found = shares_of(analytic)
    assert found[0, [memory, compute]] == pytest.approx([0.8, 0.2])
    assert np.isfinite(found).all()


def test_kernels_that_are_alike_are_corrected_alike_and_others_are_not() -> None:
    here, near, far = (0.0, 0.0), (0.3, 0.2), (9.0, 9.0)
    known = [measured(f"{n}", 3.0, place=here) for n in range(4)] + [
        measured(f"f{n}", 1.0, place=far) for n in range(4)
    ]
    assert factor(known, place=near) > 1.7
    assert 0.8 < factor(known, place=far) < 1.25


def test_an_edited_kernel_is_corrected_by_what_was_measured_before_the_edit() -> None:
    before = measured("before", 2.5, place=(1.0, 1.0))
    assert 1.3 < factor([before], kernel="after", place=(1.05, 1.0)) < 2.5


def test_one_kernel_that_is_far_off_does_not_outvote_many() -> None:
    usual = [measured(f"{n}", 1.0, place=(0.1 * n, 0.0)) for n in range(6)]
    assert factor([*usual, measured("wild", 6.0, place=(0.2, 0.1))], place=(0.2, 0.0)) == pytest.approx(1, abs=0.1)


def test_a_calibrated_device_is_believed_to_be_less_off_than_one_of_which_little_is_known() -> None:
    facts = [0.0] * len(DEVICE_FACT_NAMES)
    guessed = tuple(facts)
    facts[DEVICE_FACT_NAMES.index("shape.calibrated")] = 1.0
    said = {
        name: factor([replace(m, question=replace(m.question, device_facts=of)) for m in (measured("a", 2.0),)])
        for name, of in (("guessed", guessed), ("calibrated", tuple(facts)))
    }
    assert 1 < said["calibrated"] < 1.15 < said["guessed"]


def test_in_a_world_as_it_is_believed_to_be_each_further_kernel_helps_on_the_average() -> None:
    """Devices, bounds and kernels are off by as much as is believed; 200 such worlds."""
    random, counts = np.random.default_rng(3), (1, 3, 10, 30)
    left: dict[int, list[float]] = {count: [] for count in (0, *counts)}
    for _ in range(200):
        shares, places = random.dirichlet(np.full(4, 0.3), 50), random.normal(size=(50, 2))
        alike = (
            DEVICE_DEVIATION**2
            + BOUND_DEVIATION**2 * np.exp(-distances(shares) / (2 * REACH**2))
            + ALIKE_DEVIATION**2 * np.exp(-distances(places) / 2)
        )
        systematic = np.linalg.cholesky(alike + 1e-9 * np.eye(50)) @ random.normal(size=50)
        errors = systematic + KERNEL_DEVIATION * random.normal(size=50)
        launches = Launches(shares, places)
        left[0].append(float(np.mean(errors[30:] ** 2)))
        for count in counts:
            names, first = [f"{n}" for n in range(count)], np.arange(count)
            found = correction_of(names, launches.at(first), errors[:count], False).shifts(
                launches.at(np.arange(30, 50))
            )
            left[count].append(float(np.mean((errors[30:] - found) ** 2)))
    mean = [float(np.mean(each)) for each in left.values()]
    assert mean == sorted(mean, reverse=True)
    assert KERNEL_DEVIATION**2 < mean[-1] < 1.4 * KERNEL_DEVIATION**2 < 0.7 * mean[0]


def distances(places: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """[n, dimensions] -> [n, n], squared."""
    found: npt.NDArray[np.float64] = ((places[:, None] - places[None]) ** 2).sum(axis=2)
    return found


@given(st.lists(st.floats(-1.5, 1.5), min_size=3, max_size=12), st.integers(1, 3))
def test_errors_with_a_kernel_left_out_are_those_that_the_others_leave(errors: list[float], launches: int) -> None:
    kernels = [f"k{at // launches}" for at in range(len(errors))]
    shares = np.abs(np.sin(np.arange(len(errors) * 4))).reshape(-1, 4)
    known = Launches(shares / shares.sum(axis=1, keepdims=True), np.zeros((len(errors), 0)))
    correction = correction_of(kernels, known, np.array(errors), True)
    left = left_out_errors(correction)
    for at, kernel in enumerate(kernels):
        expected = correction.errors[at] - correction.shifts(known.at(np.array([at])), kernel)[0]
        assert left[at] == pytest.approx(expected, abs=1e-8)


def test_a_correction_has_to_prove_itself_once_many_kernels_are_measured() -> None:
    slow = Correction.fitted([measured(f"k{at}", 2.0) for at in range(2 * FEWEST_TO_JUDGE)])
    assert slow.is_used
    random = np.random.default_rng(3)
    chance = Correction.fitted(
        [measured(f"k{at}", float(np.exp(random.choice([-0.4, 0.4])))) for at in range(2 * FEWEST_TO_JUDGE)]
    )
    assert not chance.is_used
    assert chance.applied(asked("new"), SAID) == SAID
    assert slow.applied(asked("new"), SAID).is_corrected


def test_a_calibrated_device_that_is_plainly_far_off_is_believed_once_many_kernels_say_so() -> None:
    facts = [0.0] * len(DEVICE_FACT_NAMES)
    facts[DEVICE_FACT_NAMES.index("shape.calibrated")] = 1.0

    def said(count: int) -> float:
        random = np.random.default_rng(2)
        off = [2.0 * float(np.exp(random.normal() * 0.3)) for _ in range(count)]
        known = [measured(f"k{n}", off[n], place=(9.0 * n, 0.0)) for n in range(count)]
        return factor([replace(m, question=replace(m.question, device_facts=tuple(facts))) for m in known])

    assert 1.1 < said(FEWEST_TO_JUDGE // 2) < 1.6 < said(FEWEST_TO_JUDGE) < 2.1


def test_what_a_family_teaches_of_itself_proves_nothing() -> None:
    """Each family is off in its own way, and all of its kernels are alike: nothing carries over to another family."""
    known = [
        replace(measured(f"k{family}.{n}", 2.2 ** (-1) ** family, place=(9.0 * family, 0.0)), group=f"f{family}")
        for family in range(12)
        for n in range(4)
    ]
    assert Correction.fitted([replace(each, group="") for each in known]).is_used
    assert not Correction.fitted(known).is_used


def test_intervals_become_wide_enough_where_answers_are_further_off_than_they_say() -> None:
    random = np.random.default_rng(3)
    known = [measured(f"k{n}", float(np.exp(random.normal() * 1.5))) for n in range(100)]
    found = Correction.fitted(known)
    assert 1.5 < found.stretch < WIDEST
    q = found.applied(asked("new"), SAID).runtime_us
    covered = np.mean([q.p10 <= each.measured_us <= q.p90 for each in known])
    assert covered > COVERED - 0.1
    assert q.p10 < q.p50 < q.p90


@given(
    st.lists(st.tuples(st.floats(-3, 3), st.floats(0, 2), st.floats(0, 2)), min_size=1, max_size=30), st.integers(1, 30)
)
def test_intervals_are_never_narrowed_nor_stretched_beyond_reason(
    launches: list[tuple[float, float, float]], groups: int
) -> None:
    errors, widths = np.array([each[0] for each in launches]), np.array([each[1:] for each in launches])
    assert NARROWEST <= stretch_of(errors, widths, groups) <= WIDEST
    assert stretch_of(errors / 2, widths, groups) <= stretch_of(errors, widths, groups)
