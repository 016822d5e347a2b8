"""Shares of lines are worked out when somebody looks, and are to everybody who does a plain tuple."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from model.device_catalog import find_builtin
from model.engine import Engine
from model.line_costs import NO_LINE
from model.prediction import Prediction
from model.shares import LineCosts, line_costs

KERNEL = """// kernelcast: global=4096 local=64
__kernel void k(__global float *x) {
    int i = get_global_id(0);
    float v = x[i];
    x[i] = sin(v) / 3.0f;
}
"""


@pytest.fixture
def prediction() -> Prediction:
    device = find_builtin("generic-cpu")
    assert device is not None
    found = Engine().forecast(KERNEL, None, device).forecasts[0].prediction
    assert found is not None
    return found


def test_the_hottest_line_comes_first_and_shares_add_up(prediction: Prediction) -> None:
    shares = [line.share for line in prediction.lines]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    assert prediction.lines[0].line == 4
    assert {line.what for line in prediction.lines if line.line == NO_LINE} >= {"launch floor"}


def test_lines_are_equal_to_the_tuple_of_them_on_either_side(prediction: Prediction) -> None:
    device = find_builtin("generic-cpu")
    assert device is not None
    lines, plain = LineCosts(prediction.work, device), line_costs(prediction.work, device)
    assert lines == plain
    assert plain == lines
    assert (lines[:1], lines[0], len(lines), tuple(lines)) == (plain[:1], plain[0], len(plain), plain)
    placed = [replace(prediction.counted, costs=each) for each in (lines, plain)]
    assert hash(placed[0]) == hash(placed[1])
    assert lines != plain[1:]


def test_lines_are_pickled_as_the_tuple_that_they_are(prediction: Prediction) -> None:
    device = find_builtin("generic-cpu")
    assert device is not None
    assert pickle.loads(pickle.dumps(LineCosts(prediction.work, device))) == line_costs(prediction.work, device)
