"""Pictures of an evaluation: predicted against measured, the error by group, and how errors are spread."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from model.training.evaluation import SPLITS
from model.training.figures import figures_of
from model.training.rows import Floats, Rows
from profiler.corpus.dataset.drawing import COLOURS, Axis, Drawing, bars, draw_axes, legend, legend_width, png
from profiler.corpus.facts.evaluating import COMPILED, SOURCE, Evaluation

_DECADES = (0.0, 6.0)
_TIMES = ("1 us", "10 us", "100 us", "1 ms", "10 ms", "100 ms", "1 s")
_DOTS = 4000
_FEWEST = 20  # kernels of a group that is shown


def draw(evaluation: Evaluation, folder: Path) -> None:
    """Draw the evaluation's plots. Raises DatasetError where the renderer is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for split in SPLITS:
        (folder / f"predicted-{split}.png").write_bytes(png(_scatter(evaluation, split)))
    (folder / "errors.png").write_bytes(png(_errors(evaluation)))
    (folder / "error-by-group.png").write_bytes(png(_groups(evaluation.rows, evaluation.predicted[SOURCE])))


def _scatter(evaluation: Evaluation, split: str) -> Drawing:
    rows, predicted = evaluation.rows, evaluation.predicted[SOURCE]
    chosen = rows.judged(split)
    chosen = np.random.default_rng(0).permutation(chosen)[:_DOTS]
    devices = [str(name) for name in np.unique(rows.device_name)]
    beside = 532.0  # where the legend begins
    drawing = Drawing(beside + legend_width(devices), 560, f"Predicted against measured: {SPLITS[split]}")
    ticks = tuple((float(n), name) for n, name in enumerate(_TIMES))
    across, up = Axis(*_DECADES, 70, 520, ticks), Axis(*_DECADES, 510, 60, ticks)
    draw_axes(drawing, across, up, below="measured", beside="predicted, from source")
    for factor in (-np.log10(2), 0.0, np.log10(2)):
        ends = max(_DECADES[0], _DECADES[0] - factor), min(_DECADES[1], _DECADES[1] - factor)
        drawing.line([(across.at(x), up.at(x + factor)) for x in ends], "#59636e", 0.5 + (factor == 0))
    for at in chosen:
        x, y = (float(log2_us[at]) * np.log10(2) for log2_us in (rows.log2_us, predicted))
        drawing.dot(across.at(x), up.at(y), COLOURS[devices.index(str(rows.device_name[at])) % len(COLOURS)], 0.15)
    legend(drawing, devices, beside, 80)
    return drawing


def _errors(evaluation: Evaluation) -> Drawing:
    """Return a line for each who predicts: how many of the held-out rows are closer than which error."""
    rows = evaluation.rows
    chosen = rows.judged("validation", "test-origins")
    drawing = Drawing(760, 360, "Families and packages never trained on: rows that are closer than an error")
    ticks = tuple((float(np.log10(v)), f"{v:g} %") for v in (1, 10, 100, 1000))
    across, up = (
        Axis(0, 3, 60, 560, ticks),
        Axis(0, 100, 310, 55, tuple((float(v), f"{v} %") for v in range(0, 101, 25))),
    )
    draw_axes(drawing, across, up, below="error", beside="rows")
    shown = ("launch size only", "analytical model alone", SOURCE, COMPILED)
    for number, who in enumerate(shown):
        ape = 100 * np.abs(np.exp2(evaluation.predicted[who][chosen] - rows.log2_us[chosen]) - 1)
        shares = np.linspace(0, 100, 201)[1:]
        errors = np.log10(np.maximum(np.quantile(ape, shares / 100), 1e-3))
        drawing.line([(across.at(x), up.at(y)) for x, y in zip(errors, shares, strict=True)], COLOURS[number], 2)
    legend(drawing, shown, 575, 70)
    return drawing


def _groups(rows: Rows, predicted: Floats) -> Drawing:
    held_out = rows.judged(*SPLITS)
    entries = []
    for group in np.unique(rows.group[held_out]):
        own = held_out[rows.group[held_out] == group]
        kernels = len(np.unique(rows.kernel[own]))
        if kernels >= _FEWEST:
            figures = figures_of(predicted[own], rows.log2_us[own])
            said = f"{figures.median_ape:.0f} %, within 2x {figures.within_2x:.0f} % ({kernels} kernels)"
            entries.append((str(group), round(figures.median_ape), said))
    return bars("Median error by group, kernels that were held out", sorted(entries, key=lambda each: each[1]))
