"""Results remembered by which very objects they were made of: nothing is hashed or compared."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

Value = TypeVar("Value")
_Kept = dict[tuple[int, ...], tuple[tuple[object, ...], Value]]


class IdentityCache(Generic[Value]):
    """Values by the identity of objects, for those put or looked up in the last few rounds.

    The objects are kept alive, so that no other object takes their identity. Not thread-safe.
    """

    def __init__(self, rounds: int) -> None:
        self._rounds: deque[_Kept[Value]] = deque([{}], maxlen=rounds)

    def begin_round(self) -> None:
        self._rounds.appendleft({})

    def get(self, *objects: object) -> Value | None:
        """Return what was put for these objects."""
        key = tuple(map(id, objects))
        for kept in self._rounds:
            if found := kept.get(key):
                self._rounds[0][key] = found
                return found[1]
        return None

    def put(self, value: Value, *objects: object) -> Value:
        self._rounds[0][tuple(map(id, objects))] = (objects, value)
        return value
