"""Charts: ticks are round and within the plot, labels overlap nothing, and colours are never the only sign."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from model.device import Device
from model.device_catalog import builtin_devices, find_builtin
from profiler.measurement import Measurement
from server.report.charts.axes import LinearAxis, LogAxis
from server.report.charts.labels import Box, Labels, text_width
from server.report.charts.roofline import roofline_charts
from server.report.facts import Report
from server.report.sections.sizes import size_charts

ReportOf = Callable[..., Report]
positive = st.floats(1e-9, 1e15)


@given(st.lists(positive, min_size=1, max_size=6))
def test_a_log_axis_holds_its_values_and_ticks_them_within(values: list[float]) -> None:
    axis = LogAxis.around(values, 10, 500)
    assert all(axis.holds(v) and 10 <= axis.at(v) <= 500 for v in values)
    ticks = axis.ticks()
    assert 1 <= len(ticks) <= 14
    assert all(9.9 <= axis.at(tick) <= 500.1 for tick in ticks)
    assert list(ticks) == sorted(set(ticks))


@given(positive, positive)
def test_a_log_axis_keeps_order(one: float, other: float) -> None:
    assume(one * 1.000001 < other)  # apart by more than a pixel's rounding
    axis = LogAxis.around([one, other], 0, 100)
    assert axis.at(one) < axis.at(other)


@given(st.floats(0.001, 1e9))
def test_a_linear_axis_has_a_handful_of_round_ticks(high: float) -> None:
    ticks = LinearAxis(0, high, 0, 100).ticks()
    assert 2 <= len(ticks) <= 8
    assert all(0 <= tick <= high * 1.001 for tick in ticks)


def test_an_axis_over_nothing_is_still_an_axis() -> None:
    assert LogAxis.around([], 0, 1).ticks()
    assert LogAxis.around([0.0, float("inf"), float("nan")], 0, 1).ticks()


@given(st.lists(st.tuples(st.floats(0, 300), st.floats(0, 200)), max_size=30))
def test_labels_never_overlap_nor_leave_the_plot(points: list[tuple[float, float]]) -> None:
    labels = Labels(Box(0, 0, 300, 200))
    found = [labels.beside(["a word or two", "short"], x, y, "label") for x, y in points]
    boxes = [_box(each) for each in found if each is not None]
    assert all(not one.meets(other) for one, other in combinations(boxes, 2))
    assert all(box.within(Box(-0.1, -0.1, 300.1, 200.1)) for box in boxes)


@pytest.mark.parametrize("device", builtin_devices(), ids=lambda d: d.id)
def test_texts_on_rooflines_overlap_nowhere(report_of: ReportOf, device: Device) -> None:
    launch = report_of(device=device).kernels[0].launches[0]
    assert launch.forecast.prediction is not None
    assert launch.roofline is not None
    for chart in roofline_charts("c", launch.roofline, launch.forecast.prediction.runtime_us, None):
        _no_overlap(chart)


def test_texts_on_size_charts_overlap_nowhere(report_of: ReportOf) -> None:
    sizes = report_of().kernels[0].launches[0].sizes
    assert sizes is not None
    for chart in size_charts("c", sizes):
        _no_overlap(chart)
        assert chart.get("role") == "img"
        assert chart.find("title") is not None
        assert chart.find("desc") is not None


def test_predicted_and_measured_differ_in_shape(report_of: ReportOf, measured_of: Callable[..., Measurement]) -> None:
    device = find_builtin("generic-cpu")
    assert device is not None
    launch = report_of().kernels[0].launches[0]
    roof, prediction = launch.roofline, launch.forecast.prediction
    assert roof is not None
    assert prediction is not None
    q = prediction.runtime_us
    from model.forecast import FileForecast

    measured = measured_of(FileForecast((launch.forecast.kernel,), (launch.forecast,)), median_us=q.p50 * 3)
    for chart in roofline_charts("c", roof, q, measured):
        marks = {each.get("class"): each.tag for each in chart.iter() if "mark" in (each.get("class") or "")}
        assert marks == {"mark predicted": "circle", "mark measured": "path"}
        dashes = {each.get("class") for each in chart.iter("line") if "roof" in (each.get("class") or "")}
        assert any("compute" in str(c) for c in dashes)
        assert any("memory" in str(c) for c in dashes)


def _no_overlap(chart: ElementTree.Element) -> None:
    upright = [text for text in chart.iter("text") if text.get("transform") is None]
    boxes = [(_box(text), text.text) for text in upright]
    met = [(a, b) for (one, a), (other, b) in combinations(boxes, 2) if one.meets(other)]
    assert met == []
    _, _, width, height = (float(number) for number in (chart.get("viewBox") or "").split())
    assert all(box.within(Box(0, 0, width, height)) for box, _ in boxes)


def _box(text: ElementTree.Element) -> Box:
    """Of a level text, as wide as it is taken for."""
    x, y, width = float(text.get("x") or 0), float(text.get("y") or 0), text_width(re.sub(r"\s", " ", text.text or ""))
    left = {"start": x, "middle": x - width / 2, "end": x - width}[text.get("text-anchor") or "start"]
    return Box(left, y - 6, left + width, y + 6)
