"""What was read lately and stands in the text no more: undoing brings it back, so some of it is worth its memory."""

from __future__ import annotations

from typing import TypeVar

from cachetools import LRUCache

# Syntax takes about 70 bytes a character: without a bound, a day's typing in one file would fill hundreds of megabytes.
_LEAST_CHARACTERS = 1 << 14
Value = TypeVar("Value")


def let_go(kept: LRUCache[object, Value], characters: int) -> None:
    """Forget the oldest until what is kept is no larger than the text itself, which has `characters`."""
    most = max(_LEAST_CHARACTERS, characters)
    while kept.currsize > most:
        kept.popitem()
