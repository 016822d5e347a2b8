"""The picture of a device: its roofline, its bandwidth by footprint, its curves where it was calibrated, its figures.

One SVG that stands for itself: its colours follow light and dark, and renderers that know neither variables nor media
queries draw the light one.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.etree import ElementTree

from model.device import Device, Rates
from model.roofline import Roofline, Slope
from server.device_report.facts import Figure, Group, ceilings, groups, intensities, levels, origin
from server.report.charts.axes import LogAxis
from server.report.charts.frame import Format, Frame, measured_mark, polyline, predicted_mark
from server.report.charts.labels import text_width
from server.report.charts.roofline import draw_roofs
from server.report.markup import Child, Element, tag
from server.report.style import CHARTS, DARK, LIGHT
from server.text.format import format_count, format_mem_bytes, shown_name


@dataclass(frozen=True, slots=True)
class Curve:
    """Both axes are logarithmic; all values are above 0."""

    title: str
    x_title: str
    y_title: str
    points: tuple[tuple[float, float], ...]


def curves(rates: Rates) -> Iterator[Curve]:
    """Yield the measured curves, of at least two points each."""
    items, stride = "work-items in the group", "stride in elements"
    every = (
        ("Throughput by work-groups", "work-groups", "Gflop/s", [(p.work_groups, p.gflop_s) for p in rates.scaling]),
        ("Independent accumulators", "accumulators", "Gflop/s", [(p.chains, p.gflop_s) for p in rates.chains]),
        ("Loads by stride", stride, "Gload/s", [(p.stride_elements, p.strided_gaccess_s) for p in rates.strided]),
        ("Random loads", "bytes", "Gload/s", [(p.footprint_bytes, p.gather_gaccess_s) for p in rates.gather]),
        ("Local memory by stride", stride, "GB/s", [(p.stride_elements, p.local_gb_s) for p in rates.local_strided]),
        ("A barrier", items, "ns", [(p.group_items, p.barrier_ns) for p in rates.barriers]),
        ("Ways through a branch", "ways", "times as long", [(p.ways, p.slowdown) for p in rates.divergence]),
        ("Private arrays", "bytes", "GB/s", [(p.array_bytes, p.private_gb_s) for p in rates.private_arrays]),
    )
    for title, x_title, y_title, points in every:
        usable = tuple((float(x), float(y)) for x, y in points if x > 0 and y > 0)
        if len(usable) > 1:
            yield Curve(title, x_title, y_title, usable)


WIDTH = 760.0
_EDGE, _LINE = 20.0, 17.0
_ROOFLINE, _FOOTPRINTS, _SMALL = Format("roofline", 720, 340), Format("footprints", 720, 250), Format("small", 352, 200)
_FIGURE_GROUPS = ("Device", "Starting and waiting", "Rates", "Memory")


def picture_svg(device: Device) -> str:
    """Return a whole SVG document."""
    parts: list[Child] = []
    bottom = _header(parts, device)
    for chart, format_ in _wide_charts(device):
        bottom = _place(parts, chart, format_, _EDGE, bottom + 8)
    small = [(curve.title, _curve_chart(curve)) for curve in curves(device.rates)]
    for row in range(0, len(small), 2):
        bottom = _small_row(parts, small[row : row + 2], bottom + 10)
    bottom = _figures(parts, [g for g in groups(device) if g.title in _FIGURE_GROUPS], bottom + 22)
    root = tag(
        "svg",
        tag("title", f"What {shown_name(device.name)} sustains"),
        tag("style", _style()),
        tag("rect", class_="page", width="100%", height="100%"),
        parts,
        xmlns="http://www.w3.org/2000/svg",
        width=WIDTH,
        height=bottom + _EDGE,
        viewBox=f"0 0 {WIDTH:g} {bottom + _EDGE:g}",
    )
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _style() -> str:
    own = """svg { font-size: 12px; font-family: system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
.page { fill: var(--page); }
text { fill: var(--text); }
.name { font-size: 20px; font-weight: 600; }
.group { font-weight: 600; }
.figure-name, .noise, .from { fill: var(--soft); }
.level { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 2 4; }
.curve.write { stroke: var(--measured); stroke-dasharray: 6 3; }
.curve.copy { stroke: var(--memory); stroke-dasharray: 2 3; }
"""
    rules = own + CHARTS
    return f"{_coloured(rules, LIGHT)}@media (prefers-color-scheme: dark) {{\n{_coloured(rules, DARK)}}}\n"


def _coloured(rules: str, theme: str) -> str:
    colours = dict(re.findall(r"--plain-(\w+): (#\w+)", theme))
    return re.sub(r"var\(--(\w+)\)", lambda found: colours[found[1]], rules)


def _header(parts: list[Child], device: Device) -> float:
    platform = "" if device.platform in ("", "none") else f", {device.platform}"
    driver = f", driver {device.driver}" if device.driver else ""
    top = 38.0
    parts.append(_words(shown_name(device.name), _EDGE, top, "name"))
    for line in textwrap.wrap(f"{device.id}{platform}{driver}. {origin(device)}", 118):
        top += _LINE
        parts.append(_words(line, _EDGE, top + 4, "from"))
    return top + 8


def _wide_charts(device: Device) -> Iterator[tuple[Element, Format]]:
    slopes, roofs = levels(device), ceilings(device)
    if slopes and roofs:
        roof = Roofline("op", 0, 0, tuple(Slope(level.read_gb_s, level.up_to_bytes) for level in slopes), roofs)
        plot, top = _ROOFLINE.plot, roofs[0].gop_s
        low, high = intensities(slopes, roofs)
        floor = min(slopes[-1].read_gb_s * low, roofs[-1].gop_s)
        x = LogAxis.around([low, high], plot.left, plot.right)
        frame = Frame(_ROOFLINE, x, LogAxis.around([floor, top], plot.bottom, plot.top))
        frame.axes("operations for each byte", "Gop/s", _plain, _plain)
        draw_roofs(frame, roof, top)
        yield (
            frame.svg("roofline", "Roofline", f"{len(slopes)} levels of memory under {len(roofs)} ceilings."),
            _ROOFLINE,
        )
    if len(device.rates.bandwidth) > 1:
        yield _footprint_chart(device), _FOOTPRINTS


def _footprint_chart(device: Device) -> Element:
    points, plot = device.rates.bandwidth, _FOOTPRINTS.plot
    kinds = [("read", [p.read_gb_s for p in points]), ("write", [p.write_gb_s for p in points])]
    if any(p.copy_gb_s for p in points):
        kinds.append(("copy", [p.copy_gb_s for p in points]))
    x = LogAxis.around([float(p.footprint_bytes) for p in points], plot.left, plot.right)
    y = LogAxis.around([v for _, values in kinds for v in values], plot.bottom, plot.top)
    frame = Frame(_FOOTPRINTS, x, y)
    frame.axes("", "GB/s", lambda _: "", _plain)
    taken_to = 0.0
    for p in points:
        words, at = format_mem_bytes(p.footprint_bytes), x.at(p.footprint_bytes)
        if at - text_width(words) / 2 > taken_to:
            taken_to = at + text_width(words) / 2 + 6
            frame.add(_words(words, at, plot.bottom + 15, "tick", "middle"))
    frame.add(_words("footprint", plot.left, _FOOTPRINTS.height - 8, "title"))
    for level in levels(device):
        if level.up_to_bytes and level.up_to_bytes <= x.high:
            at = x.at(level.up_to_bytes)
            frame.add(tag("line", class_="level", x1=at, x2=at, y1=plot.top, y2=plot.bottom))
            frame.labels.keep_line_free(at, plot.top, at, plot.bottom)
    for kind, values in kinds:
        drawn = [(x.at(p.footprint_bytes), y.at(v)) for p, v in zip(points, values, strict=True) if v > 0]
        mark = measured_mark if kind == "write" else predicted_mark
        frame.add(polyline(drawn, f"curve {kind}"), [mark(*spot) for spot in drawn] if kind != "copy" else None)
        for spot, following in pairwise(drawn):
            frame.labels.keep_line_free(*spot, *following)
    for level in levels(device):
        words = f"{level.name} {format_count(level.read_gb_s * 1e9, 'B/s')}"
        at_bytes = level.up_to_bytes or points[-1].footprint_bytes
        if at_bytes <= x.high:
            frame.add(
                frame.labels.beside([words, level.name], x.at(at_bytes), y.at(level.read_gb_s), "label", first="end")
            )
    said = "disc and line: read; diamond and dashes: write" + ("; dots: copy" if len(kinds) > 2 else "")
    frame.add(_words(said, plot.right, _FOOTPRINTS.height - 8, "tick", "end"))
    return frame.svg(
        "footprints", "Bandwidth by footprint", f"From {kinds[0][1][0]:.3g} to {kinds[0][1][-1]:.3g} GB/s."
    )


def _curve_chart(curve: Curve) -> Element:
    plot = _SMALL.plot
    x = LogAxis.around([at for at, _ in curve.points], plot.left, plot.right, least_decades=0.5)
    y = LogAxis.around([value for _, value in curve.points], plot.bottom, plot.top, least_decades=0.5)
    frame = Frame(_SMALL, x, y)
    frame.axes(curve.x_title, curve.y_title, _plain, _plain)
    drawn = [(x.at(at), y.at(value)) for at, value in curve.points]
    frame.add(polyline(drawn, "curve"), [predicted_mark(*at) for at in drawn])
    first, last = curve.points[0], curve.points[-1]
    words = f"From {first[1]:.3g} at {first[0]:g} to {last[1]:.3g} at {last[0]:g}."
    return frame.svg(re.sub(r"\W+", "-", curve.title.lower()), curve.title, words)


def _small_row(parts: list[Child], charts: Sequence[tuple[str, Element]], top: float) -> float:
    bottom = top
    for place, (title, chart) in enumerate(charts):
        left = _EDGE + place * (_SMALL.width + 16)
        parts.append(_words(title, left, top + 12, "group"))
        bottom = _place(parts, chart, _SMALL, left, top + 16)
    return bottom


def _place(parts: list[Child], chart: Element, format_: Format, left: float, top: float) -> float:
    for name, value in (("x", left), ("y", top), ("width", format_.width), ("height", format_.height)):
        chart.set(name, f"{value:g}")
    parts.append(chart)
    return top + format_.height


def _figures(parts: list[Child], shown: Sequence[Group], top: float) -> float:
    """Draw the figures in two columns of about the same height."""
    heights, column_width = [top, top], (WIDTH - 2 * _EDGE) / 2
    for group in shown:
        column = heights.index(min(heights))
        left = _EDGE + column * column_width
        parts.append(_words(group.title, left, heights[column], "group"))
        for figure in group.figures:
            heights[column] += _LINE
            parts.extend(_figure(figure, left, heights[column], column_width - 24))
        heights[column] += 2 * _LINE
    return max(heights) - _LINE


def _figure(figure: Figure, left: float, top: float, width: float) -> Iterator[Element]:
    yield _words(figure.name, left, top, "figure-name")
    if figure.noise:
        yield _words(figure.noise, left + width, top, "noise", "end")
    yield _words(figure.value, left + width - (56 if figure.noise else 0), top, "value", "end")


def _words(text: str, x: float, y: float, class_: str, anchor: str = "start") -> Element:
    return tag("text", text, x=x, y=y, class_=class_, text_anchor=anchor)


def _plain(value: float) -> str:
    return format_count(value).replace(" ", "") if value >= 1e4 else f"{value:g}"
