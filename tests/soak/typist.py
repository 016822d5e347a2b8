"""A user who types: one small change after the other, of all the kinds that an editor sends."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

_PHRASES = (
    "float {v} = 1.5f;", "for (int {v} = 0; {v} < {n}; {v}++) { }", "if (get_global_id(0) > {n}) return;",
    "int {v} = (int)get_local_id(0) * {n};", "// größer als {n}? 😀", "/* {n} */", "float {v} = sqrt({n}.0f);",
    "barrier(CLK_LOCAL_MEM_FENCE);", "int {v} = {n} % 7;", "volatile float {v}[{n}];",
    "for (uint {v} = get_global_id(0); {v} < {n}; {v} += 64) mem_fence(CLK_GLOBAL_MEM_FENCE);",
)  # fmt: skip
_TYPED_IN_ONE_GO = 0.15  # of all phrases: completions and pastes
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_BODY = re.compile(r"\{\n")
_HISTORY = 30
_BACK_AFTER = 90  # changes, after which the text becomes what it was: nobody's file grows for ever


@dataclass(frozen=True)
class Change:
    """`text` takes the place of [start, end) of the text before."""

    start: int
    end: int
    text: str


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column, in UTF-16 units as editors count."""
    line = text.count("\n", 0, offset)
    begin = text.rfind("\n", 0, offset) + 1
    return line, len(text[begin:offset].encode("utf-16-le")) // 2


class Typist:
    """Owns one document's text; the same changes for the same seed."""

    def __init__(self, text: str, chance: random.Random) -> None:
        self.text = text
        self._saved = text
        self._chance = chance
        self._rest = ""  # of the phrase that is being typed at `_cursor`
        self._cursor = 0
        self._history: list[str] = []
        self._since = 0

    def next(self) -> Change:
        """The next change, made to `text` as well."""
        change = self._type() if self._rest else self._something()
        self._history = [*self._history[1 - _HISTORY :], self.text]
        self.text = self.text[: change.start] + change.text + self.text[change.end :]
        self._since += 1
        return change

    def _something(self) -> Change:
        if self._since >= _BACK_AFTER:
            self._since = 0
            return self._to(self._saved)
        (kind,) = self._chance.choices(_KINDS, _OFTEN)
        return kind(self)

    def _type(self) -> Change:
        """The next key; now and then the wrong one, which is taken back."""
        if self._rest[0] == "\b":
            self._rest = self._rest[1:]
            self._cursor -= 1
            return Change(self._cursor, self._cursor + 1, "")
        if self._chance.random() < 0.05:
            self._rest = f"x\b{self._rest}"
        key, self._rest = self._rest[0], self._rest[1:]
        self._cursor += 1
        return Change(self._cursor - 1, self._cursor - 1, key)

    def _begin_phrase(self) -> Change:
        places = [found.end() for found in _BODY.finditer(self.text)] or [0]
        self._cursor = self._chance.choice(places)
        name, number = f"v{self._chance.randrange(1000)}", str(self._chance.randrange(1, 5000))
        phrase = self._chance.choice(_PHRASES).replace("{v}", name).replace("{n}", number)
        if self._chance.random() < _TYPED_IN_ONE_GO:
            return Change(self._cursor, self._cursor, f"    {phrase}\n")
        self._rest = phrase
        self._cursor += 4
        return Change(self._cursor - 4, self._cursor - 4, "    \n")

    def _another_number(self) -> Change:
        found = list(_NUMBER.finditer(self.text))
        if not found:
            return self._begin_phrase()
        start, end = self._chance.choice(found).span()
        return Change(start, end, str(self._chance.randrange(1, 2000)))

    def _undo(self) -> Change:
        return self._to(self._history.pop()) if self._history else self._begin_phrase()

    def _line(self) -> tuple[int, int]:
        at = self._chance.randrange(len(self.text) + 1)
        start = self.text.rfind("\n", 0, at) + 1
        end = self.text.find("\n", start)
        return start, len(self.text) if end < 0 else end + 1

    def _delete_line(self) -> Change:
        return Change(*self._line(), "")

    def _comment_out(self) -> Change:
        start, _ = self._line()
        return Change(start, start + 2, "") if self.text[start : start + 2] == "//" else Change(start, start, "//")

    def _paste(self) -> Change:
        """Lines from elsewhere in the file."""
        first, second = sorted((self._line(), self._line()))
        return Change(first[0], first[0], self.text[second[0] : second[1]])

    def _annotate(self) -> Change:
        at = self.text.find("\n__kernel")
        size = 64 * self._chance.randrange(1, 500)
        return Change(at + 1, at + 1, f"// kernelcast: global={size} local=64 name=l{self._chance.randrange(99)}\n")

    def _to(self, text: str) -> Change:
        """The whole document at once, as formatters and undoing do."""
        self._rest = ""
        return Change(0, len(self.text), text)


_KINDS: tuple[Callable[[Typist], Change], ...] = (
    Typist._begin_phrase, Typist._another_number, Typist._undo, Typist._delete_line, Typist._comment_out,
    Typist._paste, Typist._annotate,
)  # fmt: skip
_OFTEN = (30, 30, 12, 8, 8, 8, 4)
