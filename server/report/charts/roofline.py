"""Roofline, log-log: the device's roofs, and how fast the launch computes for each byte that it asks for."""

from __future__ import annotations

import math
from collections.abc import Iterator

from model.prediction import Quantiles
from model.roofline import Roofline, Slope
from profiler.measurement import Measurement
from server.report.charts.axes import LogAxis
from server.report.charts.frame import FORMATS, WIDE, Entry, Format, Frame, bar, measured_mark, predicted_mark
from server.report.charts.labels import text_width
from server.report.markup import Element, tag
from server.text.format import format_count, format_mem_bytes


def roofline_charts(
    chart_id: str, roof: Roofline, runtime_us: Quantiles, measured: Measurement | None
) -> list[Element]:
    """Return one for wide and one for narrow pages. `roof` must have an intensity and slopes."""
    return [_draw(chart_id, format_, roof, runtime_us, measured) for format_ in FORMATS]


def _draw(
    chart_id: str, format_: Format, roof: Roofline, runtime_us: Quantiles, measured: Measurement | None
) -> Element:
    intensity = roof.intensity
    assert intensity is not None
    plot, top = format_.plot, max(c.gop_s for c in roof.ceilings)
    rates = [roof.gop_s(t) for t in (runtime_us.p10, runtime_us.p50, runtime_us.p90)]
    if measured:
        rates += [roof.gop_s(measured.p10_us), roof.gop_s(measured.p90_us)]
    ridges = [top / slope.read_gb_s for slope in roof.slopes]
    x = LogAxis.around([intensity / 4, intensity * 4, *ridges], plot.left, plot.right)
    floor = min([*rates, *(c.gop_s for c in roof.ceilings), roof.slopes[-1].read_gb_s * intensity / 4])
    y = LogAxis.around([floor, top, *rates], plot.bottom, plot.top)
    frame = Frame(format_, x, y)
    frame.axes(f"{roof.unit}s for each byte requested", f"G{roof.unit}/s", _plain, _plain)
    # Marks are named first, roofs where room is left.
    at = x.at(intensity)
    frame.labels.keep_line_free(at, y.at(rates[0]), at, y.at(rates[2]))
    frame.labels.keep_free(at, y.at(rates[1]))
    if measured:
        frame.labels.keep_free(at, y.at(roof.gop_s(measured.median_us)))
    marks = [*bar(at, y.at(rates[0]), at, y.at(rates[2]), "range predicted"), predicted_mark(at, y.at(rates[1]))]
    points = [("predicted", rates[1])]
    if measured:
        rate = roof.gop_s(measured.median_us)
        marks.append(measured_mark(at, y.at(rate)))
        points.append(("measured", rate))
    names = []
    for word, rate in points:
        amount = format_count(rate * 1e9, f"{roof.unit}/s")
        names.append(frame.labels.beside([f"{word} {amount}", amount], at, y.at(rate), f"label {word}"))
    draw_roofs(frame, roof, top)
    frame.add(marks, names)
    said = "; ".join(f"{word} {format_count(rate * 1e9, f'{roof.unit}/s')}" for word, rate in points)
    return frame.svg(chart_id, "Roofline", f"{intensity:.3g} {roof.unit}s for each byte: {said}.")


def draw_roofs(frame: Frame, roof: Roofline, top: float) -> None:
    """Draw slopes and ceilings with their names; all lines first, so that no name crosses one."""
    x, y, plot = frame.x, frame.y, frame.format.plot
    assert isinstance(x, LogAxis)
    assert isinstance(y, LogAxis)
    levels = [y.at(c.gop_s) for c in roof.ceilings]
    for ceiling, level in zip(roof.ceilings, levels, strict=True):
        start = x.at(max(x.low, min(x.high, ceiling.gop_s / roof.slopes[0].read_gb_s)))
        _roof(frame, start, level, plot.right, level, "roof compute")
    slopes = []
    for place, slope in enumerate(roof.slopes):
        low, high = max(x.low, y.low / slope.read_gb_s), min(x.high, top / slope.read_gb_s)
        if low < high:
            ends = (x.at(low), y.at(low * slope.read_gb_s), x.at(high), y.at(high * slope.read_gb_s))
            slopes.append((slope, ends))
            _roof(frame, *ends, f"roof memory level-{min(place, 2)}")
    for ceiling, level in zip(roof.ceilings, levels, strict=True):
        name = f"{ceiling.name} {format_count(ceiling.gop_s * 1e9, f'{roof.unit}/s')}"
        spots = ((plot.right - text_width(name) / 2 - 8 - 24 * step, level) for step in range(24))
        frame.add(frame.labels.along(name, spots, 0.0, "label roof-name"))
    rise = (y.end - y.start) / math.log(y.high / y.low)
    run = (x.end - x.start) / math.log(x.high / x.low)
    angle = math.degrees(math.atan2(rise, run))
    for slope, (x1, y1, x2, y2) in slopes:
        for name in _names(slope, len(roof.slopes), frame.format):
            spots = ((x1 + (x2 - x1) * s, y1 + (y2 - y1) * s) for s in _shares())
            label = frame.labels.along(name, spots, angle, "label roof-name")
            if label is not None:
                frame.add(label)
                break


def legend_entries(roof: Roofline, *, is_measured: bool) -> list[Entry]:
    """Return what the chart shows: marks, then every roof with its rate, also one whose name found no place on it."""
    found = [("mark predicted", "predicted, with its 80 % range")]
    if is_measured:
        found.append(("mark measured", "measured"))
    for place, slope in enumerate(roof.slopes):
        name = _names(slope, len(roof.slopes), WIDE)[0]
        found.append((f"roof memory level-{min(place, 2)}", f"roof of {name}"))
    for ceiling in roof.ceilings:
        rate = format_count(ceiling.gop_s * 1e9, f"{roof.unit}/s")
        found.append(("roof compute", f"roof of {ceiling.name}, {rate}"))
    return found


def _roof(frame: Frame, x1: float, y1: float, x2: float, y2: float, class_: str) -> None:
    frame.add(tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_))
    frame.labels.keep_line_free(x1, y1, x2, y2)


def _shares() -> Iterator[float]:
    yield from (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.15, 0.85)


def _names(slope: Slope, levels: int, format_: Format) -> list[str]:
    """Return the longest name first; on a narrow page the level alone may have to do."""
    rate = format_count(slope.read_gb_s * 1e9, "B/s")
    if slope.up_to_bytes is None:
        long, short = ("memory" if levels > 1 else "global memory"), "memory"
    else:
        long, short = f"caches up to {format_mem_bytes(slope.up_to_bytes)}", "caches"
    return [f"{long}, {rate}", f"{short}, {rate}", rate] if format_ is WIDE else [f"{short}, {rate}", rate]


def _plain(value: float) -> str:
    if value >= 1e4:
        return format_count(value).replace(" ", "")
    return f"{value:g}"
