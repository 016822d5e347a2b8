"""The pictures of a dataset: what there is of each kind, the times, how independent sizes are, the noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from profiler.corpus.dataset.columns import DatasetError
from profiler.corpus.dataset.drawing import COLOURS, Axis, Drawing, bars, draw_axes, legend, png
from profiler.corpus.dataset.frame import Frame, Numbers
from profiler.corpus.dataset.statistics import Count, Statistics, median_amount, percent, ratios
from profiler.corpus.kernel import GENERATOR

_TIMES = (0.0, 6.0)  # decades of microseconds
_STEPS = 4  # parts of a decade
_TIME_NAMES = ("1 us", "10 us", "100 us", "1 ms", "10 ms", "100 ms", "1 s")


def pictures(statistics: Statistics, frame: Frame) -> dict[str, Callable[[], Drawing]]:
    """Return what draws each, by file name."""
    real = [origin for origin in statistics.origins if origin.name != GENERATOR]
    return {
        "groups.png": lambda: _counts("Kernels by group", statistics.groups),
        "families.png": lambda: _counts("Kernels by family of the generator", statistics.families),
        "origins.png": lambda: _counts("Real kernels by origin", real),
        "times.png": lambda: _times(frame),
        "sizes.png": lambda: _sizes(frame),
        "independence.png": lambda: _independence(statistics),
        "noise.png": lambda: _noise(frame),
    }


def write_pictures(statistics: Statistics, frame: Frame, folder: Path) -> list[Path]:
    """Write the dataset's plots. Raises DatasetError."""
    written = []
    for name, draw in pictures(statistics, frame).items():
        content, path = png(draw()), folder / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise DatasetError(f"{path} cannot be written: {error.strerror or error}") from error
        written.append(path)
    return written


def _counts(title: str, counts: Sequence[Count]) -> Drawing:
    entries = [(each, f"{each.kernels:,} ({each.patterns:,} patterns, {each.rows:,} rows)") for each in counts]
    return bars(title, [(each.name, each.kernels, said) for each, said in entries])


def _times(frame: Frame) -> Drawing:
    """Return a line a device: the share of its rows in each quarter of a decade."""
    drawing = Drawing(760, 330, "Rows by their run time")
    edges = np.linspace(*_TIMES, int((_TIMES[1] - _TIMES[0]) * _STEPS) + 1)
    decades = np.log10(np.maximum(frame.rows.runtime_us, 1e-9)).clip(*_TIMES)
    shares = []
    for device in range(len(frame.devices)):
        own = decades[frame.rows.device == device]
        shares.append(100 * np.histogram(own, edges)[0] / max(1, len(own)))
    highest = max(5.0, float(np.ceil(max((s.max() for s in shares), default=5.0) / 5) * 5))
    across = Axis(*_TIMES, 60, 620, tuple((float(n), name) for n, name in enumerate(_TIME_NAMES)))
    up = Axis(0, highest, 285, 55, tuple((v, f"{v:g} %") for v in np.arange(0, highest + 1, 5)))
    draw_axes(drawing, across, up, below="run time at the usual pace", beside="rows in a quarter of a decade")
    for number, share in enumerate(shares):
        corners = [(across.at(x), up.at(y)) for i, y in enumerate(share) for x in edges[i : i + 2]]
        drawing.line(corners, COLOURS[number % len(COLOURS)], 2)
    legend(drawing, frame.devices, 636, 70)
    return drawing


def _sizes(frame: Frame) -> Drawing:
    """Return how often which global size meets which data size: were one tied to the other, there would be a line."""
    drawing = Drawing(560, 480, "Launches by global size and data size")
    most = 8.0
    steps = np.linspace(0, most, 33)
    launches = frame.launches
    items, data = (np.log10(np.maximum(side, 1)).clip(0, most) for side in (launches.items, launches.data))
    counts = np.histogram2d(items, data, [steps, steps])[0]
    ticks = tuple((float(n), f"1e{n}") for n in range(0, 9, 2))
    across, up = Axis(0, most, 70, 530, ticks), Axis(0, most, 430, 55, ticks)
    draw_axes(drawing, across, up, below="work-items", beside="elements worked on")
    strongest = np.log1p(counts.max(initial=1))
    for column, row in np.argwhere(counts > 0):
        x, y = across.at(steps[column]), up.at(steps[row + 1])
        width, height = across.at(steps[column + 1]) - x, up.at(steps[row]) - y
        drawing.box(x, y, width, height, COLOURS[0], float(np.log1p(counts[column, row]) / strongest))
    return drawing


def _independence(statistics: Statistics) -> Drawing:
    """Return a dot a family."""
    drawing = Drawing(
        760, 80 + 62 * len(statistics.independence), "Rank correlation with the global size, by family of the generator"
    )
    across = Axis(-1, 1, 130, 730, tuple((value, f"{value:g}") for value in (-1.0, -0.5, 0.0, 0.5, 1.0)))
    up = Axis(0, 1, drawing.height - 40, 40)
    draw_axes(drawing, across, up, below="Spearman's coefficient; 0: independent", beside="")
    for number, each in enumerate(statistics.independence):
        y = 70 + 62 * number
        drawing.text(120, y + 4, each.name, anchor="end")
        for place, (_, value) in enumerate(each.by_family):
            drawing.dot(across.at(value), y + 20 * ((place * 0.618) % 1 - 0.5), COLOURS[number % len(COLOURS)])
        amount = median_amount(each.by_family)
        if amount is not None:
            drawing.text(120, y + 19, f"median amount {amount:.2f}", anchor="end", soft=True, size=10)
    return drawing


def _noise(frame: Frame) -> Drawing:
    """Return a line a device: how many of the repeated rows stay within which difference."""
    drawing = Drawing(760, 330, "Rows measured twice: how far apart")
    ticks = tuple((float(np.log10(value)), f"{value:g} %") for value in (0.1, 1, 10, 100))
    across = Axis(-1, 2, 60, 620, ticks)
    up = Axis(0, 100, 285, 55, tuple((float(v), f"{v} %") for v in range(0, 101, 25)))
    draw_axes(drawing, across, up, below="difference of the two times", beside="rows that stay within it")
    for device in range(len(frame.devices)):
        found = np.sort(ratios(frame, device, frame.rows.runtime_us))
        drawing.line(_steps(found, across, up), COLOURS[device % len(COLOURS)], 2)
    legend(drawing, frame.devices, 636, 70)
    return drawing


def _steps(found: Numbers, across: Axis, up: Axis) -> list[tuple[float, float]]:
    shares = np.linspace(0, 100, min(len(found), 300) + 1)[1:]
    values = np.quantile(found, shares / 100) if len(found) else found
    logs = [float(np.log10(max(percent(value), 1e-9))) for value in values]
    return [(across.at(x), up.at(y)) for x, y in zip(logs, shares, strict=True)]
