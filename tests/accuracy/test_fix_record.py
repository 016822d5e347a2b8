"""The table of the fixes' track record: what it counts, and when a code should be off."""

from __future__ import annotations

from typing import Any

import pytest

from tests.accuracy.fix_record import precision, recall, table


def edit(measured: float, *, shown: bool = True, code: str = "only-read", **more: Any) -> dict[str, Any]:
    row = {"kernel": "k/0", "code": code, "shown": shown, "share": 1.0 if shown else 0.1, "predicted": 1.1, "load": 0.1}
    return {**row, "measured": measured, "beyond": False, "wrong": False, **more}


def test_precision_is_the_share_that_is_faster_by_5_percent() -> None:
    assert precision([edit(1.06), edit(1.04), edit(0.9), edit(2.0)]) == 0.5


def test_a_sampled_edit_stands_for_those_that_were_not_measured() -> None:
    assert recall([edit(1.2)] * 10 + [edit(1.2, shown=False), edit(1.0, shown=False)]) == pytest.approx(0.5)


def test_the_table_names_codes_whose_default_does_not_fit() -> None:
    rows = [{"kernel": "k/0", "candidates": 3}]
    rows += [edit(1.2, code="too-few-groups"), *[edit(1.0, code="too-few-groups")] * 9]
    rows += [edit(1.2, code="relaxed-math")] * 10 + [edit(1.0, code="only-read", wrong=True)] * 10
    said = table(rows)
    assert "`too-few-groups` should be off by default" in said
    assert "`relaxed-math` should be on by default" in said
    assert "`only-read` should" not in said
    assert "| `only-read` | yes | 10 | 0 % |" in said
    assert "1 kernels (0 of packages), 1 of them measured with 30 edits" in said
