"""The figures that are told of predictions, against numbers made by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.training.figures import (
    Figures,
    data_size_ordering,
    figures_of,
    local_size_choice,
    noise_of,
    rank_correlation,
)
from model.training.rows import Floats, Rows


def log2(*times_us: float) -> Floats:
    return np.log2(np.array(times_us)).astype(np.float32)


def rows(runtime_us: Sequence[float], **columns: Sequence[Any]) -> Rows:
    """One device and kernel, of split `train`, unless said otherwise; without facts."""
    n = len(runtime_us)
    nothing = np.zeros((n, 0), np.float32)
    usual: dict[str, Sequence[Any]] = {
        "kernel": ["k"] * n, "launch_key": [f"{at}" for at in range(n)], "device_name": ["pocl"] * n,
        "family": ["f"] * n, "group": ["g"] * n, "origin": ["o"] * n, "split": ["train"] * n, "vary": ["first"] * n,
        "is_repeat": [False] * n, "is_disturbed": [False] * n,
    }  # fmt: skip
    numbers = {name: np.array(columns.pop(name, [0.0] * n), np.float32) for name in ("weight", "items", "data")}
    return Rows(
        nothing, nothing, nothing, nothing, nothing, np.zeros(n, np.int64), log2(*runtime_us), **numbers,
        **{name: np.array(values) for name, values in (usual | columns).items()},
    )  # fmt: skip


def test_figures_of_four_rows() -> None:
    """Said 100, 300, 10 and 90 of what takes 100, 100, 40 and 100 us."""
    found = figures_of(log2(100, 300, 10, 90), log2(100, 100, 40, 100))
    assert found.rows == 4
    assert found.mape == pytest.approx((0 + 200 + 75 + 10) / 4, rel=1e-4)
    assert found.median_ape == pytest.approx((10 + 75) / 2, rel=1e-4)
    assert found.within_2x == 50
    assert found.rank_correlation == pytest.approx(rank_correlation(log2(3, 4, 1, 2), log2(3, 3, 1, 3)))


def test_a_factor_of_two_is_within_two_on_both_sides() -> None:
    assert figures_of(log2(128, 32), log2(64, 64)).within_2x == 100
    assert figures_of(log2(130, 31), log2(64, 64)).within_2x == 0


def test_predictions_that_are_right_are_not_off() -> None:
    truth = log2(3, 50, 700)
    assert figures_of(truth, truth) == Figures(3, 0, 0, 100, pytest.approx(1))


def test_no_rows_have_no_figures() -> None:
    found = figures_of(log2(), log2())
    assert found.rows == 0
    assert all(math.isnan(each) for each in (found.mape, found.median_ape, found.within_2x, found.rank_correlation))


def test_what_is_off_beyond_all_measure_is_still_a_number() -> None:
    assert math.isfinite(figures_of(np.array([1000.0], np.float32), np.array([0.0], np.float32)).mape)


def test_ranks_that_are_shared_are_means() -> None:
    """Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: covariance 4.5, variances 4.5 and 5."""
    a, b = np.array([1.0, 2.0, 2.0, 3.0], np.float32), np.array([1.0, 2.0, 3.0, 4.0], np.float32)
    assert rank_correlation(a, b) == pytest.approx(4.5 / math.sqrt(4.5 * 5), rel=1e-6)


def test_what_is_constant_has_no_order() -> None:
    assert math.isnan(rank_correlation(np.ones(3, np.float32), np.arange(3, dtype=np.float32)))


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=20, unique=True))
def test_only_the_order_counts(values: list[int]) -> None:
    a = np.array(values, np.float32)
    assert rank_correlation(a, a**3) == pytest.approx(1)
    assert rank_correlation(a, -a) == pytest.approx(-1)


def test_noise_is_between_a_row_and_its_repetition_when_nobody_disturbed_them() -> None:
    found = rows(
        [100, 110, 200, 100, 50, 500, 7],
        launch_key=["a", "a", "b", "b", "c", "c", "alone"],
        is_repeat=[False, True, False, True, False, True, True],
        is_disturbed=[False] * 5 + [True, False],
    )
    noise = noise_of(found)
    assert noise.pairs == 2
    assert noise.median == pytest.approx((10 + 100) / 2, rel=1e-4)
    assert noise.p90 == pytest.approx(10 + 0.9 * 90, rel=1e-4)


def test_noise_of_a_device_is_that_devices() -> None:
    found = rows(
        [100, 110, 100, 150],
        launch_key=["a"] * 4,
        is_repeat=[False, True] * 2,
        device_name=["pocl"] * 2 + ["intel"] * 2,
    )
    assert noise_of(found, "pocl").median == pytest.approx(10, rel=1e-4)
    assert noise_of(found, "intel").median == pytest.approx(50, rel=1e-4)
    nobody = noise_of(found, "gpu")
    assert nobody.pairs == 0
    assert math.isnan(nobody.median)


def test_data_sizes_are_ordered_within_a_kernel_and_a_global_size() -> None:
    """Kernel a is in order, b the wrong way round; c takes always the same, d has one data size alone."""
    measured = rows(
        [10, 20, 40, 10, 20, 10, 10.1, 10, 20],
        kernel=list("aaabbccdd"), data=[1, 2, 3, 1, 2, 1, 2, 1, 1], items=[64] * 9,
    )  # fmt: skip
    said = log2(1, 2, 3, 2, 1, 1, 2, 1, 2)
    everything = np.arange(9)
    found = data_size_ordering(measured, said, everything)
    assert (found.kernels, found.figure) == (2, pytest.approx(0))
    only_a = data_size_ordering(measured, said, everything[:3])
    assert (only_a.kernels, only_a.figure) == (1, pytest.approx(1))


def test_launches_of_other_global_sizes_say_nothing_of_data_sizes() -> None:
    measured = rows([10, 20], data=[1, 2], items=[64, 128])
    found = data_size_ordering(measured, log2(1, 2), np.arange(2))
    assert found.kernels == 0
    assert math.isnan(found.figure)


@pytest.mark.parametrize(("said", "percent"), [((1, 2, 3), 100), ((2, 1, 3), 100), ((2, 3, 1), 0)])
def test_the_local_size_that_is_said_to_be_best_is_among_the_best(said: tuple[float, ...], percent: float) -> None:
    measured = rows([100, 105, 200], vary=["first", "local", "local"])
    found = local_size_choice(measured, log2(*said), np.arange(3))
    assert (found.kernels, found.figure) == (1, percent)


def test_launches_that_differ_in_more_than_the_local_size_are_not_chosen_among() -> None:
    def chosen(*vary: str) -> int:
        return local_size_choice(rows([100, 10], vary=vary), log2(2, 1), np.arange(2)).kernels

    assert chosen("first", "local") == 1
    assert chosen("first", "global") == 0
    assert chosen("first", "data") == 0


def test_each_device_chooses_for_itself() -> None:
    measured = rows([10, 100, 100, 10], vary=["first", "local"] * 2, device_name=["pocl", "pocl", "intel", "intel"])
    found = local_size_choice(measured, log2(1, 2, 1, 2), np.arange(4))
    assert (found.kernels, found.figure) == (2, 50)


def test_rows_that_count_are_of_the_split_and_first_and_those_that_judge_undisturbed() -> None:
    found = rows(
        [1, 2, 3, 4], split=["train", "known", "train", "train"], is_repeat=[False, False, True, False],
        is_disturbed=[False, False, False, True],
    )  # fmt: skip
    assert found.where("train").tolist() == [0, 3]
    assert found.where("train", "known").tolist() == [0, 1, 3]
    assert found.judged("train", "known").tolist() == [0, 1]
