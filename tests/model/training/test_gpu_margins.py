"""The intervals of GPU predictions: what they hold of kernels and devices that they were not taken from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from model.gpu_intervals import MEMORY_BOUND
from model.training.gpu_margins import class_margins, coverage, lines, write_margins
from model.training.public_rows import Measured

NAMES = ("law.total", "gpu.memory_us")
FAMILIES, DEVICES, ROWS = 8, 8, 40  # rows of each family on each device


def _made_up(spread: dict[str, float], maker: str = "NVIDIA CUDA") -> Measured:
    """Every prediction is 100 us; `spread` are the deviations of the logarithm, by what launches are short of."""
    random = np.random.default_rng(5)
    columns: list[tuple[float, float, str, str]] = []
    for family in range(FAMILIES):
        for device in range(DEVICES):
            for row in range(ROWS):
                bound = "memory" if row % 2 else "cores"
                share = MEMORY_BOUND + (0.2 if bound == "memory" else -0.2)
                time_us = 100 * float(np.exp(random.normal(0.0, spread[bound])))
                columns.append((time_us, 100 * share, f"device {device}", f"family{family} a"))
    times, memory, devices, families = (np.array(each) for each in zip(*columns, strict=True))
    count = len(times)
    facts = np.stack([np.full(count, np.log2(100.0)), np.log2(memory.astype(float))], 1).astype(np.float32)
    return Measured(
        facts, NAMES, times.astype(float), np.zeros(count), np.zeros(count), devices, np.full(count, maker), families,
        np.arange(count).astype(str), np.full(count, "source"),
    )  # fmt: skip


def test_four_of_five_launches_of_kernels_and_devices_left_out_lie_inside() -> None:
    found = coverage(_made_up({"memory": 0.1, "cores": 0.5}))
    assert len(found) == FAMILIES
    assert np.mean([each.covered_percent for each in found]) == pytest.approx(80, abs=4)
    assert "| all | | 2560 |" in list(lines(found))[-1]


def test_what_is_short_of_memory_has_margins_of_its_own() -> None:
    found = {each.bound: each.margins for each in class_margins(_made_up({"memory": 0.1, "cores": 0.5}))}
    assert found["memory"].above == pytest.approx(np.exp(1.28 * 0.1), rel=0.05)
    assert found["cores"].above == pytest.approx(np.exp(1.28 * 0.5), rel=0.1)
    assert found["cores"].below == pytest.approx(np.exp(-1.28 * 0.5), rel=0.1)


def test_a_kernel_of_many_rows_counts_as_much_as_one_of_few() -> None:
    rows = _made_up({"memory": 0.1, "cores": 0.1})
    many = rows.family == "family0 a"
    slow = np.where(many, 3.0, 1.0)
    kept = many | (np.arange(len(rows)) % 9 == 0)
    moved = Measured(
        rows.facts, rows.fact_names, rows.runtime_us * slow, rows.least_us, rows.noise_percent, rows.device, rows.maker,
        rows.family, rows.key, rows.source,
    ).where(kept)  # fmt: skip
    # One family of eight is off, and has more rows than all others together: p90 lies in it, the median far below.
    assert many.sum() > kept.sum() - many.sum()
    (memory,) = (each.margins for each in class_margins(moved) if each.bound == "memory")
    assert memory.above == pytest.approx(3.0, rel=0.3)
    assert memory.below == pytest.approx(np.exp(-1.28 * 0.1), rel=0.1)


def test_a_vendor_with_few_rows_shares_the_margins_of_others(tmp_path: Path) -> None:
    found = class_margins(_made_up({"memory": 0.1, "cores": 0.1}, maker="Apple"))
    assert {each.vendor for each in found} == {"others"}
    write_margins(found, tmp_path / "margins.csv")
    assert (tmp_path / "margins.csv").read_text().splitlines()[1].startswith("others,memory,0.8")
