"""Work-items that a guard keeps out: bounds of a loop on Intel's runtime, or masks under which vectors go on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.device import Device
from model.engine import Engine
from tests.model.test_costs_of_cpus import with_calibration

ITEMS = 1 << 20
HEAD = f"// kernelcast: global=({ITEMS // 64}, 64) local=(64, 4) n=256 x={ITEMS} z={ITEMS}\n"
PLAIN = "__global const float *x, __global float *z, int n"
PROMISED = PLAIN.replace("*", "*restrict ")
COPY = "z[i] = x[i] * 2.0f;"


@pytest.fixture
def intels(cpu: Device) -> Device:
    hidden = {f"{how}__{what}": 1.0 for how in ("vector", "scalar") for what in ("unit", "stored", "gathered")}
    device = with_calibration(cpu, **hidden)
    return replace(device, platform="Intel(R) OpenCL", preferred_multiple=16)


def time_us(device: Device, body: str, parameters: str = PLAIN) -> float:
    text = f"{HEAD}__kernel void k({parameters}) {{ int i = get_global_id(0), j = get_global_id(1); {body} }}"
    (forecast,) = Engine().forecast(text, None, device).forecasts
    assert forecast.prediction is not None, forecast.problem
    return forecast.prediction.runtime_us.p50


def is_for_all(device: Device, body: str, parameters: str = PLAIN) -> bool:
    """Return whether vectors go on with what the guard keeps out: it takes a third of what all would, or more."""
    return time_us(device, body, parameters) > time_us(device, COPY) / 3


@pytest.mark.parametrize(
    "body",
    [
        f"if (i < n) {{ {COPY} }}",
        f"if (i >= n) return; {COPY}",
        f"if (i + 1 < n) {{ {COPY} }}",
        f"if (i > 0 && i < n - 1) {{ {COPY} }}",
        f"if (i < n && j < n) {{ {COPY} }}",
        f"if (i >= n || j >= 2) return; {COPY}",
        f"if (i >= n) return; if (j >= 2) return; {COPY}",
        "float f = x[0]; if (i < n) { z[i] = x[i] * f; }",
        f"if (i == n) {{ {COPY} }}",
        f"if (i >= n || x[i] < 0.5f) return; {COPY}",
        f"if (i >= n) return; if (x[i] > 0.5f) {{ {COPY} }}",
        f"if (n > 4) {{ if (i < n) {{ {COPY} }} }}",
    ],
)
def test_a_guard_around_all_becomes_a_bound(intels: Device, body: str) -> None:
    assert not is_for_all(intels, body)


@pytest.mark.parametrize(
    "body",
    [
        f"if (i * 4 < n) {{ {COPY} }}",
        f"if (i < n) {{ {COPY} }} if (i + 1 < n) z[i + 1] = 1.0f;",
        f"z[j] = 1.0f; if (i < n) {{ {COPY} }}",
        f"if (i < n) {{ {COPY} }} else if (i == n) z[0] = 1.0f;",
        f"for (int k = 0; k < 2; k++) {{ if (i + k * 8 < n) {{ {COPY} }} }}",
    ],
)
def test_another_guard_stays_a_mask(intels: Device, body: str) -> None:
    assert is_for_all(intels, body)


def test_guards_stay_masks_where_buffers_are_promised_to_be_apart(intels: Device) -> None:
    guarded = f"if (i < n) {{ {COPY} }}"
    assert is_for_all(intels, guarded, PROMISED)
    assert not is_for_all(intels, "if (i < n) z[i] = z[i] * 2.0f;", PROMISED)  # there is no other


def test_loops_under_a_mask_are_not_entered(intels: Device) -> None:
    looped = "if (i < n) { float s = 0; for (int k = 0; k < n / 32; k++) s += x[i + k * n]; z[i] = s; }"
    assert time_us(intels, looped, PROMISED) < 2 * time_us(intels, f"if (i < n) {{ {COPY} }}", PROMISED)


def test_narrow_vectors_ask_first_whether_any_lane_is_on(intels: Device) -> None:
    narrow = replace(intels, preferred_multiple=8)
    few, many = (f"if (i + 4 < n) z[i] = {' + '.join(f'x[i + {k}]' for k in range(n))};" for n in (3, 4))
    assert time_us(narrow, many, PROMISED) < time_us(narrow, few, PROMISED) / 2
    assert time_us(intels, many, PROMISED) > time_us(intels, few, PROMISED)


def test_pocl_makes_no_bounds(intels: Device) -> None:
    pocl = replace(intels, platform="Portable Computing Language")
    guarded = f"if (i < n) {{ {COPY} }}"
    assert time_us(pocl, guarded) == time_us(pocl, guarded, PROMISED)


def test_a_global_id_that_is_put_together_makes_no_bound(intels: Device) -> None:
    text = f"{HEAD}__kernel void k({PLAIN}) {{ int i = ID; if (i < n) {{ {COPY} }} }}"
    asked, summed = ("get_global_id(0)", "get_group_id(0) * get_local_size(0) + get_local_id(0)")
    times = []
    for each in (asked, summed):
        (forecast,) = Engine().forecast(text.replace("ID", each), None, intels).forecasts
        assert forecast.prediction is not None
        times.append(forecast.prediction.runtime_us.p50)
    assert times[1] > 3 * times[0]
