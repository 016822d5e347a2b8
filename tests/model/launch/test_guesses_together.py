"""Kernels of one file that nobody said anything of are guessed together: what means the same has one value."""

from __future__ import annotations

import pytest

from model.device import Device
from model.device_catalog import find_builtin
from model.engine import Engine
from model.forecast import FileForecast, Forecast
from model.launch.launch import Launch

HEAD = "__global const float *A, __global const float *B, __global float *C, int n"
NAIVE = f"""__kernel void naive({HEAD}) {{
    int x = get_global_id(0), y = get_global_id(1);
    float s = 0.0f;
    for (int k = 0; k < n; k++) s += A[y * n + k] * B[k * n + x];
    C[y * n + x] = s;
}}
"""
UNCOALESCED = f"""__kernel void uncoalesced({HEAD}) {{
    int row = get_global_id(0), col = get_global_id(1);
    float s = 0.0f;
    for (int k = 0; k < n; k++) s += A[row * n + k] * B[k * n + col];
    C[row * n + col] = s;
}}
"""
ROWS = f"""__kernel void rows({HEAD}) {{
    int row = get_global_id(0);
    for (int col = 0; col < n; col++) {{
        float s = 0.0f;
        for (int k = 0; k < n; k++) s += A[row * n + k] * B[k * n + col];
        C[row * n + col] = s;
    }}
}}
"""
FORCES = """__kernel void forces(__global const float4 *at, __global float4 *force, int n) {
    int i = get_global_id(0); if (i >= n) return;
    float4 sum = 0; for (int k = 0; k < n; k++) sum += at[k] - at[i]; force[i] = sum; }
"""
MOVE = """__kernel void move(__global float4 *at, __global const float4 *force, int n) {
    int i = get_global_id(0); if (i < n) at[i] += force[i]; }
"""
SCALE = "__kernel void scale(__global float *x, float f) { x[get_global_id(0)] *= f; }\n"


@pytest.fixture
def gpu() -> Device:
    found = find_builtin("nvidia-a100-pcie-40gb")
    assert found is not None
    return found


def launches(found: FileForecast) -> dict[str, Launch]:
    return {f.kernel.name: f.launch for f in found.forecasts if f.launch is not None}


def of(found: FileForecast, name: str) -> Forecast:
    return next(f for f in found.forecasts if f.kernel.name == name)


@pytest.mark.parametrize("text", [NAIVE + UNCOALESCED + ROWS, ROWS + UNCOALESCED + NAIVE, UNCOALESCED + NAIVE + ROWS])
def test_versions_of_one_product_multiply_the_same_matrices(text: str, gpu: Device) -> None:
    found = launches(Engine().forecast(text, None, gpu))
    assert {dict(launch.scalars)["n"] for launch in found.values()} == {512}
    assert found["naive"].global_size == found["uncoalesced"].global_size == (512, 512)
    assert found["rows"].global_size == (512,)
    assert len({launch.buffers for launch in found.values()}) == 1


def test_the_worse_version_is_not_the_faster_one(gpu: Device) -> None:
    found = Engine().forecast(NAIVE + UNCOALESCED, None, gpu)
    naive, worse = of(found, "naive").prediction, of(found, "uncoalesced").prediction
    assert naive is not None
    assert worse is not None
    assert worse.runtime_us.p50 >= naive.runtime_us.p50
    assert any("`n`=512, as in `naive`" in each.text for each in worse.guesses)


def test_steps_over_the_same_bodies_have_as_many_of_them(gpu: Device) -> None:
    found = launches(Engine().forecast(FORCES + MOVE + SCALE, None, gpu))
    assert found["forces"].scalars == found["move"].scalars
    assert found["forces"].global_size == found["move"].global_size
    alone = launches(Engine().forecast(SCALE, None, gpu))
    assert found["scale"].key == alone["scale"].key, "it shares no size"


def test_a_kernel_asked_about_alone_has_the_launch_that_it_has_in_its_file(gpu: Device) -> None:
    text = NAIVE + UNCOALESCED
    (alone,) = Engine().forecast(text, None, gpu, kernel="uncoalesced").forecasts
    assert alone == of(Engine().forecast(text, None, gpu), "uncoalesced")


def test_what_is_said_is_not_guessed(gpu: Device) -> None:
    found = launches(Engine().forecast(f"// kernelcast: global=(64, 64) n=64\n{NAIVE}{UNCOALESCED}", None, gpu))
    assert dict(found["naive"].scalars) == {"n": 64}
    assert found["naive"].global_size == (64, 64)


def test_others_keep_their_guesses_while_one_kernel_is_typed_in(gpu: Device) -> None:
    engine, text = Engine(), NAIVE + UNCOALESCED + ROWS
    before = launches(engine.forecast(text, None, gpu))
    for typed in ("for (int k = 0; k <", "for (int k = 0; k < n; k++) s += 2.0f; {", "s += 1.0f;"):
        after = launches(engine.forecast(text.replace("float s = 0.0f;", f"float s = 0.0f; {typed}", 1), None, gpu))
        assert after["uncoalesced"] == before["uncoalesced"]
        assert after["rows"] == before["rows"]
    assert launches(engine.forecast(text, None, gpu)) == before


LIMITS = ("max_iter", "maxIter", "maxSteps", "limit", "iterations", "n_iter", "num_samples", "max_bounces")
ESCAPE = """__kernel void escape(__global int *out, int w, int {limit}) {{
    int px = get_global_id(0), py = get_global_id(1), it = 0;
    float x = 0.0f, y = 0.0f;
    {loop}
    out[py * w + px] = it;
}}"""
STEP = "float t = x * x - y * y + px; y = 2 * x * y + py; x = t;"


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_of_iterations_is_small_however_it_is_tested(limit: str, gpu: Device) -> None:
    loops = (
        f"while (x * x + y * y <= 4.0f && it < {limit}) {{ {STEP} it++; }}",
        f"for (; it < {limit}; it++) {{ if (x * x + y * y > 4.0f) break; {STEP} }}",
    )
    for loop in loops:
        (launch,) = launches(Engine().forecast(ESCAPE.format(limit=limit, loop=loop), None, gpu)).values()
        assert 100 <= dict(launch.scalars)[limit] <= 1000
        (said,) = (a.text for a in launch.assumptions if a.subject == limit)
        assert "at most" in said
