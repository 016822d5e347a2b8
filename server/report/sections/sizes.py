"""Runtime against problem size, and in words what was scaled for that."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from model.launch.scaling_plan import Plan
from server.report.charts.axes import LogAxis
from server.report.charts.frame import (
    FORMATS,
    Format,
    Frame,
    band,
    bar,
    legend,
    measured_mark,
    polyline,
    predicted_mark,
)
from server.report.facts import LaunchFacts, Sizes
from server.report.markup import Child, Element, prose, tag
from server.text.format import format_count, format_duration_us
from server.text.measured import fit_sentence

_ROOTS = {1.0: " in proportion", 0.5: " with the square root of the problem", 1 / 3: " with its cube root"}


def sizes_section(launch: LaunchFacts, chart_id: str) -> list[Child]:
    sizes = launch.sizes
    if sizes is None:
        return []
    heading = tag("h4", "Problem size")
    if len(sizes.points) < 2:
        why = sizes.plan.reason or sizes.stopped or "nothing of the launch is a size"
        return [heading, tag("p", "Other sizes cannot be predicted: ", prose(why), ".", class_="soft no-sizes")]
    caption = tag("figcaption", [tag("p", prose(text)) for text in _explained(sizes, launch)])
    entries = [("curve", "predicted"), ("band", "its 80 % range"), ("mark predicted", "this launch")]
    if sizes.measured:
        entries.append(("mark measured", "measured"))
    return [heading, tag("figure", size_charts(chart_id, sizes), legend(entries), caption, class_="sizes")]


def _explained(sizes: Sizes, launch: LaunchFacts) -> list[str]:
    plan, made = sizes.plan, launch.forecast.launch
    assert made is not None
    low, high = sizes.points[0].factor, sizes.points[-1].factor
    local = "x".join(map(str, made.local_size)) if made.local_size else "the driver's choice"
    said = [
        f"The same kernel from {_times(low)} to {_times(high)} the size of this launch. {_grows(plan)} The local size "
        f"stays {local}, and the global size a multiple of it."
    ]
    if plan.stays:
        listed = ", ".join(f"`{name}` = {value:,}" for name, value in plan.stays[:8])
        said.append(f"Not sizes, and left unchanged: {listed}{', ...' if len(plan.stays) > 8 else ''}.")
    if sizes.measured:
        said.append("Measurements are of this very source on this device.")
    if sizes.line is not None:
        said.append(f"The curve follows what was measured of this kernel: {fit_sentence(sizes.line)}.")
    if sizes.stopped:
        said.append(f"Nothing larger: {sizes.stopped}.")
    return said


def _grows(plan: Plan) -> str:
    groups: dict[float, list[str]] = {}
    powers = [power for power in plan.sides if power]
    if powers:
        groups[round(powers[0], 3)] = ["the global size" if len(powers) == 1 else "each side of the global size"]
    for growth in (*plan.drivers, *plan.followers):
        groups.setdefault(round(growth.power, 3), []).append(f"`{growth.name}` ({growth.at:,} here)")
    text = "; ".join(
        f"{_joined(names)} {'grows' if len(names) == 1 else 'grow'}{_how(power)}" for power, names in groups.items()
    )
    verb = "follows" if len(plan.follows) == 1 else "follow"
    follows = f"; {_listed(plan.follows)} {verb}" if plan.follows else ""
    return f"{text[:1].upper()}{text[1:]}{follows}."


def _how(power: float) -> str:
    named = next((words for known, words in _ROOTS.items() if abs(known - power) < 0.01), None)
    return named or f" with the problem to the power of {power:.2g}"


def _joined(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _listed(names: tuple[str, ...]) -> str:
    shown = [f"`{name}`" for name in names[:8]]
    if len(names) > 8:
        return f"{', '.join(shown)} and {len(names) - 8} more"
    return _joined(shown)


def _times(factor: float) -> str:
    return f"{format_count(factor)} times" if factor >= 1 else f"1/{format_count(1 / factor)}"


def size_charts(chart_id: str, sizes: Sizes) -> list[Element]:
    """Return one for wide and one for narrow pages; `sizes` must hold two points at least."""
    return [_chart(chart_id, format_, sizes) for format_ in FORMATS]


def _chart(chart_id: str, format_: Format, sizes: Sizes) -> Element:
    plot, points = format_.plot, sizes.points
    first, last = points[0].work_items, points[-1].work_items
    shown = [m for m in sizes.measured if first / 4 <= m.work_items <= last * 4]
    items = [float(p.work_items) for p in points] + [float(m.work_items) for m in shown]
    times = [t for p in points for t in (p.runtime_us.p10, p.runtime_us.p90)]
    times += [t for m in shown for t in (m.p10_us, m.p90_us)]
    x = LogAxis.around(items, plot.left, plot.right)
    y = LogAxis.around(times, plot.bottom, plot.top)
    frame = Frame(format_, x, y)
    frame.axes("work-items", "runtime", format_count, lambda v: format_duration_us(v, 1))
    curve = [(x.at(p.work_items), y.at(p.runtime_us.p50)) for p in points]
    frame.add(
        band(
            [(x.at(p.work_items), y.at(p.runtime_us.p90)) for p in points],
            [(x.at(p.work_items), y.at(p.runtime_us.p10)) for p in points],
            "band",
        ),
        polyline(curve, "curve"),
    )
    for (x1, y1), (x2, y2) in pairwise(curve):
        frame.labels.keep_line_free(x1, y1, x2, y2)
    for m in shown:
        frame.labels.keep_free(x.at(m.work_items), y.at(m.median_us), 7)
    current = next(p for p in points if p.is_current)
    here = x.at(current.work_items), y.at(current.runtime_us.p50)
    frame.labels.keep_free(*here)
    frame.add(predicted_mark(*here))
    now = format_duration_us(current.runtime_us.p50)
    frame.add(frame.labels.beside([f"this launch, {now}", now], *here, "label predicted"))
    for m in shown:
        at, level = x.at(m.work_items), y.at(m.median_us)
        frame.add(bar(at, y.at(m.p10_us), at, y.at(m.p90_us), "range measured"), measured_mark(at, level))
        # Whatever is above a rising curve has room on its left.
        side = "end" if level < _height(curve, at) else "start"
        took = format_duration_us(m.median_us)
        frame.add(frame.labels.beside([f"measured {took}", took], at, level, "label measured", first=side))
    description = (
        f"From {format_duration_us(points[0].runtime_us.p50)} at {first:,} work-items to "
        f"{format_duration_us(points[-1].runtime_us.p50)} at {last:,}; this launch takes "
        f"{format_duration_us(current.runtime_us.p50)} at {current.work_items:,}. {len(shown)} sizes were measured."
    )
    return frame.svg(chart_id, "Predicted runtime against problem size", description)


def _height(curve: Sequence[tuple[float, float]], at: float) -> float:
    """Return the height of the curve at a place on the x axis; beyond its ends, that of the nearest."""
    for (x1, y1), (x2, y2) in pairwise(curve):
        if x1 <= at <= x2:
            return y1 + (y2 - y1) * (at - x1) / ((x2 - x1) or 1.0)
    return curve[0][1] if at < curve[0][0] else curve[-1][1]
