"""Where a loop count stands in a buffer that nobody filled, the answer names buffer, line and what would say it."""

from __future__ import annotations

import pytest

from model.device_catalog import find_builtin
from model.engine import Engine

_TEXT = """typedef struct {{ uint salt[16]; uint iterations; }} Salt;
typedef struct {{ uint a, b; struct {{ uint rounds; }} inner; }} State;
__kernel void k(__global uint *x, __global const Salt *salt, __global const State *state) {{
  int i = get_global_id(0);
  uint y = x[i];
  {}
  x[i] = y;
}}
"""


@pytest.mark.parametrize(
    ("loop", "buffer", "fill"),
    [
        ("for (uint j = 0; j < salt->iterations; j++) y ^= y * j;", "salt", "fill.salt.iterations="),
        ("Salt s = salt[0]; for (uint j = 0; j < s.iterations - 1; j++) y ^= y * j;", "salt", "fill.salt.iterations="),
        ("uint n = state[i].inner.rounds; while (n--) y ^= y * n;", "state", "fill.state.inner.rounds="),
    ],
)
def test_the_buffer_the_line_and_the_fill_are_named_and_the_interval_is_wide(loop: str, buffer: str, fill: str) -> None:
    device = find_builtin("generic-gpu")
    assert device is not None
    (forecast,) = Engine().forecast(_TEXT.format(loop), None, device).forecasts
    prediction = forecast.prediction
    assert prediction is not None, forecast.problem
    (assumed,) = (each for each in prediction.assumptions if "how often the loop" in each.text)
    assert assumed.subject == buffer
    assert "line 6" in assumed.text
    assert fill in assumed.text
    assert prediction.runtime_us.p90 > 20 * prediction.runtime_us.p50
