"""Charts as SVG, plain enough for any renderer, and PNGs of them."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from profiler.corpus.dataset.columns import DatasetError
from profiler.installing import install_command

# Told apart by people who are colour-blind: six of Okabe and Ito's, then four of Tol's muted ones, black and grey.
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255", "#999933", "#332288", "#44aa99",
    "#000000", "#999999",
)  # fmt: skip
_TEXT, _SOFT, _LINE = "#1f2328", "#59636e", "#d1d9e0"
_SCALE = 2.0  # pixels of a PNG for each unit of the SVG: screens are fine today
_LETTER = 6.6  # of the room that a letter takes on average at size 11, a little more
_FONT = 'font-family="DejaVu Sans, Noto Sans, sans-serif"'


@dataclass(slots=True)
class Drawing:
    """An SVG document in the making."""

    width: float
    height: float
    title: str
    parts: list[str] = field(default_factory=list)

    def text(
        self, x: float, y: float, said: str, *, anchor: str = "start", soft: bool = False, size: float = 11
    ) -> None:
        colour = _SOFT if soft else _TEXT
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}" fill="{colour}" {_FONT}>'
            f"{escape(said)}</text>"
        )

    def line(self, points: Sequence[tuple[float, float]], colour: str = _LINE, width: float = 1) -> None:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"/>')

    def box(self, x: float, y: float, width: float, height: float, colour: str, opacity: float = 1) -> None:
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(0.0, width):.1f}" height="{max(0.0, height):.1f}" '
            f'fill="{colour}" fill-opacity="{opacity:.3f}"/>'
        )

    def dot(self, x: float, y: float, colour: str, opacity: float = 0.6) -> None:
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}" fill-opacity="{opacity:g}"/>')

    def svg(self) -> str:
        head = Drawing(self.width, self.height, "")
        head.text(14, 22, self.title, size=14)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:g}" height="{self.height:g}" '
            f'viewBox="0 0 {self.width:g} {self.height:g}">'
            f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(head.parts)}{"".join(self.parts)}</svg>'
        )


@dataclass(frozen=True, slots=True)
class Axis:
    """Where values lie between two edges of a drawing; `ticks` are values with what stands at them."""

    low: float
    high: float
    begin: float
    end: float
    ticks: tuple[tuple[float, str], ...] = ()

    def at(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low or 1)
        return self.begin + min(1.0, max(0.0, share)) * (self.end - self.begin)


def draw_axes(drawing: Drawing, across: Axis, up: Axis, *, below: str, beside: str) -> None:
    """Draw a grid, the values at its lines, and the names of the axes."""
    for value, said in across.ticks:
        drawing.line([(across.at(value), up.begin), (across.at(value), up.end)])
        drawing.text(across.at(value), up.begin + 15, said, anchor="middle", soft=True, size=10)
    for value, said in up.ticks:
        drawing.line([(across.begin, up.at(value)), (across.end, up.at(value))])
        drawing.text(across.begin - 6, up.at(value) + 4, said, anchor="end", soft=True, size=10)
    drawing.text((across.begin + across.end) / 2, up.begin + 32, below, anchor="middle", soft=True)
    drawing.text(across.begin, up.end - 8, beside, soft=True)


def legend(drawing: Drawing, names: Sequence[str], x: float, y: float) -> None:
    for number, name in enumerate(names):
        drawing.box(x, y + 16 * number - 8, 10, 10, COLOURS[number % len(COLOURS)])
        drawing.text(x + 15, y + 16 * number + 1, name)


def legend_width(names: Sequence[str]) -> float:
    """Return what `legend` needs to the right of its `x`."""
    return 15 + _LETTER * max(map(len, names), default=0)


def bars(title: str, entries: Sequence[tuple[str, int, str]]) -> Drawing:
    """(name, length, what stands behind the bar), one below the other."""
    begin = 24 + _LETTER * max((len(name) for name, _, _ in entries), default=0)
    end = begin + 400 + 24 + _LETTER * max((len(said) for _, _, said in entries), default=0)
    drawing = Drawing(end, 44 + 17 * len(entries), title)
    longest = max((length for _, length, _ in entries), default=1) or 1
    for number, (name, length, said) in enumerate(entries):
        y = 38 + 17 * number
        drawing.text(begin - 6, y + 10, name, anchor="end")
        drawing.box(begin, y, 400 * length / longest, 12, COLOURS[0])
        drawing.text(begin + 6 + 400 * length / longest, y + 10, said, soft=True)
    return drawing


def png(drawing: Drawing) -> bytes:
    """Render a drawing as PNG. Raises DatasetError where the renderer is missing."""
    try:
        renderer = importlib.import_module("resvg_py")
    except ImportError:
        raise DatasetError(f"pictures need one more package: {install_command('corpus')}") from None
    return bytes(renderer.svg_to_bytes(svg_string=drawing.svg(), zoom=_SCALE))
