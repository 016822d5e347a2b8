"""What all charts share: an accessible SVG with plot area, grid, tick labels and axis titles, and its legend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from server.report.charts.axes import LinearAxis, LogAxis
from server.report.charts.labels import SIZE, Box, Labels, text_width
from server.report.markup import Child, Element, tag

Axis = LogAxis | LinearAxis
Words = Callable[[float], str]

_LEFT, _RIGHT, _TOP, _BOTTOM = 68.0, 14.0, 12.0, 46.0


@dataclass(frozen=True, slots=True)
class Format:
    """A chart is drawn once for wide and once for narrow pages, so that its text keeps its size."""

    name: str
    width: float
    height: float

    @property
    def plot(self) -> Box:
        return Box(_LEFT, _TOP, self.width - _RIGHT, self.height - _BOTTOM)


WIDE, NARROW = Format("wide", 720, 340), Format("narrow", 372, 300)
FORMATS = (WIDE, NARROW)


@dataclass(slots=True)
class Frame:
    """Collects what is drawn; `labels` knows which places are taken."""

    format: Format
    x: Axis
    y: Axis
    parts: list[Child] = field(default_factory=list)
    labels: Labels = field(init=False)

    def __post_init__(self) -> None:
        self.labels = Labels(self.format.plot)

    def add(self, *parts: Child) -> None:
        self.parts.extend(parts)

    def axes(self, x_title: str, y_title: str, x_words: Words, y_words: Words) -> None:
        """Draw grid, ticks and titles; to be called first."""
        plot = self.format.plot
        taken_to = float("-inf")
        for value in self.x.ticks(8 if self.format is WIDE else 5):
            at, words = self.x.at(value), x_words(value)
            self.add(tag("line", class_="grid", x1=at, x2=at, y1=plot.top, y2=plot.bottom))
            half = text_width(words) / 2
            if at - half > taken_to and at + half <= self.format.width:
                taken_to = at + half + 6
                self.add(_text(words, at, plot.bottom + 15, "tick", "middle"))
        for value in self.y.ticks(6):
            at = self.y.at(value)
            self.add(tag("line", class_="grid", x1=plot.left, x2=plot.right, y1=at, y2=at))
            self.add(_text(y_words(value), plot.left - 7, at, "tick", "end"))
        self.add(tag("path", class_="axis", d=f"M{plot.left} {plot.top}V{plot.bottom}H{plot.right}"))
        self.add(_text(x_title, (plot.left + plot.right) / 2, self.format.height - 8, "title", "middle"))
        middle = (plot.top + plot.bottom) / 2
        turned = _text(y_title, 12, middle, "title", "middle")
        turned.set("transform", f"rotate(-90 12 {middle:.1f})")
        self.add(turned)

    def svg(self, chart_id: str, title: str, description: str) -> Element:
        return picture(self.format, f"{chart_id}-{self.format.name}", title, description, self.parts)


def picture(
    format_: Format, chart_id: str, title: str, description: str, parts: Sequence[Child], height: float | None = None
) -> Element:
    """Return an SVG that screen readers announce as one image with a name and a description."""
    return tag(
        "svg",
        tag("title", title, id=f"{chart_id}-title"),
        tag("desc", description, id=f"{chart_id}-desc"),
        parts,
        class_=f"chart {format_.name}",
        role="img",
        aria_labelledby=f"{chart_id}-title {chart_id}-desc",
        viewBox=f"0 0 {format_.width:g} {height or format_.height:g}",
    )


def polyline(points: Sequence[tuple[float, float]], class_: str) -> Element:
    return tag("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points), class_=class_)


def band(upper: Sequence[tuple[float, float]], lower: Sequence[tuple[float, float]], class_: str) -> Element:
    around = [*upper, *reversed(lower)]
    return tag("polygon", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in around), class_=class_)


def predicted_mark(x: float, y: float) -> Element:
    """Return a disc."""
    return tag("circle", cx=x, cy=y, r=5, class_="mark predicted")


def measured_mark(x: float, y: float, radius: float = 6.0) -> Element:
    """Return a diamond: told from a disc without its colour."""
    corners = f"M{x:.1f} {y - radius:.1f}l{radius:g} {radius:g}l{-radius:g} {radius:g}l{-radius:g} {-radius:g}z"
    return tag("path", d=corners, class_="mark measured")


def bar(x1: float, y1: float, x2: float, y2: float, class_: str) -> list[Child]:
    """Draw a range with small caps at its ends, upright or level."""
    cap = 4.0
    dx, dy = (cap, 0.0) if x1 == x2 else (0.0, cap)
    ends = [tag("line", x1=x - dx, y1=y - dy, x2=x + dx, y2=y + dy, class_=class_) for x, y in ((x1, y1), (x2, y2))]
    return [tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_), *ends]


def _text(text: str, x: float, y: float, class_: str, anchor: str) -> Element:
    return tag("text", text, x=x, y=y, class_=class_, text_anchor=anchor, dominant_baseline="central")


__all__ = [
    "FORMATS", "NARROW", "SIZE", "WIDE", "Format", "Frame", "band", "bar", "measured_mark", "picture", "polyline",
    "predicted_mark",
]  # fmt: skip


_WIDTH, _HEIGHT = 30.0, 14.0

Entry = tuple[str, str]  # the classes of what is drawn, and its words


def legend(entries: Sequence[Entry]) -> Element:
    """Return the entries as a list. `mark` is drawn as a mark, `band` and `box` as areas, all else as lines."""
    items = [tag("li", _symbol(classes), words, data_key=classes) for classes, words in entries]
    return tag("ul", items, class_="legend", aria_label="Legend")


def _symbol(classes: str) -> Element:
    return tag(
        "svg",
        _drawn(classes.split(), classes),
        class_="key",
        viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
        aria_hidden="true",
    )


def _drawn(words: Sequence[str], classes: str) -> list[Child]:
    middle = _HEIGHT / 2
    if "mark" in words:
        mark = measured_mark if "measured" in words else predicted_mark
        made = mark(_WIDTH / 2, middle)
        made.set("class", classes)
        return [made]
    if "band" in words or "box" in words:
        return [tag("rect", x=0, y=1, width=_WIDTH, height=_HEIGHT - 2, class_=classes)]
    return [tag("line", x1=0, x2=_WIDTH, y1=middle, y2=middle, class_=classes)]
