"""Versions of a launch take turns on the real device: each has its times, and its results beside the first one's."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from model.launch.launch import Assumption, Fill, Launch
from model.opencl.kernel import Kernel
from profiler.measure import MeasureLimits
from profiler.measurement import BuildFailed, Cancelled, KernelCrashed, MeasureRequest, OutOfBounds
from profiler.side_by_side import SideBySide, Version, measure_side_by_side
from profiler.turns import Stopping

pytestmark = [pytest.mark.device, pytest.mark.usefixtures("nothing_left_behind")]

N = 1 << 14
SCALE = "__kernel void scale(__global const float* x, __global float* y) {{ int i = get_global_id(0); {body} }}"
ONCE = "y[i] = 3.0f * x[i];"
MANY = "float s = 0; for (int k = 0; k < 300; ++k) s += x[(i + k) % 16384] * x[i]; y[i] = s > 1e30f ? s : 3.0f * x[i];"
ROUNDED = "y[i] = x[i] + x[i] + x[i] * 1.0000002f;"
ADD = "y[get_global_id(0)] = 1.0f + x[get_global_id(0)];"
WRONG = "y[i] = 4.0f * x[i];"
OUTSIDE = "y[i + 100000] = 3.0f * x[i];"
CRASH = "y[i] = 3.0f * x[i]; if (i == 0) { volatile __private int* p = (volatile __private int*)8; *p = 1; }"
Request = Callable[..., MeasureRequest]


@pytest.fixture
def scale(make_kernel: Callable[..., Kernel], make_request: Request, types: Any) -> Request:
    kernel = make_kernel("scale", x=types.buffer(const=True), y=types.buffer())

    def request(body: str, local: int = 64, **launch: Any) -> MeasureRequest:
        return make_request(SCALE.format(body=body), kernel, Launch((N,), (local,), (), (("x", N), ("y", N)), **launch))

    return request


def side_by_side(requests: list[MeasureRequest], **more: Any) -> SideBySide:
    return measure_side_by_side(requests, **{"budget_s": 1.0, **more})


def test_each_version_has_times_and_its_results_beside_the_first_ones(scale: Request) -> None:
    heard: list[tuple[float, str]] = []
    found = side_by_side(
        [scale(ONCE), scale(ONCE, local=128), scale(ROUNDED), scale(WRONG)],
        on_progress=lambda *step: heard.append(step),
    )
    first, same, rounded, wrong = found.versions
    assert all(version.median_us and version.measurement for version in found.versions)
    assert first.equal is True
    assert found.is_repeatable
    assert same.equal is True
    assert rounded.equal is False
    assert rounded.max_ulps is not None
    assert rounded.max_ulps <= 4
    assert wrong.difference is not None
    assert wrong.difference.differing == ("y",)
    assert not wrong.difference.within(relative=0.1)
    assert [fraction for fraction, _ in heard] == sorted(fraction for fraction, _ in heard)
    assert same.measurement is not None
    assert same.measurement.launch == f"{N} / 128"


def test_a_version_that_is_far_slower_is_dropped_and_the_first_is_not(scale: Request) -> None:
    found = side_by_side([scale(MANY), scale(ONCE), scale(MANY)])
    base, best, slow = found.versions
    assert found.best == 1
    assert slow.is_dropped
    assert not base.is_dropped
    assert len(slow.turns_us) < len(base.turns_us)
    assert best.turns_us
    ratio = found.ratio(1)
    assert ratio is not None
    assert ratio.is_faster


def test_all_versions_take_all_turns_if_none_may_be_dropped(scale: Request) -> None:
    found = side_by_side([scale(ONCE), scale(MANY)], stopping=Stopping(drops_slower=False))
    counts = [len(version.turns_us) for version in found.versions]
    assert max(counts) - min(counts) <= 1  # the budget may end in the middle of a turn
    assert not any(version.is_dropped for version in found.versions)


def test_a_kernel_that_changes_its_input_begins_each_run_with_the_same(
    make_kernel: Callable[..., Kernel], make_request: Request, types: Any
) -> None:
    kernel = make_kernel("grow", x=types.buffer(types.int))
    source = "__kernel void grow(__global int* x) { int i = get_global_id(0); x[i] = x[i] * 3 + 1; }"
    launch = Launch((N,), (64,), (), (("x", N),), fills=(("x", Fill("iota")),))
    other = Launch((N,), (256,), (), (("x", N),), fills=(("x", Fill("iota")),))
    requests = [make_request(source, kernel, each) for each in (launch, other, launch)]
    assert [version.equal for version in side_by_side(requests).versions] == [True, True, True]


def test_a_version_that_names_its_buffers_otherwise_is_compared_by_position(
    scale: Request, make_kernel: Callable[..., Kernel], make_request: Request, types: Any
) -> None:
    kernel = make_kernel("twin", src=types.buffer(const=True), dst=types.buffer())
    source = "__kernel void twin(__global const float* src, __global float* dst) {"
    source += " int i = get_global_id(0); dst[i] = src[i] * 3.0f; }"
    twin = make_request(source, kernel, Launch((N,), (64,), (), (("src", N), ("dst", N))))
    _, other = side_by_side([scale(ONCE), twin]).versions
    assert other.difference is not None
    assert other.difference.compared == ("y",)
    assert other.equal is True


def test_what_fails_costs_nothing_but_itself(scale: Request) -> None:
    found = side_by_side(
        [scale(ONCE), scale("y[i] = ;"), scale(OUTSIDE), scale(CRASH), scale(ONCE, local=32)],
        limits=MeasureLimits(first_run_s=10),
    )
    kinds = [type(version.error) for version in found.versions]
    assert kinds == [type(None), BuildFailed, OutOfBounds, KernelCrashed, type(None)]
    assert found.versions[4].equal is True
    assert found.versions[4].median_us


def test_buffers_of_guessed_lengths_become_longer_for_all_versions(
    make_kernel: Callable[..., Kernel], make_request: Request, types: Any
) -> None:
    kernel = make_kernel("scale", x=types.buffer(const=True), y=types.buffer())
    guess = Assumption("y", "`y` is taken to be 64 elements long.")
    launches = [Launch((N,), (local,), (), (("x", N), ("y", 64)), assumptions=(guess,)) for local in (64, 128)]
    pinned = Launch((N,), (32,), (), (("x", N), ("y", 64)))  # nobody guessed it there, but it was as long
    requests = [make_request(SCALE.format(body=ONCE), kernel, launch) for launch in (*launches, pinned)]
    found = side_by_side(requests)
    assert [version.equal for version in found.versions] == [True, True, True]
    assert [version.request for version in found.versions] == requests
    for request, version in zip(requests, found.versions, strict=True):
        assert version.measurement is not None
        assert version.measurement.launch_key == request.launch.key
        assert any("`y` was made" in note for note in version.measurement.notes)


def test_without_the_first_version_the_others_are_timed_and_compared_with_nothing(scale: Request) -> None:
    found = side_by_side([scale("y[i] = ;"), scale(ONCE)])
    assert found.versions[1].median_us
    assert found.versions[1].equal is None


def test_a_cancel_keeps_what_was_measured_until_then(scale: Request) -> None:
    cancel = threading.Event()

    def hear(_fraction: float, text: str) -> None:
        if text.startswith("turn 3"):
            cancel.set()

    found = side_by_side([scale(ONCE), scale(ONCE, local=32)], budget_s=60.0, on_progress=hear, cancel=cancel)
    assert found.was_cancelled
    assert all(version.median_us for version in found.versions)
    cancelled: Version = side_by_side([scale(ONCE)], cancel=cancel).versions[0]
    assert isinstance(cancelled.error, Cancelled)


def test_a_buffer_that_a_version_declares_const_is_compared_all_the_same(
    make_kernel: Callable[..., Kernel], make_request: Request, types: Any
) -> None:
    def request(word: str, **kind: bool) -> MeasureRequest:
        source = f"__kernel void add(__global {word}float* x, __global float* y) {{ {ADD} }}"
        kernel = make_kernel("add", x=types.buffer(**kind), y=types.buffer())
        return make_request(source, kernel, Launch((N,), (64,), (), (("x", N), ("y", N))))

    found = side_by_side([request(""), request("const ", const=True)])
    assert found.versions[1].difference is not None
    assert found.versions[1].difference.compared == ("x", "y")
    assert found.versions[1].equal
