"""Measured and predicted times of kernels over commits: the series, and a page with a chart for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from server.report.charts.axes import LinearAxis
from server.report.charts.frame import Format, Frame, bar, legend, measured_mark, polyline, predicted_mark
from server.report.markup import Child, Column, Element, Row, table, tag
from server.report.page import self_contained
from server.text.format import format_duration_us, format_percent

_FORMATS = (Format("wide", 720, 220), Format("narrow", 372, 220))
_LEGEND = (
    ("mark predicted", "predicted by today's model, with its 80 % interval"),
    ("mark measured", "measured median of that version, with its 80 % range"),
)
_COLUMNS = (
    Column("Commit"), Column("Date"), Column("Predicted", "number"), Column("Change", "number"),
    Column("Measured", "number"), Column("Subject"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Interval:
    """A median with an 80 % interval or range around it [us]."""

    low_us: float
    middle_us: float
    high_us: float


@dataclass(frozen=True, slots=True)
class CommitPoint:
    """One version of a kernel: what is predicted, and what was measured of exactly this version; None if unknown."""

    commit: str
    date: str
    subject: str
    predicted: Interval | None
    measured: Interval | None
    is_changed: bool  # the kernel means something else than in the version before


@dataclass(frozen=True, slots=True)
class KernelTrend:
    """The versions of one kernel under one launch, the oldest first."""

    file: str
    kernel: str
    launch: str
    device: str
    points: tuple[CommitPoint, ...]


def change_percent(points: Sequence[CommitPoint], place: int) -> float | None:
    """Return the change of the prediction from the version before [%]; None if either is unknown."""
    if place == 0:
        return None
    before, now = points[place - 1].predicted, points[place].predicted
    return None if before is None or now is None else 100 * (now.middle_us / before.middle_us - 1)


def trend_page(trends: Sequence[KernelTrend]) -> str:
    """Return a self-contained page."""
    names = dict.fromkeys(trend.kernel for trend in trends)
    title = f"{next(iter(names))} over commits" if len(names) == 1 else "Kernels over commits"
    body = tag(
        "main",
        tag("h1", title),
        [_section(trend, f"trend-{place}") for place, trend in enumerate(trends)],
        data_kernels=str(len(trends)),
    )
    return self_contained(title, body)


def _section(trend: KernelTrend, chart_id: str) -> Element:
    rows = [_row(trend.points, place) for place in range(len(trend.points) - 1, -1, -1)]
    figure: list[Child] = [[_draw(chart_id, each, trend.points) for each in _FORMATS], legend(_LEGEND)]
    return tag(
        "section",
        tag("h2", tag("code", trend.kernel)),
        tag("p", f"{trend.file}, launch {trend.launch}, on {trend.device}", class_="soft where"),
        tag("figure", figure, class_="trend"),
        table(_COLUMNS, rows, "history full", f"Versions of {trend.kernel}"),
        class_="kernel",
        data_kernel=trend.kernel,
    )


def _draw(chart_id: str, format_: Format, points: Sequence[CommitPoint]) -> Element:
    plot = format_.plot
    both = [(place, each) for place, point in enumerate(points) for each in (point.predicted, point.measured) if each]
    x = LinearAxis(-0.5, len(points) - 0.5, plot.left, plot.right)
    y = LinearAxis(0.0, 1.1 * max((each.high_us for _, each in both), default=1.0), plot.bottom, plot.top)
    frame = Frame(format_, LinearAxis(0, 0, plot.left, plot.right), y)
    frame.axes(f"{points[0].commit} to {points[-1].commit}", "runtime", lambda _: "", format_duration_us)
    for kind in ("predicted", "measured"):
        found = [(place, each) for place, point in enumerate(points) if (each := getattr(point, kind)) is not None]
        frame.add(polyline([(x.at(place), y.at(each.middle_us)) for place, each in found], f"curve {kind}"))
        for place, each in found:
            at, mark = x.at(place), predicted_mark if kind == "predicted" else measured_mark
            frame.add(bar(at, y.at(each.low_us), at, y.at(each.high_us), f"range {kind}"))
            frame.add(mark(at, y.at(each.middle_us)))
    return frame.svg(chart_id, "Time of this kernel over commits", f"{len(points)} versions.")


def _row(points: Sequence[CommitPoint], place: int) -> Row:
    point, change = points[place], change_percent(points, place)
    cells: list[Child] = [
        tag("code", point.commit),
        point.date[:10],
        format_duration_us(point.predicted.middle_us) if point.predicted else "",
        format_percent(change, signed=True) if change is not None and point.is_changed else "",
        format_duration_us(point.measured.middle_us) if point.measured else "",
        point.subject,
    ]
    return Row(cells, None if point.is_changed else "other")
