"""What a keystroke does not touch is not made anew, and what is known of it now is never an old view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lsprotocol import types

from model.forecast import FileForecast
from profiler.measurement import Measurement
from server.features.inlay_hints import inlay_hints
from server.launch_view import Slot
from server.positions import offset_of
from server.snapshot import Snapshot

Snapshots = Callable[..., Snapshot]
TWO = "__kernel void a(int n) {}\n__kernel void b(int n) {}\n"
# Kernels alone on their lines, several on one, signatures over two lines.
KERNELS = [
    "__kernel void {}(int n) {{}}\n",
    "__kernel void {}(int n) {{}} ",
    "__kernel void {}(int n,\n  int m)\n{{}}\n\n",
]


def analysed_anew(snapshot: Snapshot, forecast: FileForecast) -> Snapshot:
    return replace(snapshot, analysis=replace(snapshot.analysis, forecast=forecast))


def test_the_view_of_a_kernel_that_stayed_as_it_was_stays_too(snapshot_of: Snapshots) -> None:
    before = snapshot_of(TWO)
    first, second = before.kernels
    found = before.analysis.forecast
    typed = replace(found, forecasts=(replace(found.forecasts[0]), found.forecasts[1]))
    after = analysed_anew(before, typed)
    assert after.kernels[0] is not first
    assert after.kernels[1] is second


def test_a_measurement_is_seen_at_once(snapshot_of: Snapshots, measurement: Callable[..., Measurement]) -> None:
    before = snapshot_of()
    assert before.kernels[0].launches[0].measured is None
    after = replace(before, measured={Slot("blur", "#0"): measurement(before)})
    assert after.kernels[0].launches[0].measured is not None
    assert after.kernels[0].label != before.kernels[0].label


@pytest.mark.parametrize("line", [0, 1])
def test_one_of_several_launches_does_not_take_what_was_measured_of_the_kernel_once(
    snapshot_of: Snapshots, measurement: Callable[..., Measurement], line: int
) -> None:
    """Which of them that was of cannot be known."""
    snapshot = snapshot_of(TWO.replace("void b", "void a"))
    last = {"a": measurement(snapshot, kernel_fingerprint="of long ago")}
    snapshot = replace(snapshot, analysis=replace(snapshot.analysis, last=last))
    assert snapshot.kernels[line].launches[0].stale is None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.sampled_from(KERNELS), min_size=1, max_size=8),
    st.tuples(st.integers(0, 20), st.integers(0, 60)),
    st.tuples(st.integers(0, 20), st.integers(0, 60)),
)
def test_a_window_has_the_hints_of_the_whole_file_that_lie_in_it(
    snapshot_of: Snapshots, kernels: list[str], start: tuple[int, int], end: tuple[int, int]
) -> None:
    snapshot = snapshot_of("".join(kernel.format(f"k{place}") for place, kernel in enumerate(kernels)))
    start, end = sorted((start, end))
    text = snapshot.document.text
    window = types.Range(types.Position(*start), types.Position(*end))
    first, last = (offset_of(text, place, snapshot.encoding) for place in (window.start, window.end))
    inside = [h for h in inlay_hints(snapshot) if first <= offset_of(text, h.position, snapshot.encoding) <= last]
    assert inlay_hints(snapshot, window) == inside
