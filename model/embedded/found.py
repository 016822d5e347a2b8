"""What the readers of host languages find."""

from __future__ import annotations

from dataclasses import dataclass

from model.embedded.fields import Template
from model.embedded.program import Literal, Piece


@dataclass(frozen=True, slots=True)
class Found:
    """One program's pieces and literals, and how the host completes its text."""

    pieces: tuple[Piece, ...]
    literals: tuple[Literal, ...]
    template: Template
