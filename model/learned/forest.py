"""Boosted regression trees as flat arrays: the trees of all forests are walked side by side, a level at a time.

Trained elsewhere (`model.training.boosting`); here only numpy is needed, so that an answer costs no other library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
_Indices = npt.NDArray[np.intp]

ROWS_AT_ONCE = 16  # so that what is looked at stays in the cache
_GROUPS_KEPT = 8


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
        found: Floats = predict_each((self,), rows)[0]
        return found


def predict_each(forests: tuple[Forest, ...], rows: Floats) -> Floats:
    """[rows, features] -> [forests, rows]. Walking them together costs little more than walking one of them."""
    packed = _packed(forests)
    found = np.empty((len(forests), len(rows)), np.float32)
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = slice(start, start + ROWS_AT_ONCE)
        leaves = packed.value.take(_leaves(packed, rows[some]))  # [rows, trees]
        sums = np.add.reduceat(leaves, packed.first, axis=1, dtype=np.float64).astype(np.float32)
        found[:, some] = (sums + packed.baseline).T
    return found


# In one piece, so that a look at a node fetches one line of memory.
_NODE = np.dtype([("threshold", np.float32), ("left", np.int32)])


@dataclass(frozen=True, slots=True, eq=False)
class _Packed:
    """Several forests as they are walked: nodes level by level, a right child behind its left one.

    So the roots come first, and a child is `left` and perhaps one. Nothing is above a leaf's threshold. What a walk
    looks at is kept small: from one answer to the next the caches hold other things, and walking is waiting for memory.
    """

    trees: _Indices  # their roots
    first: _Indices  # tree of each forest
    baseline: Floats  # of each forest
    nodes: npt.NDArray[np.void]
    feature: npt.NDArray[np.int16]
    nan_right: npt.NDArray[np.bool_]
    value: Floats
    depth: int


def _leaves(packed: _Packed, rows: Floats) -> _Indices:
    """[rows, features] -> [rows, trees]."""
    facts = np.ascontiguousarray(rows, np.float32).ravel()
    has_nan = bool(np.isnan(facts).any())
    first = (np.arange(len(rows)) * rows.shape[1])[:, None]  # of each row
    at: _Indices = packed.trees[None].repeat(len(rows), axis=0)
    for _ in range(packed.depth):
        node, feature = packed.nodes.take(at), packed.feature.take(at)
        x = facts.take(feature + first if len(rows) > 1 else feature)
        goes_right = x > node["threshold"]
        if has_nan:
            goes_right |= np.isnan(x) & packed.nan_right.take(at)
        at = node["left"] + goes_right
    return at


@lru_cache(_GROUPS_KEPT)
def _packed(forests: tuple[Forest, ...]) -> _Packed:
    starts = np.cumsum([0, *(len(f.value) for f in forests)])[:-1]
    ends = np.cumsum([len(f.roots) for f in forests])
    left, right = (
        np.concatenate([getattr(f, side).astype(np.intp) + at for f, at in zip(forests, starts, strict=True)])
        for side in ("left", "right")
    )
    is_leaf = left == np.arange(len(left))
    level = np.concatenate([f.roots.astype(np.intp) + at for f, at in zip(forests, starts, strict=True)])
    levels, children = [], []  # by the new order: the old numbers, and the new number of the left child
    done = 0
    while len(level):
        levels.append(level)
        inner = ~is_leaf[level]
        own = done + np.arange(len(level))
        done += len(level)
        children.append(np.where(inner, done + 2 * (np.cumsum(inner) - 1), own))
        level = np.stack([left[level[inner]], right[level[inner]]], axis=1).ravel()
    order = np.concatenate(levels)
    leaf = is_leaf[order]

    def joined(name: str) -> npt.NDArray[np.generic]:
        found: npt.NDArray[np.generic] = np.concatenate([getattr(f, name) for f in forests])[order]
        return found

    nodes = np.empty(len(order), _NODE)
    nodes["left"] = np.concatenate(children)
    nodes["threshold"] = np.where(leaf, np.inf, joined("threshold"))
    return _Packed(
        trees=np.arange(int(ends[-1])),
        first=ends - [len(f.roots) for f in forests],
        baseline=np.array([f.baseline for f in forests], np.float32),
        nodes=nodes,
        feature=joined("feature").astype(np.int16),
        nan_right=~joined("nan_left").astype(bool) & ~leaf,
        value=joined("value").astype(np.float32),
        depth=max(f.depth for f in forests),
    )


_MOST = 3e38  # of single precision
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
        parts["threshold"].append(np.where(leaf, np.inf, np.clip(tree["threshold"], -_MOST, _MOST)).astype(np.float32))
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
