"""How wide the intervals of GPU predictions are, by what is known of such devices and launches."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from model.device_catalog import find_builtin
from model.gpu_intervals import LEAST, UNKNOWN, Margins, margins_of
from model.launch.launch import Launch
from model.opencl.program import read_program
from model.predictor import Predictor
from model.work.analyse import analyse

COPY = "kernel void k(global float *x, global const float *y) { int i = get_global_id(0); x[i] = y[i]; }"
GUESS = COPY.replace("x[i] = y[i]", "while (y[i] > x[i]) i++; x[i] = 1")


def spread(text: str, device_id: str) -> tuple[float, float]:
    """p10 and p90 over the median."""
    device = find_builtin(device_id)
    assert device is not None
    program = read_program(text)
    launch = Launch((1 << 24,), (256,), buffers=(("x", 1 << 24), ("y", 1 << 24)))
    runtime = Predictor().predict(analyse(program, program.kernels[0]), launch, device).runtime_us
    return runtime.p10 / runtime.p50, runtime.p90 / runtime.p50


def test_gpus_of_a_vendor_that_was_measured_are_known_within_a_factor_of_two() -> None:
    low, high = spread(COPY, "nvidia-geforce-rtx-3080")
    assert 0.4 < low < 1 / LEAST + 1e-9
    assert LEAST - 1e-9 < high < 2.5


def test_what_had_to_be_assumed_widens_the_interval() -> None:
    known, guessed = (spread(text, "nvidia-geforce-rtx-3080") for text in (COPY, GUESS))
    assert guessed[0] < known[0] < known[1] < guessed[1]


def test_others_share_what_little_was_measured_on_them() -> None:
    device = find_builtin("nvidia-geforce-rtx-3080")
    assert device is not None
    other = replace(device, name="Immortalis-G925", platform="ARM Platform")
    assert margins_of(other) != margins_of(device)
    assert margins_of(other).below >= 1 / UNKNOWN


def test_doubts_add_as_independent_factors() -> None:
    widened = Margins(0.5, 2.0).widened(math.log(2.0))
    assert widened.above == pytest.approx(2 ** math.sqrt(2))
    assert widened.below == pytest.approx(2 ** -math.sqrt(2))
    same = Margins(0.5, 3.0).widened(0.0)
    assert (same.below, same.above) == pytest.approx((0.5, 3.0))
