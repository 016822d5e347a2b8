"""What measuring a fix proved, in words, and whether it may stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from model.advice.advice import AdviceCode
from model.advice.fixes.fix import Fix
from model.errors import KernelcastError
from model.forecast import FileForecast
from model.launch.launch import Launch
from profiler.measurement import KernelCrashed, MeasureRequest
from profiler.side_by_side import SideBySide, Version
from profiler.turns import Difference
from server.analysis.fix_gains import PredictedFix
from server.text.fixes import proof_of, speed_up_text

SAME = Difference(("b",))
ROUNDED = Difference(
    ("b",), differing=("b",), max_ulps=3, max_relative=1e-7, example="`b[1]` is 1.0000001 instead of 1.0"
)
OTHER = Difference(("b",), differing=("b",), max_ulps=None, max_relative=None, example="`b[1]` is 7 instead of 5")


def side(after_us: float, difference: Difference | None = SAME, **more: Any) -> SideBySide:
    request = MeasureRequest("", None, None, Launch((1,)), "pocl")  # type: ignore[arg-type]
    turns = tuple(100.0 + n % 3 for n in range(12))
    before = Version(request, turns, 101.0, (100.0, 102.0), 12, difference=more.pop("own", SAME))
    after = Version(
        request, tuple(after_us / 100 * t for t in turns), after_us, None, 12, difference=difference, **more
    )
    return SideBySide((before, after))


def test_faster_with_equal_results_is_kept() -> None:
    proof = proof_of(side(50.0), 0)
    assert proof.is_kept
    assert proof.text == "2x faster (101 µs -> 50 µs), results equal"
    assert proof.as_json()["equal"] is True


@pytest.mark.parametrize("after_us", [100.0, 130.0])
def test_what_is_no_faster_is_not_kept(after_us: float) -> None:
    proof = proof_of(side(after_us), 4)
    assert not proof.is_kept
    assert proof.is_equal
    assert proof.text.startswith("not measurably faster" if after_us == 100.0 else "1.3x slower")


def test_rounding_is_allowed_as_far_as_the_user_says() -> None:
    assert proof_of(side(50.0, ROUNDED), 4).is_kept
    assert "differ by 3 ulps at most" in proof_of(side(50.0, ROUNDED), 4).text
    proof = proof_of(side(50.0, ROUNDED), 2)
    assert not proof.is_kept
    assert "results differ: `b[1]` is 1.0000001 instead of 1.0 (3 ulps)" in proof.text


def test_other_integers_are_never_allowed() -> None:
    assert not proof_of(side(50.0, OTHER), 1 << 40).is_kept


def test_a_kernel_that_never_gives_the_same_twice_cannot_be_proved() -> None:
    proof = proof_of(side(50.0, OTHER, own=OTHER), 4)
    assert not proof.is_kept
    assert "as do two runs of the original" in proof.text


def test_a_version_that_could_not_be_measured_says_why() -> None:
    with pytest.raises(KernelcastError, match="it died"):
        proof_of(side(50.0, error=KernelCrashed("it died")), 4)


@pytest.mark.parametrize(
    ("factor", "text"), [(2.3, "2.3x faster"), (1.1, "9 % faster"), (0.9, "11 % slower"), (0.5, "2x slower")]
)
def test_factors_in_words(factor: float, text: str) -> None:
    assert speed_up_text(factor) == text


@pytest.mark.parametrize(
    ("code", "gain", "is_shown"),
    [
        (AdviceCode.TOO_FEW_GROUPS, 0.04, False),
        (AdviceCode.TOO_FEW_GROUPS, 0.06, True),
        (AdviceCode.LOCAL_SIZE_MULTIPLE, 0.06, False),
        (AdviceCode.LOCAL_SIZE_MULTIPLE, 0.11, True),
    ],
)
def test_a_fix_is_shown_from_the_gain_on_that_such_predictions_tell(
    code: AdviceCode, gain: float, is_shown: bool, forecast_of: Callable[..., FileForecast]
) -> None:
    (forecast,) = forecast_of("__kernel void k() { }").forecasts
    fix = Fix(code, "Do it", ())
    assert PredictedFix(fix, "", forecast, forecast, 100.0, 100.0 * (1 - gain)).is_worth_it is is_shown
