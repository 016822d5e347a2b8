"""Boosted regression trees as flat arrays: all trees are walked side by side, a level at a time.

Trained elsewhere (`model.training.boosting`); here only numpy is needed, so that an answer costs no other library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Nodes of all trees in one row. A leaf is its own child on both sides, so that walking on changes nothing.

    `roots` [trees]; the others [nodes]. A row goes to `left` where its feature is at most `threshold`, and where it is
    NaN as `nan_left` says. `depth` is that of the deepest tree.
    """

    roots: Ints
    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    nan_left: npt.NDArray[np.bool_]
    value: Floats
    baseline: float
    depth: int

    def predict(self, rows: Floats) -> Floats:
        """[rows, features] -> [rows]: the baseline and the sum of a leaf of each tree."""
        at = np.broadcast_to(self.roots, (len(rows), len(self.roots))).copy()  # [rows, trees]
        place = np.arange(len(rows))[:, None]
        for _ in range(self.depth):
            x = rows[place, self.feature[at]]
            goes_left = np.where(np.isnan(x), self.nan_left[at], x <= self.threshold[at])
            at = np.where(goes_left, self.left[at], self.right[at])
        sums: Floats = self.value[at].sum(axis=1, dtype=np.float64).astype(np.float32) + np.float32(self.baseline)
        return sums


ARRAYS = ("roots", "feature", "threshold", "left", "right", "nan_left", "value")


def forest_of(trees: Sequence[Mapping[str, npt.NDArray[np.generic]]], baseline: float) -> Forest:
    """From trees with arrays `feature`, `threshold`, `left`, `right`, `nan_left`, `value`, `is_leaf`, root first."""
    sizes = [len(tree["value"]) for tree in trees]
    starts = np.cumsum([0, *sizes[:-1]]).astype(np.int32)
    parts: dict[str, list[npt.NDArray[np.generic]]] = {name: [] for name in ARRAYS}
    deepest = 0
    for start, tree in zip(starts, trees, strict=True):
        own = np.arange(len(tree["value"]))
        leaf = tree["is_leaf"].astype(bool)
        left = np.where(leaf, own, tree["left"]).astype(np.int32)
        right = np.where(leaf, own, tree["right"]).astype(np.int32)
        parts["left"].append(left + start)
        parts["right"].append(right + start)
        parts["feature"].append(np.where(leaf, 0, tree["feature"]).astype(np.int32))
        parts["threshold"].append(np.where(leaf, np.inf, tree["threshold"]).astype(np.float32))
        parts["nan_left"].append(tree["nan_left"].astype(bool))
        parts["value"].append(np.where(leaf, tree["value"], 0.0).astype(np.float32))
        deepest = max(deepest, _depth(left, right, leaf))
    joined = {name: np.concatenate(arrays) for name, arrays in parts.items() if name != "roots"}
    return Forest(roots=starts, baseline=baseline, depth=deepest, **joined)


def _depth(left: Ints, right: Ints, leaf: npt.NDArray[np.bool_]) -> int:
    level = np.array([0], dtype=np.int32)
    depth = 0
    while len(inner := level[~leaf[level]]):
        level = np.concatenate([left[inner], right[inner]])
        depth += 1
    return depth
