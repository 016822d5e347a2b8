"""The page as a browser sees it: it answers the question, says what it cannot tell, and loads nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from model.device import Device, ProfileSource
from model.device_catalog import builtin_devices, find_builtin, well_known_devices
from model.forecast import FileForecast
from profiler.measurement import Measurement
from server.report.facts import Report
from server.report.page import page
from tests.server.report.conftest import SCALE, Page

ReportOf = Callable[..., Report]
MeasuredOf = Callable[..., Measurement]
Forecast = Callable[..., FileForecast]

TWO_LAUNCHES = SCALE.replace(
    "__kernel", "// kernelcast: global=N local=64 N=1048576 x=N n=N name=large\n__kernel"
).replace("x=N n=N\n", "x=N n=N name=small\n", 1)
HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(1)>'&amp;`</style></title>"


def test_the_first_sentence_answers_the_question(report_of: ReportOf) -> None:
    seen = Page(page(report_of(SCALE.replace("N=65536", "N=16777216"))))
    answer = seen.text("p", "answer")
    assert re.fullmatch(r"scale will take about [\d.]+ (ns|µs|ms) on Generic CPU .*, bound by memory\.", answer), answer
    assert [given["data-fact"] for _, given, _ in seen.all("div", "fact")] == ["predicted", "interval", "bound"]


def test_a_measurement_of_this_launch_comes_first(
    report_of: ReportOf, measured_of: MeasuredOf, forecast: Forecast
) -> None:
    measured = measured_of(forecast(SCALE), median_us=100.0)
    seen = Page(page(report_of(measured=[(measured, 50.0)])))
    assert seen.text("p", "answer").startswith("scale takes 100 µs on Generic CPU")
    told = seen.text("div", "fact measured")
    assert re.fullmatch(r"Measured100 µsprediction [\d.,]+(?: %|x) too (high|low)", told), told


def test_a_measurement_of_another_state_of_the_source_answers_nothing(
    report_of: ReportOf, measured_of: MeasuredOf, forecast: Forecast
) -> None:
    old = measured_of(forecast(SCALE), kernel_fingerprint="as it was")
    seen = Page(page(report_of(measured=[(old, 50.0)])))
    assert "will take" in seen.text("p", "answer")
    ((*_, source),) = seen.rows("history")
    assert source == "changed"


def test_nothing_is_loaded_and_nothing_runs(report_of: ReportOf) -> None:
    html = page(report_of())
    seen = Page(html)
    ((_, policy, _),) = seen.all("meta", http_equiv="Content-Security-Policy")
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert seen.all("script") == seen.all("link") == seen.all("img") == []
    assert "http://" not in html
    assert "https://" not in html
    assert "@import" not in html
    assert "url(" not in html
    assert not any(name.startswith("on") for _, given, _ in seen.elements for name in given)


def test_names_and_messages_never_become_markup(
    report_of: ReportOf, measured_of: MeasuredOf, forecast: Forecast
) -> None:
    """Kernel, file, launch, device and driver names are whatever somebody wrote."""
    found = forecast(SCALE)
    measured = measured_of(found, device_name=HOSTILE, launch=HOSTILE)
    (kernel,) = report_of(measured=[(measured, 1.0)], label=HOSTILE, broken_store="").kernels
    rows = tuple(replace(row, device=replace(row.device, name=HOSTILE)) for row in kernel.launches[0].devices)
    unable = replace(rows[0], prediction=None, problem=HOSTILE)
    launch = replace(kernel.launches[0], title=HOSTILE, devices=(unable, *rows[1:]))
    hostile = replace(kernel, name=HOSTILE, device=replace(kernel.device, name=HOSTILE), launches=(launch, launch))
    report = Report(HOSTILE, "2026-01-01T00:00:00+00:00", HOSTILE, (hostile, hostile), (HOSTILE, "zero \0 byte \ud800"))
    seen = Page(page(report))
    known = {
        "html", "head", "meta", "title", "style", "body", "main", "section", "div", "nav", "h1", "h2", "h3", "h4", "p",
        "dl", "dt", "dd", "ul", "li", "a", "code", "span", "table", "thead", "tbody", "tr", "th", "td", "figure",
        "figcaption", "footer", "svg", "desc", "g", "line", "path", "rect", "circle", "text", "polyline", "polygon",
    }  # fmt: skip
    assert {name for name, _, _ in seen.elements} <= known
    assert not any(name.startswith("on") for _, given, _ in seen.elements for name in given)
    assert HOSTILE in seen.all("h2")[0][2]
    page(report).encode("utf-8")


def test_ids_are_unique_and_every_link_leads_somewhere(report_of: ReportOf) -> None:
    seen = Page(page(report_of(TWO_LAUNCHES + SCALE.replace("scale", "again"))))
    ids = [given["id"] for _, given, _ in seen.elements if "id" in given]
    assert len(ids) == len(set(ids))
    links = [given["href"] for _, given, _ in seen.all("a")]
    assert len(links) == 2
    assert all(link.startswith("#") and link[1:] in ids for link in links)
    for _, given, _ in seen.all("svg", role="img"):
        assert all(name in ids for name in given["aria-labelledby"].split())


def test_several_kernels_have_a_table_of_contents(report_of: ReportOf) -> None:
    seen = Page(page(report_of(TWO_LAUNCHES + SCALE.replace("scale", "again"))))
    assert [[row[0], row[4]] for row in seen.rows("contents")] == [
        ["scale", "small"],
        ["", "large"],
        ["again", "65536 / 64"],
    ]
    assert [given["data-kernel"] for _, given, _ in seen.all("section", "kernel")] == ["scale", "again"]
    assert [given["data-launch"] for _, given, _ in seen.all("div", "launch")] == ["small", "large", "65536 / 64"]


def test_a_single_kernel_needs_no_contents(report_of: ReportOf) -> None:
    seen = Page(page(report_of()))
    assert seen.rows("contents") == []
    assert seen.text("h1") == "scale"


def test_well_known_devices_are_compared_fastest_first(report_of: ReportOf, cpu: Device) -> None:
    mine = replace(
        cpu, id="mine", name="My CPU", source=ProfileSource.CALIBRATED, measured_at="2026-01-01T00:00:00+00:00"
    )
    report = report_of(device=mine, here=[mine], remembered=[mine])
    seen = Page(page(report))
    ids = [
        given["data-key"]
        for _, given, _ in seen.all("tr")
        if given.get("data-key") in {d.id for d in builtin_devices()}
    ]
    assert set(ids) == {device.id for device in well_known_devices()}
    ((_, _, own),) = seen.all("tr", "current")
    assert own.startswith("My CPUherecalibrated")
    times = [row.prediction.runtime_us.p50 for row in report.kernels[0].launches[0].devices if row.prediction]
    assert times == sorted(times)
    (current,) = [row for row in report.kernels[0].launches[0].devices if row.is_current]
    assert current.ratio is None
    assert current.is_here


def test_a_device_that_cannot_run_the_launch_says_why(report_of: ReportOf) -> None:
    seen = Page(page(report_of(SCALE.replace("local=64", "local=2048"))))
    said = seen.text("ul", "unable")
    assert "Tesla T4: a work-group of 2048 work-items is more than Tesla T4 allows" in said


def test_what_was_scaled_is_told(report_of: ReportOf) -> None:
    said = Page(page(report_of())).text("figure", "sizes")
    assert "N (65,536 here) grows in proportion; x and n follow." in said
    assert "The local size stays 64" in said


def test_what_cannot_be_scaled_is_told_why(report_of: ReportOf) -> None:
    seen = Page(page(report_of(SCALE.replace("global=N", "global=64"))))
    assert "single work-group" in seen.text("p", "no-sizes")
    assert seen.all("figure", "sizes") == []


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("x[i] = x[i] * 2.0f;", "roofline"),
        ("y[i] = y[i] * 3 + 1;", "roofline"),
        ("z[i] = w[i];", "rate"),
        ("__local float t[64]; t[get_local_id(0)] = t[0] * t[1] + 0.5f;", "rate"),
        ("", "no-roofline"),
    ],
)
def test_where_there_is_no_roofline_something_else_is_said(report_of: ReportOf, body: str, shown: str) -> None:
    parameters = "__global float *x, __global int *y, __global float *z, __global const float *w"
    index = "size_t i = get_global_id(0);" if body else ""
    seen = Page(
        page(report_of(f"// kernelcast: global=4096 local=64\n__kernel void k({parameters}) {{ {index} {body} }}"))
    )
    found = [word for word in ("roofline", "rate", "no-roofline") if seen.all(class_=word)]
    assert found == [shown]


def test_a_kernel_without_prediction_says_why(report_of: ReportOf) -> None:
    seen = Page(page(report_of(SCALE.replace("local=64", "local=65536"))))
    assert "No prediction: " in seen.text("p", "no-prediction")
    assert seen.all("svg") == []


def test_a_file_without_kernels_says_so(report_of: ReportOf) -> None:
    assert "There is no kernel here." in Page(page(report_of("int x;\n"))).text("main")


def test_history_is_a_table_the_newest_first_with_a_trend(
    report_of: ReportOf, measured_of: MeasuredOf, forecast: Forecast
) -> None:
    found = forecast(SCALE)
    days = [
        (measured_of(found, median_us=100.0 - day, measured_at=f"2026-01-{day:02}T00:00:00+00:00"), 80.0)
        for day in (4, 3, 2, 1)
    ]
    seen = Page(page(report_of(measured=days)))
    rows = seen.rows("history")
    assert [row[0] for row in rows] == [f"2026-01-{day:02} 00:00" for day in (4, 3, 2, 1)]
    assert rows[0][3:] == ["96 µs", "95-120 µs", "±1.8 %", "80 µs", "-17 %", "as now"]
    assert len(seen.all("figure", "trend")) == 1


def test_a_store_that_cannot_be_read_costs_the_history_alone(report_of: ReportOf) -> None:
    seen = Page(page(report_of(broken_store="the store is locked")))
    assert seen.text("p", "no-history") == "the store is locked"
    assert seen.all("figure", "roofline")


def test_a_measurement_that_could_not_be_kept_is_shown_all_the_same(
    report_of: ReportOf, measured_of: MeasuredOf, forecast: Forecast
) -> None:
    measured = measured_of(forecast(SCALE), median_us=77.0)
    seen = Page(page(report_of(broken_store="the disk is full", in_session=(measured,))))
    assert seen.text("p", "answer").startswith("scale takes 77 µs")
    assert [row[3] for row in seen.rows("history")] == ["77 µs"]
    assert "the disk is full" in seen.text("p", "warning")


def test_the_curve_follows_what_was_measured_of_the_kernel(
    report_of: ReportOf, forecast: Forecast, measured_of: MeasuredOf, cpu: Device
) -> None:
    slow = measured_of(forecast(SCALE), driver=cpu.driver, median_us=90_000.0, p10_us=89_000.0, p90_us=91_000.0)
    sizes = report_of(measured=[(slow, None)]).kernels[0].launches[0].sizes
    assert sizes is not None
    assert next(p.runtime_us.p50 for p in sizes.points if p.is_current) == pytest.approx(90_000, rel=0.05)
    said = Page(page(report_of(measured=[(slow, None)]))).text("figure", "sizes")
    assert "The curve follows what was measured of this kernel" in said
    alone = Page(page(report_of())).text("figure", "sizes")
    assert "The curve follows" not in alone


def test_measurements_at_other_sizes_stand_on_the_chart(
    report_of: ReportOf, measured_of: MeasuredOf, forecast: Forecast
) -> None:
    found = forecast(TWO_LAUNCHES)
    rows = [(measured_of(found, 0, median_us=40.0), 50.0), (measured_of(found, 1, median_us=700.0), 50.0)]
    other_arguments = replace(rows[0][0], launch_key="other arguments", median_us=9999.0)
    report = report_of(TWO_LAUNCHES, measured=[*rows, (other_arguments, None)])
    sizes = report.kernels[0].launches[0].sizes
    assert sizes is not None
    assert [(m.work_items, m.median_us) for m in sizes.measured] == [(65536, 40.0), (1048576, 700.0)]
    (wide, *_) = Page(page(report)).all("figure", "sizes")
    assert "measured 700 µs" in wide[2]


def test_the_page_follows_the_editors_theme_and_the_browsers() -> None:
    from server.report.style import STYLE

    assert "var(--vscode-editor-background, var(--plain-page))" in STYLE
    for words in ("prefers-color-scheme: dark", "forced-colors: active", "@media print", "body.vscode-dark"):
        assert words in STYLE
    assert STYLE.count("{") == STYLE.count("}")


def test_predictions_of_a_gpu_are_reported_without_one(report_of: ReportOf) -> None:
    gpu = find_builtin("nvidia-h200")
    assert gpu is not None
    assert "NVIDIA H200" in Page(page(report_of(device=gpu))).text("p", "answer")
