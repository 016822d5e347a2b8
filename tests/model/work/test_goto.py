"""Loops and branches that are made of `goto` count as those that are not; what is not understood is no small matter."""

from __future__ import annotations

import pytest

from model.device_catalog import find_builtin
from model.engine import Engine
from model.errors import AnalysisError
from model.observing import Observer
from model.work.counts import OpKind
from tests.model.conftest import Count

HEAD = "kernel void k(global const int *in, global float *out, int n) { int i = get_global_id(0), j = 0; "
HEAD += "float s = out[i]; "
TAIL = " out[i] = s; }"
STEP = "s = s * 1.5f + 1.0f; "
LAUNCH = {"n": 1000, "buffers": {"in": 64, "out": 64}}


@pytest.mark.parametrize(
    ("jumps", "loops"),
    [
        (f"again: {STEP} j++; if (j < n) goto again;", f"do {{ {STEP} j++; }} while (j < n);"),
        (f"again: {STEP} j++; if (j < n) {{ goto again; }}", f"do {{ {STEP} j++; }} while (j < n);"),
        (f"again: if (j < n) {{ {STEP} j++; goto again; }}", f"while (j < n) {{ {STEP} j++; }}"),
        (f"again: if (j >= n) goto end; {STEP} j++; goto again; end:;", f"while (j < n) {{ {STEP} j++; }}"),
        (
            f"int o = 0; outer: j = 0; inner: {STEP} j++; if (j < 25) goto inner; o++; if (o < n / 25) goto outer;",
            f"int o = 0; do {{ j = 0; do {{ {STEP} j++; }} while (j < 25); o++; }} while (o < n / 25);",
        ),
        (
            f"if (i >= 16) goto end; for (; j < n; j++) {{ {STEP} }} end:",
            f"if (i < 16) for (; j < n; j++) {{ {STEP} }}",
        ),
    ],
    ids=["do", "do in braces", "while", "while with two labels", "nested", "skipped"],
)
def test_a_loop_of_goto_runs_as_often_as_the_loop_that_it_is(count: Count, jumps: str, loops: str) -> None:
    found, expected = (count(HEAD + body + TAIL, (64,), (64,), **LAUNCH) for body in (jumps, loops))
    assert found.ops(OpKind.FMA) == expected.ops(OpKind.FMA) > 10_000


def predicted(body: str) -> tuple[float, list[tuple[float, bool]]]:
    device = find_builtin("generic-gpu")
    assert device is not None
    launch = "// kernelcast: global=64 local=64 n=1000 in=64 out=64\n"
    (forecast,) = Engine().forecast(launch + HEAD + body + TAIL, None, device).forecasts
    assert forecast.prediction is not None
    runtime = forecast.prediction.runtime_us
    return runtime.p90 / runtime.p50, [(a.spread, a.is_guess) for a in forecast.prediction.assumptions]


def test_a_jump_back_that_is_not_understood_is_a_guess_and_widens_the_interval() -> None:
    factor, assumptions = predicted("again: for (j = 0; j < 9; j++) if (s > n) { s -= in[j]; goto again; }")
    assert factor > 10
    assert any(spread > 10 and is_guess for spread, is_guess in assumptions)


@pytest.mark.parametrize(
    "body",
    [
        "".join(f"l{k}: s += 1.0f; if (in[{k}]) goto l{k // 2};\n" for k in range(2000)),
        "end: s += 1.0f;" + "".join(f"if (in[{k}]) goto end;\n" for k in range(500)),
        "".join(f"l{k}: " for k in range(2000)) + "s += 1.0f; if (in[0]) goto l7;",
        "".join(f"l{k}: {{" for k in range(200)) + "if (in[0]) goto l0;" + "}" * 200,
    ],
    ids=["labels", "jumps", "one statement", "nested"],
)
def test_thousands_of_labels_and_jumps_are_read_to_their_end(body: str) -> None:
    device = find_builtin("generic-gpu")
    assert device is not None
    launch = "// kernelcast: global=64 local=64 n=1000 in=4096 out=64\n"
    (forecast,) = Engine(observer=Observer(runs=True)).forecast(launch + HEAD + body + TAIL, None, device).forecasts
    assert forecast.problem is None or forecast.problem.code == AnalysisError.code
