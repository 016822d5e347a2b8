"""Macro calls of a segment expanded one by one, everything else untouched.

Text without macros is copied, and maps back byte for byte. What a call expands to has no line feeds.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from model.errors import SourceError
from model.opencl.directive_skeleton import CONTINUATION
from model.opencl.directives import Reader
from model.opencl.macros import Macro, MacroTable

_NAME = re.compile(r"[A-Za-z_]\w*")
_NAME_OR_STRING = re.compile(r'[A-Za-z_]\w*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
_LAST_NAME = re.compile(r"[A-Za-z_]\w*(?=\s*\Z)")
_BRACKET = re.compile(r'[(){}]|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
_SPACE = re.compile(r"\s*")

NO_CALL, OPEN_CALL = -1, -2


@dataclass(frozen=True, slots=True)
class Fragment:
    """`length` characters of expanded text at `at`, from `start`..`end` of the text expanded.

    `verbatim` fragments map byte for byte; the others are expansions of the macro call at `start`..`end`.
    """

    at: int
    length: int
    start: int
    end: int
    verbatim: bool


@dataclass(frozen=True, slots=True, eq=False)
class Expanded:
    """A text expanded, and where each part comes from. `notes` name offsets in the text before.

    `open_call`: behind the name of a macro whose parenthesis group does not end in this text, if there is one.
    """

    text: str
    fragments: tuple[Fragment, ...]
    starts: tuple[int, ...]
    notes: tuple[tuple[str, int], ...] = ()
    open_call: int | None = None

    def fragment(self, offset: int) -> Fragment | None:
        return self.fragments[max(0, bisect_right(self.starts, offset) - 1)] if self.fragments else None

    def origin(self, offset: int) -> int:
        """Where a character of the expanded text comes from."""
        fragment = self.fragment(offset)
        if fragment is None:
            return 0
        return min(fragment.start + offset - fragment.at, fragment.end) if fragment.verbatim else fragment.start

    def origin_end(self, offset: int) -> int:
        """As `origin`, for the end of a half-open range: past a whole macro call."""
        fragment = self.fragment(max(0, offset - 1))
        if fragment is not None and not fragment.verbatim:
            return fragment.end
        return self.origin(max(0, offset - 1)) + 1


@dataclass(frozen=True, slots=True)
class _Call:
    """One call expanded; `is_open` where it ends in the name of a macro whose arguments may stand behind the text."""

    expansion: str
    notes: tuple[str, ...]
    end: int
    is_open: bool = False


def verbatim(text: str) -> Expanded:
    return Expanded(text, (Fragment(0, len(text), 0, len(text), verbatim=True),), (0,))


def names_in(text: str) -> frozenset[str]:
    return frozenset(_NAME.findall(text))


class Brackets:
    """Where the parenthesis groups of a text end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ends: dict[int, int] = {}
        stack: list[int] = []  # offsets of open parentheses; ~offset for braces
        for match in _BRACKET.finditer(text):
            match match[0]:
                case "(":
                    stack.append(match.start())
                case "{":
                    stack.append(~match.start())
                case ")":
                    if stack and stack[-1] >= 0:
                        self._ends[stack.pop()] = match.end()
                case "}":
                    while stack and stack[-1] >= 0:  # its block ends before it does: it is still being typed
                        self._ends[stack.pop()] = NO_CALL
                    if stack:
                        stack.pop()

    def group_end(self, at: int) -> int:
        """Return the offset past the group that begins at or behind `at` (spaces only between).

        NO_CALL where there is none, or none that ends. OPEN_CALL where it may begin or end behind the text.
        """
        space = _SPACE.match(self.text, at)
        at = space.end() if space else at
        if at < len(self.text) and self.text[at] != "(":
            return NO_CALL
        return self._ends.get(at, OPEN_CALL)


class Expander:
    """Owns a preprocessor, which is lent the macros of each text it expands."""

    def __init__(self) -> None:
        self._reader = Reader([])
        self._macros: Mapping[str, Macro] = {}  # that the reader has

    def expand(self, text: str, macros: Mapping[str, Macro], table: MacroTable) -> Expanded:
        """Expand `text` (comments blank) under `macros`, all of `table` that it can come to use."""
        parts: list[str] = []
        fragments: list[Fragment] = []
        notes: list[tuple[str, int]] = []
        length = 0
        at = 0
        open_call: int | None = None
        brackets = Brackets(text)

        def put(part: str, start: int, end: int, *, is_verbatim: bool) -> None:
            nonlocal length
            if part:
                parts.append(part)
                fragments.append(Fragment(length, len(part), start, end, is_verbatim))
                length += len(part)

        for match in _NAME_OR_STRING.finditer(text):
            macro = macros.get(match[0])
            if macro is None or match.start() < at:
                continue
            stop = brackets.group_end(match.end()) if macro.is_function else match.end()
            if stop < 0:
                open_call = match.end() if stop == OPEN_CALL and open_call is None else open_call
                continue
            put(text[at : match.start()], at, match.start(), is_verbatim=True)
            call = self._call(brackets, match.start(), stop, macros, table)
            notes += ((message, match.start()) for message in call.notes)
            put(call.expansion, match.start(), call.end, is_verbatim=False)
            at = call.end
            if call.is_open and open_call is None:
                open_call = at
        put(text[at:], at, len(text), is_verbatim=True)
        return Expanded("".join(parts), tuple(fragments), tuple(f.at for f in fragments), tuple(notes), open_call)

    def _call(self, brackets: Brackets, start: int, stop: int, macros: Mapping[str, Macro], table: MacroTable) -> _Call:
        while True:
            expansion, notes = self._expansion(CONTINUATION.sub("", brackets.text[start:stop]), macros, table)
            # An object-like macro may name a function-like one whose arguments follow: #define REAL3 make_real3
            last = _LAST_NAME.search(expansion)
            macro = macros.get(last[0]) if last else None
            further = brackets.group_end(stop) if macro is not None and macro.is_function else NO_CALL
            if further < 0:
                return _Call(expansion, notes, stop, further == OPEN_CALL)
            stop = further

    def _expansion(self, call: str, macros: Mapping[str, Macro], table: MacroTable) -> tuple[str, tuple[str, ...]]:
        found = table.expansions.get(call)
        if found is None:
            found = table.expansions[call] = self._expanded(call, macros)
        return found

    def _expanded(self, call: str, macros: Mapping[str, Macro]) -> tuple[str, tuple[str, ...]]:
        reader = self._reader
        # What an expansion says must not depend on those before it.
        if self._macros is not macros:
            self._macros, reader.macros = macros, {name: macro.macro for name, macro in macros.items()}
        reader.countermacro = reader.linemacrodepth = 0
        reader.lexer.lineno = 1
        reader.notes = []
        try:
            tokens = reader.expand_macros(reader.tokenize(call.replace("\n", " ")))
            expansion = "".join(str(t.value) for t in tokens)
        except SourceError as error:
            return call, (error.message,)
        except RecursionError:
            return call, ("macros are nested too deeply: this call is left as it is",)
        return expansion, tuple(note.message for note in reader.notes)
