"""Leave one GPU out: each method does what its name says, on measurements made up so that the answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("lightgbm", reason="the extra `train` grows trees")

from model.training.boosting import Boosting
from model.training.few_rows import Beliefs, expected_errors, likeness
from model.training.public_rows import Measured
from model.training.unseen_gpus import Method, UnseenScore, evaluate, others_us, predictions, trees_us
from model.training.unseen_tables import by_device, by_family

DEVICES = {"a": 1.0, "b": 2.0, "c": 0.5, "d": 1.5}  # factors on every time
NAMES = ("launch.waste", "analytic.total", "analytic.memory", "gpu.together_us", "gpu.occupancy", "device.size")
QUICK = Boosting(rounds=60, learning_rate=0.2, num_leaves=8, feature_fraction=1.0, min_data_in_leaf=5)


def _made_up(*, waste: bool = True, factors: bool = True) -> Measured:
    """Launches that take their analytical time, times a waste that a fact tells, times their device's factor."""
    random = np.random.default_rng(3)
    launches = 120
    total, wasted = random.uniform(3, 12, launches), random.integers(0, 3, launches)
    columns = []
    for device, factor in DEVICES.items():
        runtime = np.exp2(total) * (1.0 + wasted * waste) * (factor if factors else 1.0)
        facts = np.stack([wasted, total, total - 1, total, np.zeros(launches), np.full(launches, ord(device))], 1)
        columns.append((facts, runtime, np.full(launches, device)))
    facts, runtime, device = (np.concatenate(each) for each in zip(*columns, strict=True))
    rows = len(runtime)
    return Measured(
        facts.astype(np.float32), NAMES, runtime, np.zeros(rows), np.full(rows, 0.5), device, np.full(rows, "maker"),
        np.where(np.arange(rows) % 2, "odd", "even"), np.tile(np.arange(launches), len(DEVICES)).astype(str),
        np.full(rows, "source"),
    )  # fmt: skip


def test_the_mean_of_the_others_needs_but_one_factor_where_devices_differ_by_one() -> None:
    rows = _made_up()
    np.testing.assert_allclose(others_us(rows), rows.runtime_us, rtol=1e-6)


def test_the_mean_of_the_others_holds_where_devices_lack_launches_and_says_nothing_of_what_none_has() -> None:
    rows = _made_up()
    kept = ~((rows.device == "b") & (rows.key.astype(int) < 60)) & ((rows.key != "7") | (rows.device == "a"))
    some = rows.where(kept)
    said = others_us(some)
    alone = (some.device == "a") & (some.key == "7")
    assert np.isnan(said[alone]).all()
    np.testing.assert_allclose(said[~alone], some.runtime_us[~alone], rtol=1e-6)


def test_trees_know_from_other_devices_what_a_fact_costs() -> None:
    rows = _made_up(factors=False)
    own = rows.device == "d"
    said = trees_us(rows.where(~own), rows.where(own), QUICK)
    np.testing.assert_allclose(said, rows.runtime_us[own], rtol=0.1)


def test_trees_never_promise_less_than_the_roofline() -> None:
    rows = _made_up(waste=False)
    rows.least_us[:] = 3 * rows.runtime_us
    own = rows.device == "d"
    assert (trees_us(rows.where(~own), rows.where(own), QUICK) >= rows.least_us[own]).all()


def test_ten_rows_tell_how_far_a_device_is_off() -> None:
    rows = _made_up()
    scores = evaluate(rows, QUICK)
    of = {(s.device, s.family, s.method): s for s in scores}
    for device, factor in DEVICES.items():
        before, after = of[device, "even", Method.TREES], of[device, "even", Method.FEW_ROWS]
        if factor in (2.0, 0.5):  # those in the middle are met by the mean of the others
            assert after.median_ape_percent < before.median_ape_percent
        assert after.rows < before.rows, "what was measured is not asked"
        assert after.within_2x_percent > 90
    assert all(score.noise_percent == pytest.approx(0.5) for score in scores)


def test_the_analytical_model_with_one_factor_are_right_where_nothing_else_is_wrong() -> None:
    rows = _made_up(waste=False)
    for said in predictions(rows, QUICK)[Method.ANALYTIC_OFFSET]:
        known = np.isfinite(said)
        assert known.sum() == len(rows) - 10 * len(DEVICES)
        np.testing.assert_allclose(said[known], rows.runtime_us[known], rtol=1e-5)


def test_an_error_that_was_seen_is_expected_of_what_is_alike_and_hardly_of_what_is_not() -> None:
    facts = likeness(np.array([[0.0, 0.0], [0.1, 0.0], [9.0, 9.0], [9.0, 9.1]]))
    known, errors = facts[[0, 2]], np.array([0.3, 0.0])
    alike, same, _, other = expected_errors(known, errors, facts, Beliefs(shared=0.1, alike=0.5))
    assert alike == pytest.approx(0.3, abs=0.08)
    assert same == pytest.approx(alike, abs=0.02)
    assert abs(other) < 0.05


def test_one_launch_that_went_wrong_does_not_spoil_what_is_said_of_others() -> None:
    facts = likeness(np.random.default_rng(2).normal(size=(11, 3)))
    errors = np.zeros(10)
    errors[0] = 4.0  # 50 times as long as predicted
    assert np.abs(expected_errors(facts[:10], errors, facts[10:])).max() < np.log(1.5)


def test_tables_hold_a_line_for_every_score_and_means_over_all() -> None:
    noise = (1.0, math.nan)
    scores = [
        UnseenScore(device, "gemm", Method.ANALYTIC, 100, mape, mape, 50.0, math.nan, each)
        for device, mape, each in zip("ab", (10.0, 30.0), noise, strict=True)
    ]
    assert "| gemm | analytical model alone | 2 | 200 | 20 % | 20 % | 50 % | - |" in list(by_family(scores))
    assert list(by_device(scores))[-1].startswith("| all | analytical model alone | 2 |")


def test_a_device_with_few_rows_is_learned_from_but_makes_no_line() -> None:
    rows = _made_up()
    kept = rows.where((rows.device != "d") | (rows.key.astype(int) < 2))
    scores = evaluate(kept, QUICK)
    assert {score.device for score in scores} == {"a", "b", "c"}
    found = predictions(kept, QUICK)
    assert np.isnan(found[Method.TREES][0][kept.device == "d"]).all()
    assert np.isfinite(found[Method.ANALYTIC][0]).all()
