"""One line of a table of figures."""

from __future__ import annotations

from dataclasses import dataclass

from model.training.figures import Figures


@dataclass(frozen=True, slots=True)
class Line:
    """Who predicts, what, and how far off it is."""

    who: str
    split: str
    device: str  # "all" together, or one
    figures: Figures
