"""The repeatability report counts what it says it counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from model.device_catalog import builtin_devices
from profiler.measurement import Measurement
from tests.profiler.test_store import measurement
from tests.repeatability.kernels import requests
from tests.repeatability.pairs import Pair, figures
from tests.repeatability.report import in_words

FIRST = replace(measurement(), other_load_percent=1.0)  # 10 us, from 9.5 to 10.5


def pair(second_us: float, first: Measurement = FIRST) -> Pair:
    return Pair(first, replace(first, median_us=second_us), 10.0)


def test_a_pair_is_covered_if_the_first_interval_holds_the_second_median() -> None:
    assert pair(10.4).is_covered
    assert not pair(10.6).is_covered
    assert not pair(9.0).is_covered
    assert pair(9.0).difference_percent == pytest.approx(10)
    assert pair(11.0).stretch == pytest.approx(2.0)
    assert pair(9.75).stretch == pytest.approx(0.5)


def test_bars_are_judged_on_a_quiet_machine_only() -> None:
    good = [pair(10.1)] * 9 + [pair(20.0)]
    assert figures(good).covered == pytest.approx(0.9)
    assert in_words("CPU", figures(good)).endswith("meets the bars")
    assert in_words("CPU", figures([pair(20.0)] * 10)).endswith("misses the bars")
    busy = replace(FIRST, other_load_percent=60.0)
    assert "not judged" in in_words("CPU", figures([pair(20.0, busy)]))
    unknown = replace(FIRST, other_load_percent=None)
    assert "processor time of others: unknown" in in_words("CPU", figures([pair(10.0, unknown)]))


def test_kernels_of_our_own_are_found_each_with_a_launch() -> None:
    found = requests(builtin_devices()[0], 6, 5.0)
    assert len({(one.path, one.kernel.name) for one in found}) == 6
    assert {Path(one.path or "").parent.name for one in found} == {"kernels"}
