"""Which macros hold where: one history of a reading's definitions, and views of it at one place each.

A view is asked only for the macros that a text can come to use, so that a file with thousands of definitions
between its functions costs what it uses, and an edit of one definition concerns those who use it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from cachetools import LRUCache

_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True, eq=False)
class Macro:
    """One definition: pcpp's own, and its text, by which it is the same as another."""

    macro: Any
    text: str

    @property
    def is_function(self) -> bool:
        return self.macro.arglist is not None


class MacroHistory:
    """All definitions in the order in which they came; `version` grows with each."""

    def __init__(self) -> None:
        self.version = 0
        self._versions: dict[str, list[int]] = {}
        self._macros: dict[str, list[Macro | None]] = {}

    def record(self, name: str, macro: Macro | None) -> None:
        """From now on `name` stands for `macro`; None: for nothing."""
        self.version += 1
        self._versions.setdefault(name, []).append(self.version)
        self._macros.setdefault(name, []).append(macro)

    def at(self, name: str, version: int) -> Macro | None:
        versions = self._versions.get(name)
        if versions is None:
            return None
        found = bisect_right(versions, version)
        return self._macros[name][found - 1] if found else None

    def names(self) -> Iterable[str]:
        return self._versions


class MacroTable:
    """The macros that hold at one place, with expansions under them remembered."""

    def __init__(self, history: MacroHistory, version: int) -> None:
        self._history = history
        self.version = version
        self.expansions: LRUCache[str, tuple[str, tuple[str, ...]]] = LRUCache(4096)
        self._all: dict[str, Macro] | None = None

    def get(self, name: str) -> Macro | None:
        return self._history.at(name, self.version)

    def used_by(self, names: Iterable[str]) -> dict[str, Macro]:
        """Return the macros that a text with these names can come to use, in an order that does not depend on its own.

        All there are, where one pastes tokens together: nobody knows which names come of that.
        """
        found: dict[str, Macro] = {}
        waiting = [name for name in names if self.get(name) is not None]
        while waiting:
            name = waiting.pop()
            macro = self.get(name)
            if macro is None or name in found:
                continue
            found[name] = macro
            if "##" in macro.text:
                return self._whole()
            waiting += _NAME.findall(macro.text)
        return dict(sorted(found.items()))

    def _whole(self) -> dict[str, Macro]:
        if self._all is None:
            self._all = dict(self._items())
        return self._all

    def _items(self) -> Iterator[tuple[str, Macro]]:
        for name in sorted(self._history.names()):
            macro = self.get(name)
            if macro is not None:
                yield name, macro
