"""The operations that an analysis has met, by what they are: equal operations are one object."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model.work.symbolic import Atom, Expression


class _Interned(threading.local):
    """Of this thread, for one analysis only: results of two analyses share no more than symbols."""

    def __init__(self) -> None:
        self.known: dict[tuple[object, ...], Expression] = {}
        self.cut: dict[Atom, tuple[Expression, ...]] = {}  # what was nested too deeply, and what it was made of


interned = _Interned()


def new_analysis() -> None:
    """Forget the operations of the analysis before."""
    interned.known, interned.cut = {}, {}


def made_of(atom: Atom) -> tuple[Expression, ...]:
    """Return what an operation was made of that became unknown for being nested too deeply."""
    return interned.cut.get(atom, ())
