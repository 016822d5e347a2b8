"""The same launch on every device that is known, fastest first."""

from __future__ import annotations

from collections.abc import Sequence

from server.report.charts.axes import LogAxis
from server.report.facts import DeviceRow, LaunchFacts
from server.report.markup import Child, Column, Element, Row, table, tag
from server.text.devices import ratio_words, time_words
from server.text.format import format_interval, shown_name
from server.text.hint import basis_text, shorten

_COLUMNS = (
    Column("Device", "name"),
    Column("Predicted", "number"),
    Column("Ratio"),
    Column("80 % range", "number"),
    Column("", is_roomy=True),
    Column("Bound by"),
)
_RANGE_WIDTH, _RANGE_HEIGHT = 144.0, 16.0


def devices_section(launch: LaunchFacts) -> list[Child]:
    rows = launch.devices
    if not rows:
        return []
    able = [row for row in rows if row.prediction is not None]
    times = [t for r in able if r.prediction for t in (r.prediction.runtime_us.p10, r.prediction.runtime_us.p90)]
    axis = LogAxis.around(times, 4, _RANGE_WIDTH - 4)
    found: list[Child] = [
        tag("h4", "Other devices"),
        table(_COLUMNS, [_row(row, axis) for row in able], "devices full", "The same launch on other devices"),
    ]
    unable = [row for row in rows if row.prediction is None]
    if unable:
        said = [tag("li", f"{shown_name(row.device.name)}: {row.problem}.") for row in unable]
        found.append(tag("p", "These cannot run it:"))
        found.append(tag("ul", said, class_="unable"))
    found.append(tag("p", _note(able), class_="soft"))
    return found


def _row(row: DeviceRow, axis: LogAxis) -> Row:
    prediction = row.prediction
    assert prediction is not None
    q = prediction.runtime_us
    badges = [
        tag("span", words, class_="badge")
        for words, applies in (("here", row.is_here), ("calibrated", row.device.calibrated))
        if applies
    ]
    cells: list[Child] = [
        [tag("span", shorten(shown_name(row.device.name), 56), title=row.device.name), badges],
        time_words(prediction),
        _ratio(row),
        format_interval(q.p10, q.p90),
        _range(axis, q.p10, q.p50, q.p90),
        str(prediction.bound),
    ]
    return Row(cells, "current" if row.is_current else None, row.device.id)


def _ratio(row: DeviceRow) -> str:
    return ratio_words(row.ratio) if row.ratio is not None else ""


def _range(axis: LogAxis, low: float, middle: float, high: float) -> Element:
    """Return the interval as a line, for the eye; the figures stand beside it."""
    level = _RANGE_HEIGHT / 2
    return tag(
        "svg",
        tag("line", x1=axis.at(low), x2=axis.at(high), y1=level, y2=level, class_="range predicted"),
        tag("circle", cx=axis.at(middle), cy=level, r=3.5, class_="mark predicted"),
        class_="range",
        viewBox=f"0 0 {_RANGE_WIDTH:g} {_RANGE_HEIGHT:g}",
        aria_hidden="true",
    )


def _note(rows: Sequence[DeviceRow]) -> str:
    bases = dict.fromkeys(basis_text(r.prediction) for r in rows if r.prediction)
    return (
        f"Basis: {', '.join(bases)}. Ratios are 80 % intervals against the device of this report, in bold. Rates "
        "from a datasheet or from the driver have never been measured, which is why their intervals are wider (marked "
        "~); the generic devices do not exist and stand for their kind. `kernelcast devices --all` lists further ones "
        "to predict for."
    )
