"""The page: a headline or a table of contents, then a section for each kernel."""

from __future__ import annotations

from collections.abc import Sequence

from model.launch.launch import Launch, Origin
from model.prediction import Prediction
from server.report.facts import KernelFacts, LaunchFacts, Report
from server.report.markup import Child, Column, Element, Row, document, prose, table, tag
from server.report.sections.breakdown import advice_section, breakdown_section, reading
from server.report.sections.devices import devices_section
from server.report.sections.headline import headline
from server.report.sections.history import history_section
from server.report.sections.roofline import roofline_section
from server.report.sections.sizes import sizes_section
from server.report.style import STYLE
from server.text.format import format_duration_us, format_interval, name_and_runtime, shown_name
from server.text.hint import basis_sign, guess_mark, guesses_text

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(report: Report) -> str:
    """Return the report as self-contained HTML."""
    several = len(report.kernels) > 1
    body = tag(
        "main",
        [tag("h1", report.title), _contents(report)] if several or not report.kernels else None,
        [tag("p", prose(problem), class_="warning problem") for problem in report.problems],
        [_kernel(kernel, place, "h2" if several else "h1") for place, kernel in enumerate(report.kernels, start=1)],
        _footer(report),
        data_kernels=str(len(report.kernels)),
    )
    return self_contained(report.title, body)


def self_contained(title: str, body: Element, style: str = "") -> str:
    """Return a page of its own as HTML: no scripts, nothing from elsewhere; `style` comes on top of the report's."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} - Kernelcast"),
        tag("style", STYLE + style),
    )
    return document(tag("html", head, tag("body", body), lang="en"))


def _contents(report: Report) -> Element:
    if not report.kernels:
        return tag("p", "There is no kernel here.", class_="lead")
    columns = (
        Column("Kernel"),
        Column("Predicted", "number"),
        Column("80 % range", "number"),
        Column("Measured", "number"),
        Column("Launch"),
        Column("Bound by"),
    )
    rows = [
        _content_row(kernel, place, launch, is_first=launch is kernel.launches[0])
        for place, kernel in enumerate(report.kernels, start=1)
        for launch in kernel.launches
    ]
    return tag("nav", table(columns, rows, "contents full", "Contents"), class_="contents")


def _content_row(kernel: KernelFacts, place: int, launch: LaunchFacts, *, is_first: bool) -> Row:
    prediction, measured = launch.forecast.prediction, launch.measured
    q = prediction.runtime_us if prediction else None
    cells: list[Child] = [
        tag("a", tag("code", kernel.name), href=f"#kernel-{place}") if is_first else "",
        f"{basis_sign(prediction)} {format_duration_us(q.p50)}{guess_mark(prediction)}" if prediction and q else "none",
        format_interval(q.p10, q.p90) if q else "",
        format_duration_us(measured.median_us) if measured else "",
        f"{launch.title}{guess_mark(prediction)}",
        str(prediction.bound) if prediction else "",
    ]
    return Row(cells, key=kernel.name)


def _kernel(kernel: KernelFacts, place: int, heading: str) -> Element:
    kernel_id = f"kernel-{place}"
    several = len(kernel.launches) > 1
    return tag(
        "section",
        tag(heading, tag("code", kernel.name), id=kernel_id),
        tag("p", _where(kernel), class_="soft where"),
        [_launch(kernel, launch, f"{kernel_id}-{n}", several) for n, launch in enumerate(kernel.launches, start=1)],
        tag("div", history_section(kernel, f"{kernel_id}-history"), class_="measurements"),
        class_="kernel",
        data_kernel=kernel.name,
    )


def _where(kernel: KernelFacts) -> str:
    device = kernel.device
    if device.calibrated:
        how = f"calibrated on {device.measured_at[:10]}" if device.measured_at else "calibrated"
    else:
        how = f"not calibrated, rates from the {device.source}"
    return f"{kernel.file}, line {kernel.line}; {name_and_runtime(device)}, {how}"


def _launch(kernel: KernelFacts, launch: LaunchFacts, launch_id: str, several: bool) -> Element:
    made = launch.forecast.launch
    said = None
    if made is not None:
        said = _said_of_launch(made, launch.forecast.prediction)
    return tag(
        "div",
        tag("h3", f"Launch {launch.title}") if several else None,
        headline(kernel, launch),
        said,
        reading(launch),
        advice_section(launch),
        roofline_section(launch, f"{launch_id}-roofline", shown_name(kernel.device.name)),
        sizes_section(launch, f"{launch_id}-sizes"),
        devices_section(launch),
        breakdown_section(kernel, launch),
        class_="launch",
        id=launch_id,
        data_launch=launch.title,
    )


def _said_of_launch(made: Launch, prediction: Prediction | None) -> Element:
    sizes = f"Launch: global size {_sizes(made.global_size)}, local size {_local(made)}"
    guessed = prediction is not None and prediction.is_guessed
    return tag(
        "p",
        f"{sizes}; known from {_origin(made.origin)}.",
        [" Guessed (marked ?): ", prose(guesses_text(prediction)), "."] if guessed and prediction else None,
        class_="soft launch-sizes",
    )


def _sizes(sizes: Sequence[int]) -> str:
    return " x ".join(f"{size:,}" for size in sizes)


def _local(made: Launch) -> str:
    return _sizes(made.local_size) if made.local_size else "as the driver chooses"


def _origin(origin: Origin) -> str:
    return {
        Origin.REQUEST: "the command line or request",
        Origin.ANNOTATION: "the annotation above the kernel",
        Origin.CONFIG: "kernelcast.toml",
        Origin.RECORDED: "a real run of the program",
        Origin.INFERRED: "the source alone",
    }[origin]


def _footer(report: Report) -> Element:
    made = report.made_at[:16].replace("T", " ")
    words = (
        f"Kernelcast {report.version}, {made} UTC. Times are for the kernel alone, as the device's own clock sees it: "
        "no copies to or from the host, no compilation."
    )
    return tag("footer", words)
