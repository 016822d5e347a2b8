"""Where an access goes, as a sum: constant + coefficient x id + coefficient x loop counter ..., in bytes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from model.work.symbolic import Atom, Expression


class Obstacle(StrEnum):
    """Why an index is no such sum."""

    DATA = "data"  # it goes through what a buffer holds: `x[col[i]]`
    UNKNOWN = "unknown"  # nobody knows the value
    POINTER = "pointer"  # the pointer is not followed
    IMAGE = "image"
    DIVISION = "division"  # or a shift to the right
    MODULO = "modulo"  # or a mask
    BITS = "bits"  # xor, or, variable shifts
    CHOICE = "choice"  # ?:, min, max, clamp, abs
    PRODUCT = "product"  # of two ids or counters
    RECURRENCE = "recurrence"  # a loop's variable that does not grow by a constant


@dataclass(frozen=True, slots=True)
class Term:
    """`coefficient` x `variable`: an id or a loop counter; the coefficient holds scalars and sizes only [bytes]."""

    variable: Atom
    coefficient: Expression


@dataclass(frozen=True, slots=True)
class AffineIndex:
    """`constant` + the sum of `terms`; where `obstacle` is set there is no such form, and the rest is empty."""

    constant: Expression
    terms: tuple[Term, ...]
    obstacle: Obstacle | None = None
    through: str = ""  # the buffer whose contents decide, for Obstacle.DATA
    text: str = ""  # as a user would write it: `row*n + k`, in elements
