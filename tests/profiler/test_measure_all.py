"""Several launches in one go: one build, one process, and a failure costs its own launch alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from model.opencl.options import BuildOptions
from profiler.measure import MeasureLimits, measure_all
from profiler.measurement import BuildFailed, Cancelled, KernelCrashed, Measurement, MeasureRequest, TimedOut

pytestmark = [pytest.mark.device, pytest.mark.usefixtures("nothing_left_behind")]

# Writes where it is told: far away it crashes, at -1 it never ends.
SOURCE = """__kernel void put(__global int* x, int at) {
    for (int i = 0; at < 0; ++i) x[0] += i;
    x[(long)at * 1024 * 1024] = 1;
}
"""
FAR = 2**30
FOR_EVER = -1
Heard = list[tuple[float, str]]


@pytest.fixture
def put(make_kernel: Callable[..., Kernel], make_request: Callable[..., MeasureRequest], types: Any) -> Any:
    kernel = make_kernel("put", x=types.buffer(types.int), at=types.int)

    def request(at: int, n: int = 64, **more: Any) -> MeasureRequest:
        launch = Launch((n,), (8,), (("at", at),), (("x", 64),), **more)
        return make_request(SOURCE, kernel, launch, repeats=2, proved="guard pages")

    return request


def test_launches_of_one_source_are_built_once_and_answered_in_order(put: Any) -> None:
    heard: Heard = []
    sizes = (64, 128, 64, 256)
    outcomes = measure_all([put(0, n) for n in sizes], on_progress=lambda *step: heard.append(step))
    assert [o.launch for o in outcomes if isinstance(o, Measurement)] == [f"{n} / 8" for n in sizes]
    assert [text for _, text in heard if text.endswith("building")] == ["64 / 8: building"]
    assert [fraction for fraction, _ in heard] == sorted(fraction for fraction, _ in heard)
    assert 0 <= heard[0][0] <= heard[-1][0] <= 1


def test_a_crash_and_a_hang_cost_their_own_launches_only(put: Any) -> None:
    requests = [put(0), put(FAR), put(0, 128), put(FOR_EVER), put(0, 256)]
    first, crashed, second, hung, third = measure_all(requests, limits=MeasureLimits(first_run_s=8))
    assert all(isinstance(outcome, Measurement) for outcome in (first, second, third))
    assert isinstance(crashed, KernelCrashed)
    assert isinstance(hung, TimedOut)


def test_what_does_not_build_fails_once_for_all_its_launches_and_for_no_others(put: Any) -> None:
    heard: Heard = []
    broken = BuildOptions(defines=(("x", "+"),))
    requests = [put(0, options=broken), put(0, 128, options=broken), put(0)]
    one, two, fine = measure_all(requests, on_progress=lambda *step: heard.append(step))
    assert isinstance(one, BuildFailed)
    assert isinstance(two, BuildFailed)
    assert isinstance(fine, Measurement)
    assert len([text for _, text in heard if text.endswith("building")]) == 2
    assert fine.options == ""


def test_cancelling_keeps_what_was_measured(put: Any) -> None:
    cancel = threading.Event()

    def cancel_in_the_second(fraction: float, _text: str) -> None:
        if fraction > 0.5:
            cancel.set()

    done, *rest = measure_all([put(0), put(FOR_EVER)], on_progress=cancel_in_the_second, cancel=cancel)
    assert isinstance(done, Measurement)
    assert [type(outcome) for outcome in rest] == [Cancelled]


def test_a_device_that_is_not_there_fails_its_own_launches_only(put: Any) -> None:
    gone, fine = measure_all([replace(put(0), device_id="no-such-device"), put(0)])
    assert getattr(gone, "code", "") == "device"
    assert isinstance(fine, Measurement)


def test_nothing_asked_is_nothing_done() -> None:
    assert measure_all([]) == ()
