"""Which pairs count as versions of each other, and what is said of their predicted ratios."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from model.training.pair_figures import _figures, pairs_of
from model.training.rows import Rows

CHOICES = {
    "a": {"type": "float", "walk": "chunk", "store": "plain", "index": "int"},
    "b": {"type": "half", "walk": "chunk", "store": "plain", "index": "int"},
    "c": {"type": "half", "walk": "grid", "store": "other", "index": "long"},
}
FILES = {"p": "origin one.cl", "q": "origin one.cl", "r": "origin two.cl"}


def kinds(*launches: tuple[str, str, float], device: str = "pocl") -> set[tuple[str, frozenset[int]]]:
    """Return the pairs among launches: the kernel, what it varies, the size of its data and work-items."""
    kernels, vary, sizes = zip(*launches, strict=True)
    count = len(launches)
    rows = SimpleNamespace(
        kernel=np.array(kernels), vary=np.array(vary), data=np.array(sizes), items=np.array(sizes),
        family=np.array(["family"] * count), device_name=np.array([device] * count),
    )  # fmt: skip
    found = pairs_of(cast(Rows, cast(Any, rows)), np.arange(count), CHOICES, FILES)
    return {(kind, frozenset((a, b))) for kind, a, b in found}


def test_siblings_differ_in_few_choices_and_little_in_size() -> None:
    launches = [("a", "first", 1000.0), ("b", "first", 1500.0), ("c", "first", 1000.0), ("b", "first", 9000.0)]
    assert kinds(*launches) == {("siblings", frozenset({0, 1})), ("siblings", frozenset({1, 2}))}


def test_kernels_of_one_file_in_like_launches_count_and_one_kernel_in_other_groups() -> None:
    assert kinds(("p", "first", 64.0), ("q", "first", 128.0)) == {("kernels of one file", frozenset({0, 1}))}
    assert not kinds(("p", "first", 64.0), ("r", "first", 64.0))
    assert not kinds(("p", "first", 64.0), ("q", "first", 512.0))
    assert kinds(("p", "first", 64.0), ("p", "local", 64.0)) == {("another group size", frozenset({0, 1}))}
    assert not kinds(("p", "first", 64.0), ("p", "data", 64.0))


def test_errors_direction_and_coverage_of_ratios() -> None:
    quantiles = np.array([[0.8, 1.0, 1.2], [0.4, 0.5, 0.6], [1.1, 1.2, 1.3], [1.5, 2.0, 2.5]])
    found = _figures(quantiles, np.array([1.05, 0.5, 0.7, 4.0]))
    assert (found.pairs, found.differing) == (4, 3)
    assert found.right == pytest.approx(200 / 3)
    assert found.inside == 50
    assert found.width == pytest.approx(1.2, abs=0.05)
