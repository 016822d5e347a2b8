"""Launches that no program makes are told from those that one may, and are not guessed where others can be."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.device import Device
from model.engine import Engine
from model.launch.expression import constant
from model.launch.inference import complete
from model.launch.launch import Launch, Number, Origin
from model.launch.plausible import Implausible, implausible
from model.launch.spec import LaunchSpec
from model.opencl.program import read_program
from model.work.analyse import analyse
from model.work.work import Work

SIDE = 65536
DRAWS = "uint inf, uint sup) { uint i = get_global_id(0); a[i] = a[i] % (sup - inf); }"
PICTURE = "uint w, uint h) { uint i = get_global_id(0); if (i >= w * h) return; a[i] = i / w; }"


def work_of(rest: str) -> Work:
    program = read_program(f"__kernel void k(__global uint *a, {rest}")
    return analyse(program, program.kernels[0])


def broken(rest: str, local: tuple[int, ...] | None = None, **scalars: Number) -> tuple[Implausible, ...]:
    return implausible(work_of(rest), Launch((1024,), local, tuple(scalars.items())))


def test_scalars_that_make_a_divisor_zero_are_named() -> None:
    (reason,) = broken(DRAWS, inf=1, sup=1)
    assert reason.divides_by_zero
    assert reason.written == "sup - inf"
    assert reason.scalars == ("inf", "sup")
    assert not broken(DRAWS, inf=1, sup=2)


def test_a_divisor_is_written_as_c_reads_it() -> None:
    (reason,) = broken(
        "int p, int stage) { int i = get_global_id(0); a[i] = i / (2 * p * (stage / 2)); }", p=64, stage=1
    )
    assert reason.written == "2 * p * (stage / 2)"


def test_a_product_that_wraps_around_in_a_check_is_named_with_what_the_device_makes_of_it() -> None:
    (reason,) = broken(PICTURE, w=SIDE, h=SIDE)
    assert reason.written == "w * h"
    assert "goes on with 0" in reason.text
    assert not broken(PICTURE, w=SIDE, h=SIDE - 1)


@pytest.mark.parametrize(
    "rest",
    [
        PICTURE.replace("uint w", "size_t w"),
        PICTURE.replace("w * h", "(ulong)w * h"),
        "uint w, uint h) { ulong n = w; n *= h; if (get_global_id(0) < n) a[0] = 1; }",
    ],
)
def test_arithmetic_on_64_bits_may_be_large(rest: str) -> None:
    assert not broken(rest, w=SIDE, h=SIDE)


@pytest.mark.parametrize(
    "body",
    [
        "for (int j = 0; j < w * h; ++j) a[i] += j;",
        "a[i * (w * h)] = 1;",
        "a[i] = i / (w * h);",
        "if (i < 2 * (w * h) && a[i]) a[i] = 1;",
        "int n = w * h; if (i < n) a[i] = 1;",
    ],
)
def test_an_overflow_counts_where_it_decides_what_is_done(body: str) -> None:
    assert broken(f"int w, int h) {{ int i = get_global_id(0); {body} }}", w=SIDE, h=40_000)


@pytest.mark.parametrize("body", ["a[i] = s;", "a[s % 1024] = i;", "if ((s >> 16) & 1) a[i] = s;", "a[s ^ i] = 1;"])
def test_a_hash_may_wrap_around(body: str) -> None:
    mixed = "uint s = seed * 1664525u + 1013904223u;"
    assert not broken(f"uint seed) {{ uint i = get_global_id(0); {mixed} {body} }}", seed=123_456)


@pytest.mark.parametrize(
    "body",
    [
        "if (n > 0) a[i] = i / n;",
        "a[i] = n ? i / n : 0;",
        "if (n != 0 && i % n == 0) a[i] = 1;",
        "for (uint j = 0; j < n; ++j) a[i] += i / n;",
        "if (n == 0) return; a[i] = i % n;",
        "uint unused = i / n; a[i] = 1;",
    ],
)
def test_a_division_that_no_work_item_comes_to_divides_by_nothing(body: str) -> None:
    assert not broken(f"uint n) {{ uint i = get_global_id(0); {body} }}", n=0)


def test_a_group_that_is_too_small_for_what_divides_by_its_share_is_named() -> None:
    rest = "uint n) { uint i = get_global_id(0); a[i] = i % (get_local_size(0) / 64); }"
    assert broken(rest, (32,), n=1)
    assert not broken(rest, (64,), n=1)
    assert not broken(rest, n=1)  # the driver chooses


SIDES = st.integers(0, 2**32 - 1)


@given(SIDES, SIDES)
def test_a_check_against_a_product_breaks_just_where_32_bits_do_not_hold_it(w: int, h: int) -> None:
    work = work_of("uint w, uint h) { uint i = get_global_id(0); if (i < w * h) a[i] = 1; }")
    reasons = implausible(work, Launch((1024,), None, (("w", w), ("h", h))))
    assert bool(reasons) == (w * h >= 2**32)


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1))
def test_a_difference_breaks_a_division_just_where_it_is_zero_or_no_int(low: int, high: int) -> None:
    work = work_of("int low, int high) { int i = get_global_id(0); a[i] = i % (high - low); }")
    reasons = implausible(work, Launch((1024,), None, (("low", low), ("high", high))))
    assert bool(reasons) == (high == low or not -(2**31) <= high - low < 2**31)


def inferred(rest: str) -> tuple[dict[str, Number], str, tuple[Implausible, ...]]:
    work = work_of(rest)
    launch = complete(work.kernel, work, LaunchSpec(origin=Origin.INFERRED))
    return dict(launch.scalars), "\n".join(a.text for a in launch.assumptions), implausible(work, launch)


def test_the_limit_of_a_range_is_guessed_above_its_start() -> None:
    scalars, said, reasons = inferred(DRAWS)
    assert scalars["sup"] > scalars["inf"]
    assert "`sup`=257: so that `sup - inf`, which something is divided by, is not 0" in said
    assert not reasons


@pytest.mark.parametrize(
    "rest",
    [
        "uint from, uint to) { uint i = get_global_id(0); a[i] = a[i] % (to - from); }",
        "int start) { int i = get_global_id(0); a[i] = i % start; }",
        "int n, int m) { int i = get_global_id(0); if (i < n) a[i] = a[i] / (n * m * 5000); }",
        "int4 n) { int i = get_global_id(0); a[i] = i / (n.w / 2) / (n.w - 1); }",
        "uint size) { uint i = get_global_id(0); a[i] = i / (size * size); }",
        "int width) { __local int t[64]; int i = get_local_id(0); t[i] = a[i]; barrier(1); "
        "a[i] = t[i ^ 1] / (get_num_groups(0) / (width * 64 + 2)); }",
    ],
)
def test_what_is_guessed_neither_divides_by_zero_nor_overflows(rest: str) -> None:
    assert not inferred(rest)[2]


@pytest.mark.parametrize("divisor", ["n & 0", "n - n", "n & ~n", "0"])
def test_what_no_guess_mends_is_said(cpu: Device, divisor: str) -> None:
    text = f"__kernel void k(__global int *a, int n) {{ int i = get_global_id(0); a[i] = i % ({divisor}); }}"
    (forecast,) = Engine().forecast(text, None, cpu).forecasts
    assert forecast.prediction is not None
    assert any("line 1 divides by" in a.text.replace("{line}", "1") for a in forecast.prediction.assumptions)


@pytest.mark.parametrize(("mode", "is_said"), [(1, True), (77, False)])
def test_that_nothing_is_left_of_a_launch_is_said(cpu: Device, mode: int, is_said: bool) -> None:
    text = "__kernel void k(__global float *y, int m) { int i = get_global_id(0); if (m == 77) y[i] = exp(y[i]); }"
    asked = LaunchSpec(values=(("m", (constant(mode),)),))
    (forecast,) = Engine().forecast(text, None, cpu, requests=[asked]).forecasts
    assert forecast.prediction is not None
    assert any("stores anything" in a.text for a in forecast.prediction.assumptions) is is_said


def test_scalars_that_the_user_gives_are_kept_and_what_they_break_is_said(
    cpu: Device, said: Callable[[str], str]
) -> None:
    text = f"// kernelcast: global=4096 w={SIDE} h={SIDE}\n__kernel void k(__global uint *a, {PICTURE}"
    (forecast,) = Engine().forecast(text, None, cpu).forecasts
    assert forecast.launch is not None
    assert dict(forecast.launch.scalars) == {"w": SIDE, "h": SIDE}
    assert "`w * h` on line 2 is 4294967296, which a `uint` does not hold" in said(text)


@pytest.fixture
def said(cpu: Device) -> Callable[[str], str]:
    """All assumptions of the prediction for the only kernel of a text."""

    def assumed(text: str) -> str:
        (forecast,) = Engine().forecast(text, None, cpu).forecasts
        assert forecast.prediction is not None
        return "\n".join(each.text for each in forecast.prediction.assumptions)

    return assumed
