"""Trees walked with numpy alone say what the library that grew them says."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

lightgbm = pytest.importorskip("lightgbm", reason="the extra `train` grows trees")

from model.learned.cost_network import RUNTIMES, CostNetwork  # noqa: E402
from model.learned.ensemble import Ensemble, Margins, Members  # noqa: E402
from model.learned.forest import Floats, Forest, predict_each  # noqa: E402
from model.learned.novelty import Novelty  # noqa: E402
from model.learned.weights import arrays_of, ensemble_from  # noqa: E402
from model.training.boosting import Boosting, grow  # noqa: E402

RECIPE = Boosting(rounds=30, num_leaves=15, min_data_in_leaf=5, feature_fraction=0.6, num_threads=1)


def drawn(seed: int, share_unknown: float = 0.3) -> tuple[Floats, Floats, Floats]:
    """Facts of which some are unknown and some whole numbers, a target that hangs on them, and weights."""
    random = np.random.default_rng(seed)
    facts = random.normal(size=(400, 6)).astype(np.float32)
    facts[:, 1] = np.round(facts[:, 1])
    target = facts[:, 0] * 2 + np.abs(facts[:, 1]) + (facts[:, 2] > 0)
    facts[random.random(facts.shape) < share_unknown] = np.nan
    facts[:, 5] = np.nan
    return facts, target.astype(np.float32), random.uniform(0.5, 1, len(target)).astype(np.float32)


def said_by_lightgbm(facts: Floats, target: Floats, weight: Floats, recipe: Boosting, asked: Floats) -> Floats:
    own: dict[str, Any] = asdict(recipe)
    rounds = own.pop("rounds")
    own |= {"bagging_freq": 1, "verbose": -1, "deterministic": True, "force_row_wise": True}
    booster = lightgbm.train(own, lightgbm.Dataset(facts, target, weight=weight), rounds)
    found: Floats = booster.predict(asked)
    return found


@pytest.mark.parametrize("share_unknown", [0.0, 0.3])
@pytest.mark.parametrize("objective", ["l1", "quantile", "l2"])
def test_a_forest_says_what_the_library_says(objective: str, share_unknown: float) -> None:
    recipe = replace(RECIPE, objective=objective)
    seen, asked = drawn(1, share_unknown), drawn(2)[0]  # what was never NaN in training may be later
    expected = said_by_lightgbm(*seen, recipe, asked)
    assert grow(*seen, recipe).predict(asked) == pytest.approx(expected, abs=1e-5)
    assert np.ptp(expected) > 1


@pytest.fixture(scope="module")
def forest() -> Forest:
    return grow(*drawn(1), RECIPE)


def test_the_same_seed_grows_the_same_forest_and_another_does_not(forest: Forest) -> None:
    asked = drawn(2)[0]
    assert np.array_equal(grow(*drawn(1), RECIPE).predict(asked), forest.predict(asked))
    assert not np.array_equal(grow(*drawn(1), replace(RECIPE, seed=1)).predict(asked), forest.predict(asked))


def test_where_nothing_can_be_told_a_forest_says_what_is_usual() -> None:
    facts = np.full((100, 3), np.nan, np.float32)
    target = np.full(100, 2.5, np.float32)
    found = grow(facts, target, np.ones(100, np.float32), RECIPE).predict(facts)
    assert found == pytest.approx(np.full(100, 2.5), abs=1e-5)


@given(st.lists(st.floats(width=32, allow_nan=True, allow_infinity=True), min_size=6, max_size=6))
def test_whatever_is_asked_has_a_finite_answer(forest: Forest, asked: list[float]) -> None:
    (found,) = forest.predict(np.array([asked], np.float32))
    assert np.isfinite(found)


def test_forests_that_are_walked_together_say_what_each_says_alone(forest: Forest) -> None:
    asked = drawn(2)[0][:50]  # more rows than are walked at once
    smaller = grow(*drawn(3), replace(RECIPE, rounds=5))
    found = predict_each((forest, smaller, forest), asked)
    alone = np.stack([each.predict(asked) for each in (forest, smaller, forest)])
    assert found == pytest.approx(alone, abs=1e-6)
    assert predict_each((forest, smaller), asked[:0]).shape == (2, 0)


def test_as_it_is_kept_a_forest_says_the_same_to_half_precision(forest: Forest) -> None:
    asked = drawn(2)[0]
    kept = kept_and_read(forest)
    rounding = np.abs(forest.value).max() * 2**-11 * len(forest.roots)
    assert np.abs(kept.predict(asked) - forest.predict(asked)).max() <= rounding
    assert np.array_equal(kept_and_read(kept).predict(asked), kept.predict(asked))


def kept_and_read(forest: Forest) -> Forest:
    one = np.zeros(1, np.float32)
    none, runtimes = np.zeros(0, np.float32), np.zeros((len(RUNTIMES), 8), np.float32)
    prices = CostNetwork(one, one, none.astype(np.int64), none, none, runtimes, (), runtimes[:, :1])
    margins, nobody = Margins(1, 1), Members((), (), ())
    new = Novelty(one, one, one[None], one[None], 0, 1)
    return ensemble_from(*arrays_of(Ensemble(prices, nobody, nobody, forest, new, margins, margins))).spread
