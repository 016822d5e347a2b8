"""Results remembered by which very objects they were made of: nothing is hashed or compared."""

from __future__ import annotations

from typing import Generic, TypeVar

from cachetools import LRUCache

Value = TypeVar("Value")


class ByIdentity(Generic[Value]):
    """Not for two threads at once. What is remembered is kept alive, so that no other object takes its identity."""

    def __init__(self, most: int) -> None:
        self._kept: LRUCache[tuple[int, ...], tuple[tuple[object, ...], Value]] = LRUCache(most)

    def get(self, *objects: object) -> Value | None:
        """What was put for these objects."""
        found = self._kept.get(tuple(map(id, objects)))
        return found[1] if found is not None else None

    def put(self, value: Value, *objects: object) -> Value:
        self._kept[tuple(map(id, objects))] = (objects, value)
        return value
