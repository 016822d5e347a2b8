"""The activities that the status shows while devices are busy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Activities:
    """Device work and discovery, oldest first; `changed` hears of every beginning and end."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._under_way: list[str] = []

    @property
    def foremost(self) -> str:
        """Return what is under way, empty when nothing is. Jobs run one at a time."""
        return self._under_way[0] if self._under_way else ""

    @contextmanager
    def during(self, what: str) -> Iterator[None]:
        self._under_way.append(what)
        self._changed()
        try:
            yield
        finally:
            self._under_way.remove(what)
            self._changed()
