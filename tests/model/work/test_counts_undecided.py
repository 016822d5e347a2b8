"""What neither the launch nor the data's description decides is counted with a stated guess, never in silence."""

from __future__ import annotations

import pytest

from model.device import Device
from model.engine import Engine

FLOAT_BOUND = (
    "kernel void k(global float *x, float f)\n"
    "{\n"
    "    int g = get_global_id(0);\n"
    "    for (int i = 0; i < (int)lgamma(f * 3.0f); ++i)\n"
    "        x[g] += i;\n"
    "}\n"
)
RANDOM_BOUND = (
    "// kernelcast: global=64 local=64 x=64 n=64 fill.n=random\n"
    "kernel void k(global float *x, global const int *n)\n"
    "{\n"
    "    int g = get_global_id(0);\n"
    "    for (int i = 0; i < n[g]; ++i)\n"
    "        x[g] += i;\n"
    "}\n"
)
ZERO_STEP = (
    "// kernelcast: global=64 local=64 x=64 n=64 step=0\n"
    "kernel void k(global float *x, int n, int step)\n"
    "{\n"
    "    int g = get_global_id(0);\n"
    "    for (int i = 0; i < n; i += step)\n"
    "        x[g] += i;\n"
    "}\n"
)


@pytest.mark.parametrize(("text", "line"), [(FLOAT_BOUND, 4), (RANDOM_BOUND, 5), (ZERO_STEP, 5)])
def test_a_loop_that_nothing_decides_says_so_with_its_line(text: str, line: int, cpu: Device) -> None:
    prediction = Engine().forecast(text, None, cpu).forecasts[0].prediction
    assert prediction is not None
    assert any(f"loop on line {line} " in a.text and a.spread > 1 for a in prediction.assumptions)


def test_what_a_switch_in_a_loop_does_not_change_is_computed_once(cpu: Device) -> None:
    def divisions(body: str) -> float:
        text = (
            "// kernelcast: global=64 local=64 x=64 a=6.0 b=3.0 n=100 mode=1\n"
            "kernel void k(global float *x, float a, float b, int n, int mode)\n"
            f"{{ int g = get_global_id(0); float s = 0; for (int i = 0; i < n; ++i) {{ {body} }} x[g] = s; }}\n"
        )
        prediction = Engine().forecast(text, None, cpu).forecasts[0].prediction
        assert prediction is not None
        return prediction.work.as_json()["divides"]

    assert divisions("switch (mode) { case 1: s += a / b; break; default: s += 1; }") == divisions("s += a / b;") == 64


def test_a_loop_in_a_switch_of_a_helper_is_still_left_by_its_data(cpu: Device) -> None:
    text = (
        "int seek(global const int *a, int mode)\n"
        "{\n"
        "    int found = 0;\n"
        "    switch (mode) {\n"
        "    case 1:\n"
        "        for (int i = 0; i < 1000; ++i) {\n"
        "            if (a[i] > 7)\n"
        "                break;\n"
        "            found += a[i];\n"
        "        }\n"
        "        break;\n"
        "    }\n"
        "    return found;\n"
        "}\n"
        "// kernelcast: global=64 local=64 a=1000 x=64 mode=1\n"
        "kernel void k(global const int *a, global int *x, int mode)\n"
        "{\n"
        "    for (int r = 0; r < 2; ++r)\n"
        "        x[get_global_id(0)] += seek(a, mode);\n"
        "}\n"
    )
    prediction = Engine().forecast(text, None, cpu).forecasts[0].prediction
    assert prediction is not None
    assert any("when the loop on line 6 is left" in a.text for a in prediction.assumptions)
