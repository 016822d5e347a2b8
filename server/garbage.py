"""Python's search for garbage, out of the way of typing.

What is known of a long file is a million objects, and a full search goes through them all: it holds everything up for
0.2 to 0.5 s on 27,000 lines, in the midst of a keystroke as a rule, and finds next to nothing. So full searches wait
until nobody types, and leave out what was there before: it goes when the last reference to it goes, as nearly
everything does.
"""

from __future__ import annotations

import gc

IDLE_S = 2.0  # without anything to analyse
# Python's own are 700, 10 and 10. Young garbage is looked for among few objects, now as ever; all objects are gone
# through by themselves only where somebody types for hours without a pause.
_YOUNG, _MIDDLE, _ALL = 10_000, 10, 1_000


def put_off() -> None:
    """No full search by itself from now on: somebody calls `collect` when there is time."""
    gc.set_threshold(_YOUNG, _MIDDLE, _ALL)


def leave_out() -> None:
    """What is there now was made to stay: no later search looks at it. Takes no time."""
    gc.freeze()


def collect() -> None:
    """Search among what is new since the last time."""
    gc.collect()
    gc.freeze()
