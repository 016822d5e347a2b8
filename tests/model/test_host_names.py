"""Kernels whose types and sizes only the host defines are predicted with stand-ins, and say so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from model.device import Device
from model.engine import Engine
from model.forecast import FileForecast, Forecast
from model.opencl.options import BuildOptions
from server.text.hint import guesses_text

BLUR = """__kernel void blur(__global const REAL4 *in, __global REAL4 *out)
{
    __local REAL4 tile[TILE];
    int i = get_global_id(0);
    tile[get_local_id(0) % TILE] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    REAL4 sum = 0;
    for (int k = 0; k < STEPS; k++)
        sum += tile[k % TILE] * MAX(k, 3);
    out[i] = sum;
}
"""
SCALE = "__kernel void scale(__global FACTOR *x)\n{\n    x[get_global_id(0)] *= 2;\n}\n"


def forecast(text: str, device: Device, *defines: tuple[str, str], kernel: str | None = None) -> FileForecast:
    return Engine().forecast(text, None, device, options=BuildOptions(defines), kernel=kernel)


def only(found: FileForecast) -> Forecast:
    (one,) = found.forecasts
    assert one.problem is None, one.problem
    return one


def said(one: Forecast) -> str:
    assert one.launch is not None
    return "\n".join(each.text for each in one.launch.assumptions if "not declared" in each.text)


def p50(one: Forecast) -> float:
    assert one.prediction is not None
    return one.prediction.own.runtime_us.p50


def defines_of(one: Forecast) -> dict[str, str]:
    assert one.launch is not None
    return dict(one.launch.options.stand_ins)


def test_a_kernel_is_predicted_as_with_what_stands_in(cpu: Device) -> None:
    found = only(forecast(BLUR, cpu))
    defines = defines_of(found)
    assert defines["REAL4"] == "float4"
    assert defines["TILE"] == "16"
    written = only(forecast(BLUR, cpu, *defines.items()))
    assert p50(found) == p50(written)
    assert found.work is not None
    assert found.work.unknowns == written.work.unknowns == ()  # type: ignore[union-attr]
    assert said(written) == ""


def test_all_that_stands_in_is_an_assumption_and_makes_the_launch_a_guess(cpu: Device) -> None:
    found = only(forecast(BLUR, cpu))
    for part in ("`REAL4`=float4", "`TILE`=16", "`MAX`=", f"`STEPS`={defines_of(found)['STEPS']}", "give them with -D"):
        assert part in said(found)
    assert found.prediction is not None
    assert found.prediction.is_guessed
    assert guesses_text(found.prediction).startswith("what `REAL4` and 2 more mean, `STEPS`=")


@pytest.mark.parametrize("given", [(("REAL4", "double4"), ("TILE", "64")), (("STEPS", "7"),)])
def test_what_is_given_has_no_stand_in(cpu: Device, given: Sequence[tuple[str, str]]) -> None:
    found = only(forecast(BLUR, cpu, *given))
    assert not dict(given).keys() & defines_of(found).keys()
    assert all(f"`{name}`" not in said(found) for name, _ in given)


def test_an_annotation_gives_names_that_nothing_declares_a_value(cpu: Device) -> None:
    few, many = (forecast(f"// kernelcast: global=4096 STEPS={n}\n{BLUR}", cpu, ("TILE", "16")) for n in (10, 1000))
    assert few.annotation_problems == many.annotation_problems == ()
    assert defines_of(only(many))["STEPS"] == "1000"
    assert "STEPS" not in said(only(many))
    assert p50(only(many)) > 20 * p50(only(few))


def test_a_misspelt_name_is_still_told(cpu: Device) -> None:
    (problem,) = forecast(f"// kernelcast: global=4096 STEP=10\n{BLUR}", cpu).annotation_problems
    assert "`STEP` is neither a parameter" in problem.message


def test_each_kernel_says_what_it_uses_and_the_file_can_be_built_for_one(cpu: Device) -> None:
    blur, scale = forecast(BLUR + SCALE, cpu).forecasts
    assert "FACTOR" in said(scale)
    assert "FACTOR" not in said(blur)
    assert "REAL4" not in said(scale)
    alone = only(forecast(BLUR + SCALE, cpu, kernel="scale"))
    assert defines_of(alone) == defines_of(scale)


def test_a_launch_is_the_same_whatever_stands_in(cpu: Device) -> None:
    whole = only(forecast(BLUR + SCALE, cpu, kernel="scale"))
    alone = only(forecast(SCALE, cpu))
    assert whole.launch is not None
    assert alone.launch is not None
    assert whole.launch.key == alone.launch.key
    assert whole.kernel.fingerprint == alone.kernel.fingerprint


def test_typing_keeps_what_stands_in(cpu: Device, tmp_path: Path) -> None:
    engine, path = Engine(), tmp_path / "k.cl"
    before = only(engine.forecast(BLUR, path, cpu))
    edited = only(engine.forecast(BLUR.replace("= 0;", "= 1;"), path, cpu))
    assert defines_of(edited) == defines_of(before)
    assert defines_of(only(engine.forecast(f"typedef double4 REAL4;\n{BLUR}", path, cpu))).keys() == {
        name for name in defines_of(before) if name != "REAL4"
    }
