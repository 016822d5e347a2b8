"""Figures by program and by kind of launch: what a mean over rows hides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from model.learned.launch_facts import LAUNCH_FACT_NAMES
from model.training.figures import Figures, Line, figures_of, mean_figures
from model.training.rows import Flags, Floats, Ints, Rows

PROGRAMS = "test-origins"  # the split whose origins are whole programs and packages
FEWEST = 10  # rows of a program, below which its figures say nothing


def program_table(rows: Rows, predicted: Mapping[str, Floats]) -> list[Line]:
    """Average the figures of each program never trained on, each program counting alike."""
    chosen = rows.judged(PROGRAMS)
    programs = [own for name in np.unique(rows.origin[chosen]) if len(own := chosen[rows.origin[chosen] == name])]
    programs = [own for own in programs if len(own) >= FEWEST]
    return [
        Line(
            who,
            PROGRAMS,
            f"{len(programs)} programs",
            mean_figures([figures_of(said[o], rows.log2_us[o]) for o in programs]),
        )
        for who, said in predicted.items()
        if programs
    ]


@dataclass(frozen=True, slots=True)
class KindLine:
    """Figures of one kind of launch; `bias` is the median of predicted over measured."""

    kind: str
    split: str
    figures: Figures
    bias: float


def _fact(rows: Rows, name: str) -> Floats:
    return rows.launch[:, LAUNCH_FACT_NAMES.index(name)]


KINDS: Mapping[str, Callable[[Rows], Flags]] = {
    "below 50 us": lambda rows: rows.log2_us < np.log2(50.0),
    "50 us to 1 ms": lambda rows: (rows.log2_us >= np.log2(50.0)) & (rows.log2_us < np.log2(1e3)),
    "over 1 ms": lambda rows: rows.log2_us >= np.log2(1e3),
    "over 10 ms": lambda rows: rows.log2_us >= np.log2(1e4),
    "with barriers": lambda rows: _fact(rows, "barrier_sites") > 0,
    "with loops that data end": lambda rows: _fact(rows, "loop.data_rounds") > 0,
}


def kind_table(rows: Rows, predicted: Floats, splits: tuple[str, ...]) -> list[KindLine]:
    """Split the judged rows by how long they take and by what their kernels have."""
    lines = []
    for split in splits:
        chosen = rows.judged(split)
        for kind, is_of in KINDS.items():
            own: Ints = chosen[is_of(rows)[chosen]]
            if len(own):
                bias = float(np.exp2(np.median(predicted[own] - rows.log2_us[own])))
                lines.append(KindLine(kind, split, figures_of(predicted[own], rows.log2_us[own]), bias))
    return lines


@dataclass(frozen=True, slots=True)
class NoveltyLine:
    """Median APE [percent] of the quarter of launches most like training, and of the quarter least like it."""

    split: str
    rows: int
    nearest: float
    farthest: float


def novelty_table(rows: Rows, predicted: Floats, novelty: Floats, splits: tuple[str, ...]) -> list[NoveltyLine]:
    """Compare errors of the most and the least familiar quarter of launches; `novelty` is [rows]."""
    lines = []
    for split in splits:
        chosen = rows.judged(split)
        if len(chosen) < 4:
            continue
        order = chosen[np.argsort(novelty[chosen], kind="stable")]
        quarter = len(order) // 4
        near, far = (figures_of(predicted[part], rows.log2_us[part]) for part in (order[:quarter], order[-quarter:]))
        lines.append(NoveltyLine(split, len(chosen), near.median_ape, far.median_ape))
    return lines
