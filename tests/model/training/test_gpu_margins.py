"""The intervals of GPU predictions: what they hold of kernels and devices that they were not taken from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from model.gpu_intervals import LEAST
from model.training.gpu_margins import class_margins, coverage, lines, write_margins
from model.training.public_rows import Measured

NAMES = ("analytic.total",)
FAMILIES, DEVICES, ROWS = 8, 8, 40  # rows of each family on each device


def _made_up(spread: float, maker: str = "NVIDIA CUDA") -> Measured:
    """Every prediction is 100 us; `spread` is the deviation of the logarithm of what was measured."""
    random = np.random.default_rng(5)
    families, devices, _ = (each.ravel() for each in np.indices((FAMILIES, DEVICES, ROWS)))
    count = FAMILIES * DEVICES * ROWS
    return Measured(
        np.full((count, 1), np.log2(100.0), np.float32), NAMES, 100 * np.exp(random.normal(0.0, spread, count)),
        np.zeros(count), np.zeros(count), np.char.add("device ", devices.astype(str)), np.full(count, maker),
        np.char.add(np.char.add("family", families.astype(str)), " a"), np.arange(count).astype(str),
        np.full(count, "source"),
    )  # fmt: skip


def test_most_launches_of_kernels_and_devices_left_out_lie_inside() -> None:
    found = coverage(_made_up(0.3))
    assert len(found) == FAMILIES
    assert np.mean([each.covered_percent for each in found]) == pytest.approx(84, abs=4)
    assert "| all | | 2560 |" in list(lines(found))[-1]


def test_margins_are_as_wide_as_what_was_seen_and_never_narrower_than_the_least() -> None:
    (found,) = class_margins(_made_up(0.3))
    assert found.margins.above == pytest.approx(np.exp(1.405 * 0.3), rel=0.05)
    assert found.margins.below == pytest.approx(np.exp(-1.405 * 0.3), rel=0.05)
    (sure,) = class_margins(_made_up(0.001))
    assert (sure.margins.below, sure.margins.above) == (1 / LEAST, LEAST)


def test_a_kernel_of_many_rows_counts_as_much_as_one_of_few() -> None:
    rows = _made_up(0.1)
    many = rows.family == "family0 a"
    slow = np.where(many, 3.0, 1.0)
    kept = many | (np.arange(len(rows)) % 9 == 0)
    moved = Measured(
        rows.facts, rows.fact_names, rows.runtime_us * slow, rows.least_us, rows.noise_percent, rows.device, rows.maker,
        rows.family, rows.key, rows.source,
    ).where(kept)  # fmt: skip
    # One family of eight is off, and has more rows than all others together: p90 lies in it, the median far below.
    assert many.sum() > kept.sum() - many.sum()
    (found,) = class_margins(moved)
    assert found.margins.above == pytest.approx(3.0, rel=0.3)
    assert found.margins.below == pytest.approx(np.exp(-1.405 * 0.1), rel=0.1)


def test_a_vendor_with_few_rows_shares_the_margins_of_others(tmp_path: Path) -> None:
    found = class_margins(_made_up(0.1, maker="Apple"))
    assert {each.vendor for each in found} == {"others"}
    write_margins(found, tmp_path / "margins.csv")
    assert (tmp_path / "margins.csv").read_text().splitlines()[1].startswith("others,0.8")
