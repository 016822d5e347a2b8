"""Another global size for a launch that is written down: lengths go along, or it is said what does not fit."""

from __future__ import annotations

import pytest

from model.device import Device
from model.engine import Engine
from model.launch.access_bounds import AccessBounds
from model.launch.expression import constant
from model.launch.launch import Launch
from model.launch.spec import LaunchSpec

RANK = """__kernel void k(__global const float *items, __global float *ordered, const int n) {
    int i = get_global_id(0), place = 0;
    for (int j = 0; j < n; ++j) place += items[j] < items[i];
    ordered[place] = items[i]; }"""
PICTURE = """__kernel void k(__global const float *a, __global float *b, int w, int h) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x < w && y < h) b[y * w + x] = a[y * w + x]; }"""
OPEN = """__kernel void k(__global const float *a, __global float *b) {
    int i = get_global_id(0); b[i] = a[i]; }"""


def asked(text: str, device: Device, *size: int, **values: int) -> Launch:
    spec = LaunchSpec(
        global_size=tuple(constant(s) for s in size),
        values=tuple((name, (constant(value),)) for name, value in values.items()),
    )
    (forecast,) = Engine().forecast(text, None, device, requests=[spec]).forecasts
    assert forecast.launch is not None, forecast.problem
    assert forecast.work is not None
    spans = AccessBounds(forecast.work, forecast.launch).spans
    if not any("does not fit" in note.text for note in forecast.launch.assumptions):
        assert all(4 * n >= spans[name].high for name, n in forecast.launch.buffers if spans[name].high < 1e9)
    return forecast.launch


@pytest.mark.parametrize(
    "launch",
    [
        "global=n local=64 n=8192 items=n ordered=n",
        "global=8192 local=64 n=8192 items=8192 ordered=8192",
        "global=ceil_div(n,64)*64 local=64 n=8192 items=n ordered=n",
    ],
)
def test_lengths_follow_the_global_size(launch: str, cpu: Device) -> None:
    found = asked(f"// kernelcast: {launch}\n{RANK}", cpu, 65536)
    assert found.global_size == (65536,)
    assert dict(found.scalars) == {"n": 65536}
    assert dict(found.buffers) == {"items": 65536, "ordered": 65536}
    assert any("scaled with the global size" in note.text for note in found.assumptions)


@pytest.mark.parametrize("launch", ["n=8192", "global=8192", "local=64"])
def test_what_nobody_said_reaches_as_far_as_the_launch(launch: str, cpu: Device) -> None:
    assert dict(asked(f"// kernelcast: {launch}\n{RANK}", cpu, 65536).buffers)["items"] >= 65536


def test_each_side_takes_its_own_names_along(cpu: Device) -> None:
    text = f"// kernelcast: global=(w, h) local=(16, 16) w=512 h=256 a=w*h b=w*h\n{PICTURE}"
    found = asked(text, cpu, 1024, 64)
    assert dict(found.scalars) == {"w": 1024, "h": 64}
    assert dict(found.buffers) == {"a": 65536, "b": 65536}


def test_what_the_request_gives_is_left_as_it_is(cpu: Device) -> None:
    found = asked(f"// kernelcast: global=n n=8192 items=n ordered=n\n{RANK}", cpu, 65536, n=100, ordered=5000)
    assert dict(found.scalars) == {"n": 100}
    assert dict(found.buffers) == {"items": 100, "ordered": 5000}


def test_what_no_longer_fits_is_named(cpu: Device) -> None:
    found = asked(f"// kernelcast: global=1024 a=1024\n{OPEN}", cpu, 4096, a=1024)
    assert any(
        note.text == "`a` does not fit this global size: it has 1024 elements, and 4096 are reached"
        for note in found.assumptions
    )


def test_the_size_that_is_written_down_changes_nothing(cpu: Device) -> None:
    text = f"// kernelcast: global=n local=64 n=8192 items=n ordered=n\n{RANK}"
    assert not asked(text, cpu, 8192).assumptions
