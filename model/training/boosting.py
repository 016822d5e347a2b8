"""Boosted trees, trained with LightGBM and kept as plain arrays (see `model.learned.forest`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import lightgbm
import numpy as np
import numpy.typing as npt

from model.learned.forest import Floats, Forest, forest_of


@dataclass(frozen=True, slots=True)
class Boosting:
    """How trees are grown. Names are LightGBM's; `objective` `l1` is the median, `quantile` takes `alpha`."""

    rounds: int = 1500
    objective: str = "l1"
    alpha: float = 0.9
    learning_rate: float = 0.05
    num_leaves: int = 63
    max_depth: int = 12  # an answer walks so many levels
    min_data_in_leaf: int = 20
    feature_fraction: float = 0.2
    bagging_fraction: float = 0.7
    lambda_l2: float = 1.0
    num_threads: int = 2
    seed: int = 0


def grow(facts: Floats, target: Floats, weight: Floats, recipe: Boosting) -> Forest:
    """`facts` [rows, features] may hold NaN; the same forest for the same seed and number of threads."""
    asked: dict[str, Any] = {name: value for name, value in asdict(recipe).items() if name != "rounds"}
    asked |= {"bagging_freq": 1, "verbose": -1, "deterministic": True, "force_row_wise": True}
    booster = lightgbm.train(asked, lightgbm.Dataset(facts, target, weight=weight), recipe.rounds)
    trees = [_arrays(each["tree_structure"]) for each in booster.dump_model()["tree_info"]]
    return forest_of(trees, 0.0)


def _arrays(root: Mapping[str, Any]) -> dict[str, npt.NDArray[np.generic]]:
    """Return one tree's nodes in a row, its root first; a leaf's value has the learning rate in it."""
    rows: list[list[float]] = []  # feature, threshold, left, right, nan_left, value, is_leaf

    def add(node: Mapping[str, Any]) -> int:
        own = len(rows)
        if "leaf_value" in node:
            rows.append([0, 0, own, own, 0, node["leaf_value"], 1])
            return own
        # Where training saw no NaN, LightGBM takes it for zero.
        zero_left = node["threshold"] >= 0
        nan_left = node["default_left"] if node["missing_type"] == "NaN" else zero_left
        rows.append([node["split_feature"], node["threshold"], 0, 0, nan_left, 0.0, 0])
        rows[own][2] = add(node["left_child"])
        rows[own][3] = add(node["right_child"])
        return own

    add(root)
    names = ("feature", "threshold", "left", "right", "nan_left", "value", "is_leaf")
    return {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
