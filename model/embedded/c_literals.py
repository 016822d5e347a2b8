r"""Programs in C and C++: strings with escapes, raw strings, their concatenations, and arguments of `STRINGIFY(...)`.

Literals are found as the language's own lexer does: syntax trees leave macro definitions, in which kernels often stand,
unparsed, and break at a macro's argument that is OpenCL C.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from model.embedded.fields import Found, Template
from model.embedded.languages import KERNEL
from model.embedded.program import Literal, Piece, decoded, verbatim

# Comments, characters and strings; a quote between digits separates them. One that is never closed ends with its line.
_TOKEN = re.compile(
    r"""
    (?P<comment>//(?:[^\\\r\n]|\\(?:\r\n|.))*+|/\*.*?(?:\*/|\Z))
    |(?<!\w)(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s"]{0,16})\((?P<raw>.*?)\)(?P=delimiter)"
    |(?<!\w)(?:u8|[uUL])"(?P<wide>(?:[^"\\\r\n]|\\(?:\r\n|.))*+)(?P<wide_end>"?)
    |"(?P<plain>(?:[^"\\\r\n]|\\(?:\r\n|.))*+)(?P<plain_end>"?)
    |(?<![0-9a-fA-F])'(?:[^'\\\r\n]|\\(?:\r\n|.))*+'?
    """,
    re.VERBOSE | re.DOTALL,
)
_JOINED = re.compile(r"(?:\s|\\\r?\n|[A-Za-z_]\w*(?:\s*\([^()\"]*\))?)*+")  # macros may stand between literals
_NEXT_LINE = re.compile(r"\s*,\s*")
_ARRAY = re.compile(r"\{\s*$")
_OPENING_CHARACTERS = 1000  # before a file's first literal, in which its array may begin
_ESCAPES = re.compile(
    r"\\(?:\r\n|[0-7]{1,3}|x[0-9a-fA-F]+|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|\?\?[=/'()!<>-]", re.DOTALL
)
_SIMPLE = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_CALL = re.compile(r"([A-Za-z_]\w*)\s*$")
_TEXT_MACRO = re.compile(r"STR|SRC|SOURCE|CODE|KERNEL|QUOTE|TEXT|OPENCL|OCL|CL_?$|_CL", re.IGNORECASE)
_FIRST_ARGUMENT = re.compile(r"\s*[A-Za-z_]\w*\s*,")


@dataclass(frozen=True, slots=True)
class _Token:
    literal: Literal
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


def c_programs(text: str) -> Iterator[Found]:
    """Yield each program of a C or C++ file, in the order of the text."""
    matches = list(_TOKEN.finditer(text))
    strings = [m for m in matches if _is_string(m)]
    comments = [m.span() for m in matches if m["comment"] is not None]
    done = 0
    for number, match in enumerate(strings):
        if number < done or "kernel" not in match[0]:
            continue
        group, done = _group(text, strings, comments, number, done)
        pieces = tuple(piece for each in group for piece in each.pieces)
        yield Found(pieces, tuple(each.literal for each in group), Template(has_percents=None))
    yield from _stringified(text, [m.span() for m in matches])


def _is_string(match: re.Match[str]) -> bool:
    return any(match[name] is not None for name in ("raw", "plain", "wide"))


def _token(text: str, match: re.Match[str]) -> _Token:
    kind = next(name for name in ("raw", "wide", "plain") if match[name] is not None)
    start, end = match.span(kind)
    is_raw = kind == "raw"
    literal = Literal(*match.span(), start, end, is_raw, is_raw)
    return _Token(literal, tuple(verbatim(text, start, end) if is_raw else _unescaped(text, start, end)))


def _unescaped(text: str, start: int, end: int) -> Iterator[Piece]:
    if "\\" not in text[start:end]:
        return verbatim(text, start, end)
    found = dict.fromkeys(_ESCAPES.findall(text, start, end))
    meant = {each: _meant(each) for each in found if each[0] == "?" or each[1] not in "01234567xuU" or len(each) == 2}
    return decoded(text, start, end, _ESCAPES, meant)


def _meant(escape: str) -> str:
    if escape[0] == "?":
        return escape  # trigraphs are off in every compiler of today
    if escape[1] in "\r\n":
        return ""
    return chr(int(escape[1])) if escape[1] in "01234567" else _SIMPLE.get(escape[1], escape[1])


def _group(
    text: str,
    strings: Sequence[re.Match[str]],
    comments: Sequence[tuple[int, int]],
    number: int,
    done: int,
) -> tuple[list[_Token], int]:
    """Return the literals that are one with that of `number`, and the number of the first behind them.

    Those before `done` belong to another program.
    """

    def gap(at: int) -> str:
        before = strings[at - 1].end() if at else max(0, strings[at].start() - _OPENING_CHARACTERS)
        return _without(text, before, strings[at].start(), comments)

    first, last = number, number + 1
    while first > done and _JOINED.fullmatch(gap(first)):
        first -= 1
    # The lines of an array before the one that names a kernel: directives, types, functions.
    start = first
    while start > done and (
        _JOINED.fullmatch(gap(start)) or (_NEXT_LINE.fullmatch(gap(start)) and _ends_a_line(text, strings[start - 1]))
    ):
        start -= 1
    if start < first and (_ARRAY.search(gap(start)) or (start == done > 0 and _NEXT_LINE.fullmatch(gap(start)))):
        first = start
    group = [_token(text, strings[at]) for at in range(first, last)]
    open_text = _OpenText()
    for each in group:
        open_text.add(each.text)
    while last < len(strings):
        between = gap(last)
        if not _JOINED.fullmatch(between) and not (_NEXT_LINE.fullmatch(between) and open_text.is_unfinished):
            break
        group.append(_token(text, strings[last]))
        open_text.add(group[-1].text)
        last += 1
    return group, last


def _ends_a_line(text: str, match: re.Match[str]) -> bool:
    return _token(text, match).text.endswith("\n")


@dataclass(slots=True)
class _OpenText:
    """Counts the brackets of an array's lines: while one is open, the program goes on in the next line."""

    braces: int = 0
    parentheses: int = 0
    is_in_block: bool = True

    def add(self, text: str) -> None:
        self.braces += text.count("{") - text.count("}")
        self.parentheses += text.count("(") - text.count(")")
        if stripped := text.rstrip():
            self.is_in_block = not stripped.endswith("}")

    @property
    def is_unfinished(self) -> bool:
        return self.braces > 0 or self.parentheses > 0 or self.is_in_block


def _without(text: str, start: int, end: int, comments: Sequence[tuple[int, int]]) -> str:
    found, at = [], start
    first = bisect_right(comments, (start,))
    for comment_start, comment_end in comments[first:]:
        if comment_start >= end:
            break
        found.append(text[at:comment_start])
        at = comment_end
    return " ".join((*found, text[at:end]))


def _stringified(text: str, tokens: Sequence[tuple[int, int]]) -> Iterator[Found]:
    """Yield the arguments of macros such as `STRINGIFY(...)` that hold a kernel."""
    blank = ""
    done = 0
    opened: _Opened | None = None
    for match in KERNEL.finditer(text):
        at = bisect_right(tokens, (match.start(), len(text))) - 1
        if match.start() < done or (at >= 0 and tokens[at][1] > match.start()):
            continue
        if opened is None:
            blank = _blanked(text, tokens)
            opened = _Opened(blank)
        opening = opened.at(match.start())
        name = _CALL.search(blank, max(0, opening - 200), opening) if opening > 0 else None
        if name is None or not (_TEXT_MACRO.search(name[1]) or name[1].isupper()):
            continue
        end = _closing(blank, opening)
        label = _FIRST_ARGUMENT.match(blank, opening + 1, match.start())
        start = label.end() if label else opening + 1
        done = end
        literal = Literal(start, end, start, end, is_raw=True, is_multiline=True)
        yield Found(tuple(verbatim(text, start, end)), (literal,), Template(has_percents=None))


def _blanked(text: str, tokens: Sequence[tuple[int, int]]) -> str:
    found, at = [], 0
    for start, end in tokens:
        found += [text[at:start], " " * (end - start)]
        at = end
    return "".join((*found, text[at:]))


class _Opened:
    """Finds the parentheses that are open at one place after the other, in a single pass."""

    def __init__(self, blank: str) -> None:
        self._parentheses = re.finditer(r"[()]", blank)
        self._next = next(self._parentheses, None)
        self._open: list[int] = []

    def at(self, offset: int) -> int:
        """Return the innermost parenthesis that is open at `offset`, -1 without one. Offsets must ascend."""
        while self._next is not None and self._next.start() < offset:
            if self._next[0] == "(":
                self._open.append(self._next.start())
            elif self._open:
                self._open.pop()
            self._next = next(self._parentheses, None)
        return self._open[-1] if self._open else -1


def _closing(blank: str, opening: int) -> int:
    depth = 0
    for match in re.compile(r"[()]").finditer(blank, opening):
        depth += 1 if match[0] == "(" else -1
        if not depth:
            return match.start()
    return len(blank)
