"""A buffer or local pointer that is too short for a launch is named before anything runs."""

from __future__ import annotations

import pytest

from model.device_catalog import find_builtin
from model.engine import Engine

WRONG = "the launch cannot be measured"


def complaints(
    body: str, annotation: str, parameters: str = "global float *out, local float *part, int n"
) -> list[str]:
    text = f"// kernelcast: {annotation}\nkernel void k({parameters}) {{\nint i = get_global_id(0);\n{body}\n}}"
    device = find_builtin("generic-gpu")
    assert device is not None
    (found,) = Engine().forecast(text, None, device).forecasts
    assert found.prediction is not None, found.problem
    return [each.text for each in found.prediction.assumptions if WRONG in each.text]


def test_a_buffer_that_is_shorter_than_the_launch() -> None:
    (said,) = complaints("out[i] = n;", "global=4096 out=100 n=1")
    assert said == f"`out` has 100 elements, and its index reaches 4096: {WRONG}"


def test_a_local_pointer_that_was_given_in_elements() -> None:
    (said,) = complaints("part[get_local_id(0)] = n; out[i] = part[0];", "global=4096 local=64 part=64 n=1")
    assert said == f"`part` has 64 bytes, and its index reaches 256: {WRONG}"


def test_a_guard_that_lets_too_many_through() -> None:
    (said,) = complaints("if (i < n) out[i] = n;", "global=4096 n=3000 out=2000")
    assert "reaches 3000" in said


@pytest.mark.parametrize(
    ("body", "annotation"),
    [
        ("if (i < n) out[i] = n;", "global=4096 n=100 out=100"),
        ("if (out[i & 63] > 2) out[i] = n;", "global=4096 out=100 n=1"),  # it may never be so
        ("for (int k = i; k < n; k += get_global_size(0)) out[k] = n;", "global=256 n=1000 out=1000"),
        ("out[out[i & 63] > 2 ? i : 0] = n;", "global=4096 out=64 n=1"),
        ("part[get_local_id(0)] = n; out[i] = part[0];", "global=4096 local=64 part=256 n=1"),
    ],
)
def test_launches_that_may_be_right_are_left_alone(body: str, annotation: str) -> None:
    assert not complaints(body, annotation)
