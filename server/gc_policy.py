"""Python's search for garbage, out of the way of typing.

What is known of a long file is a million objects, and a full search goes through them all: it holds everything up for
0.2 to 0.5 s on 27,000 lines, in the midst of a keystroke as a rule, and finds next to nothing. So full searches wait
until nobody types, and leave out what was there before: it goes when the last reference to it goes, as nearly
everything does. What little does not is searched for after so many analyses if nobody pauses, and among all there is
once nobody has come for a minute.
"""

from __future__ import annotations

import gc

IDLE_S = 2.0  # without anything to analyse
LONG_IDLE_S = 60.0
# Python's own are 700, 10 and 10. Young garbage is looked for among few objects, now as ever.
_YOUNG, _MIDDLE, _NEVER = 10_000, 10, 1_000_000
_MOST_ANALYSES = 500  # without a pause: nobody waits for ever for what only a search finds
_LONG = 100_000  # characters


def postpone_full_collections() -> None:
    """Stop automatic full collections: `Collections` makes them when there is time."""
    gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)


def freeze_all() -> None:
    """Freeze all objects, so that Python does not search them once more as it ends."""
    gc.freeze()


class Collections:
    """Schedules garbage collections, in the thread that does the work."""

    def __init__(self) -> None:
        self._analyses = 0  # since the last search
        self._is_whole = True  # the last search was one through everything

    @property
    def due_s(self) -> float | None:
        """Return the idle time [s] before `make` is to be called; None: not before something was done."""
        if self._analyses:
            return IDLE_S
        return None if self._is_whole else LONG_IDLE_S

    def worked(self, opened: int = 0) -> None:
        """Note that something was analysed or dropped: a document of `opened` characters if just opened."""
        self._analyses += 1
        self._is_whole = False
        if opened >= _LONG:
            # What is there now was made to stay. Young garbage goes first: left out, it would never go.
            gc.collect(1)
            gc.freeze()
        elif self._analyses % _MOST_ANALYSES == 0:
            gc.collect()

    def make(self) -> None:
        """Collect among what is new since the last time, or among everything after a time without an analysis.

        Some of what was frozen before has become garbage since.
        """
        if not self._analyses:
            gc.unfreeze()
            self._is_whole = True
        gc.collect()
        gc.freeze()
        self._analyses = 0
