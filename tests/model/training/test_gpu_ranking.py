"""What rankings are worth, on times made up so that the answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from model.training.gpu_ranking import FIRST, device_order, lines, top_losses
from model.training.public_rows import Measured

CONFIGURATIONS = 200


def _rows() -> Measured:
    """One kernel on two devices, one of them twice as fast; configurations take 100, 101, 102 ... us."""
    taken = np.concatenate([(100.0 + np.arange(CONFIGURATIONS)) * factor for factor in (1.0, 2.0)])
    count = len(taken)
    return Measured(
        np.zeros((count, 1), np.float32), ("analytic.total",), taken, np.zeros(count), np.zeros(count),
        np.repeat(["a", "b"], CONFIGURATIONS), np.full(count, "maker"), np.full(count, "gemm"),
        np.tile(np.arange(CONFIGURATIONS), 2).astype(str), np.full(count, "source"),
    )  # fmt: skip


def test_who_ranks_rightly_loses_nothing_and_knows_the_faster_device() -> None:
    rows = _rows()
    assert [each.loss_percent for each in top_losses(rows, rows.runtime_us)] == [0.0, 0.0]
    (order,) = device_order(rows, rows.runtime_us)
    assert (order.pairs, order.right_percent) == (CONFIGURATIONS, 100.0)


def test_who_ranks_backwards_measures_the_slowest_ten() -> None:
    rows = _rows()
    slowest = 100 + CONFIGURATIONS - FIRST
    losses = top_losses(rows, 1 / rows.runtime_us)
    assert [each.loss_percent for each in losses] == pytest.approx([slowest - 100] * 2)
    assert device_order(rows, 1 / rows.runtime_us)[0].right_percent == 0.0


def test_devices_that_are_nearly_alike_make_no_pair() -> None:
    rows = _rows()
    alike = rows.runtime_us / np.where(rows.device == "b", 1.9, 1.0)
    same = Measured(
        rows.facts, rows.fact_names, alike, rows.least_us, rows.noise_percent, rows.device, rows.maker, rows.family,
        rows.key, rows.source,
    )  # fmt: skip
    assert device_order(same, alike) == ()
    assert list(lines(top_losses(same, alike), ()))[-1].startswith("| all | 2 | 0 % | 0 |")
