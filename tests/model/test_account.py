"""One account of the time: whatever gave it, its parts sum to it, and all that is said of it agrees."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from model.account import CRITICAL_SHARE, MOST_EXPLAINED, Bound, Times, account_of, overlapped
from model.device import Cost, Device
from model.device_catalog import builtin_devices
from model.engine import Engine
from model.fit import Fit
from model.prediction import Basis, ModelEstimate, Prediction, Quantiles, Through
from server.text.account import overlap_text, parts_text, reading

HEAD = "__global const float *a, __global const float *b, __global float *c, const int n"
KERNELS = {
    "stream": ("global=1048576 local=256 n=1048576", "if (i < n) c[i] = a[i] + b[i];"),
    "strided": ("global=65536 local=256 n=65536", "c[i] = a[(i * 33) % n] + b[i * 16];"),
    "product": (
        "global=(512, 512) local=(16, 16) n=512",
        "int y = get_global_id(1); float s = 0; for (int k = 0; k < n; k++) s += a[y * n + k] * b[k * n + i];"
        " c[y * n + i] = s;",
    ),
    "uncoalesced": (
        "global=(512, 512) local=(16, 16) n=512",
        "int y = get_global_id(1); float s = 0; for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + y];"
        " c[i * n + y] = s;",
    ),
    "chain": (
        "global=65536 local=64 n=1000",
        "float v = a[i]; for (int k = 0; k < n; k++) v = v * v + 0.5f; c[i] = v;",
    ),
    "sines": ("global=262144 local=64 n=16", "float v = a[i]; for (int k = 0; k < n; k++) v += sin(v); c[i] = v;"),
    "integers": (
        "global=262144 local=64 n=64",
        "int v = i; for (int k = 0; k < n; k++) v = v * 7 / (k + 3); c[i] = v;",
    ),
    "tiny": ("global=64 local=64 n=64", "c[i] = a[i];"),
    "counters": ("global=1048576 local=256 n=64", "atomic_inc((__global int *)c + i % 4);"),
    "tile": (
        "global=65536 local=256 n=64",
        "__local float t[256]; int l = get_local_id(0); t[l] = a[i]; float s = 0;"
        " for (int k = 0; k < n; k++) { barrier(CLK_LOCAL_MEM_FENCE); s += t[(l + k) % 256]; } c[i] = s;",
    ),
    "groups": ("global=1048576 local=1 n=1", "c[i] = n;"),
    "open loop": ("global=65536 local=64 n=100", "float v = a[i]; while (v < 9.0f) v += b[(int)v]; c[i] = v;"),
}
_OPERATIONS = (
    "fp chain unit offset interleaved shared stored stored_offset broadcast strided gathered scattered divide convert "
    "select int int_mul int_divide"
)


def calibrated_cpu() -> Device:
    """A CPU whose runtime's own costs were measured, which has an account of its own."""
    cpu = next(device for device in builtin_devices() if device.id == "generic-cpu")
    names = {f"{form}.{name}": ns for form, ns in (("vector", 0.05), ("scalar", 0.4)) for name in _OPERATIONS.split()}
    names |= {f"width.{lanes}": 0.05 for lanes in (8, 16, 32, 256)}
    names |= {f"call.{name}": 0.5 for name in ("sin", "exp")} | {"scatter.256": 2.0, "scatter.65536": 9.0}
    names |= {
        f"{context}.{body}": 0.1
        for context in ("called", "branch", "unrolled", "counted", "data", "barrier", "kept", "reduced")
        for body in ("fp", "chain", "shared")
    }
    costs = tuple(Cost(name, ns) for name, ns in names.items())
    return replace(cpu, id="calibrated-cpu", rates=replace(cpu.rates, costs=costs, groups_to_fill=1))


DEVICES = [*(device for place, device in enumerate(builtin_devices()) if place % 6 == 0), calibrated_cpu()]


@lru_cache(maxsize=1)
def engine() -> Engine:
    return Engine()


def predicted(name: str, device: Device) -> Prediction:
    launch, body = KERNELS[name]
    text = f"// kernelcast: {launch}\n__kernel void k({HEAD}) {{\n    int i = get_global_id(0);\n    {body}\n}}\n"
    (forecast,) = engine().forecast(text, None, device).forecasts
    assert forecast.prediction is not None, forecast.problem
    return forecast.prediction


def agrees(prediction: Prediction) -> None:
    """What hint, hover, report and JSON are made from."""
    account, p50 = prediction.account, prediction.runtime_us.p50
    assert account.runtime_us == p50
    assert sum(part.time_us for part in account.parts) == pytest.approx(p50)
    assert sum(part.share for part in account.parts) == pytest.approx(1)
    assert sum(line.share for line in prediction.lines) == pytest.approx(1)
    assert all(part.time_us > 0 and part.hidden_us >= 0 for part in account.parts)
    kinds = dict(account.kinds)
    assert prediction.bound is account.limiter
    assert kinds[prediction.bound] == max(kinds.values())
    for advice in prediction.advice:
        assert advice.is_fault or not advice.resources or account.share_of(*advice.resources) >= CRITICAL_SHARE
        assert advice.gain_us is None or advice.gain_us <= p50
    said = reading(account)
    words = {
        Bound.MEMORY: "moving data", Bound.COMPUTE: "to operations", Bound.LATENCY: "waiting", Bound.LAUNCH: "itself",
    }  # fmt: skip
    assert [kind for kind, word in words.items() if word in said.partition(":")[0]] == [prediction.bound]
    assert "than saving bytes" not in said
    assert parts_text(account)
    assert account.limiter not in overlap_text(account).partition(" overlap")[0]


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.id)
@pytest.mark.parametrize("name", KERNELS)
def test_what_is_said_of_the_time_agrees_on_every_kind_of_device(name: str, device: Device) -> None:
    prediction = predicted(name, device)
    agrees(prediction)
    for factor, basis in ((0.3, Basis.MODEL), (2.0, Basis.COMPILED), (30.0, Basis.MODEL)):
        q = prediction.runtime_us
        shown = Quantiles(q.p10 * factor, q.p50 * factor, q.p90 * factor)
        agrees(replace(prediction, learned=ModelEstimate(shown, basis)))
        agrees(replace(prediction, through=Through(shown, Fit(1.0, 1.0, 0.1, ()), 1, 2)))


@settings(max_examples=60, deadline=None)
@given(place=st.integers(0, len(KERNELS) - 1), log_factor=st.floats(-12, 30))
@example(place=0, log_factor=0.0)
def test_whatever_the_time_its_parts_sum_to_it(place: int, log_factor: float) -> None:
    prediction = predicted(list(KERNELS)[place], DEVICES[-1])
    shown_us = prediction.runtime_us.p50 * 2**log_factor
    account = account_of(prediction.analytic_times, shown_us)
    assert sum(part.time_us for part in account.parts) == pytest.approx(shown_us)
    assert account.unexplained <= max(0.0, 1 - 1 / 2**log_factor) + 1e-9
    if 2**log_factor > 2 * MOST_EXPLAINED:
        assert account.unexplained > 0


@given(
    st.lists(st.dictionaries(st.sampled_from("abcde"), st.floats(0, 1e12), min_size=1), min_size=1, max_size=5),
    st.sampled_from([1.0, 2.0, 3.0]),
)
def test_what_overlaps_adds_up_to_the_whole(groups: list[dict[str, float]], norm: float) -> None:
    found = overlapped(groups, norm)
    longest = max(sum(group.values()) for group in groups)
    whole = longest * sum((sum(g.values()) / longest) ** norm for g in groups) ** (1 / norm) if longest > 0 else 0.0
    assert math.isclose(sum(exposed for _, exposed in found.values()), whole, rel_tol=1e-9, abs_tol=1e-300)
    assert all(exposed <= needed * (1 + 1e-9) + 1e-300 for needed, exposed in found.values())


def test_advice_goes_with_the_time_that_it_was_about() -> None:
    gpu = next(device for device in builtin_devices() if device.id == "nvidia-a100-pcie-40gb")
    prediction = predicted("product", gpu)
    assert [each for each in prediction.advice if each.resources == ("global memory",)]
    q = prediction.runtime_us
    assert prediction.analytic_times is not None
    analytic = replace(prediction.analytic_times, floor_us=0.0)
    half = replace(
        prediction,
        analytic_times=analytic,
        learned=ModelEstimate(Quantiles(q.p10 / 2, q.p50 / 2, q.p90 / 2), Basis.MODEL),
    )
    for before, after in zip(prediction.advice, half.advice, strict=True):
        assert before.gain_us is None or after.gain_us == pytest.approx(before.gain_us / 2)
    assert prediction.analytic_times is not None
    computing = tuple(
        (name, bound, 1e6 if name == "integer" else 1.0) for name, bound, _ in prediction.analytic_times.resources
    )
    shown = ModelEstimate(q, Basis.MODEL)
    assert not replace(prediction, analytic_times=Times(computing, 1e6, 1.0), learned=shown).advice
