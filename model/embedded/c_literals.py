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
    tokens: dict[int, _Token] = {}
    done = 0
    for number, match in enumerate(strings):
        if number < done or "kernel" not in match[0]:
            continue
        group, done = _group(text, strings, comments, number, tokens)
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
    tokens: dict[int, _Token],
) -> tuple[list[_Token], int]:
    """Return the literals that are one with that of `number`, and the number of the first behind them."""

    def token(at: int) -> _Token:
        if at not in tokens:
            tokens[at] = _token(text, strings[at])
        return tokens[at]

    def gap(at: int) -> str:
        return _without(text, strings[at - 1].end(), strings[at].start(), comments)

    first, last = number, number + 1
    while first > 0 and _JOINED.fullmatch(gap(first)):
        first -= 1
    group = [token(at) for at in range(first, last)]
    while last < len(strings):
        between = gap(last)
        if not _JOINED.fullmatch(between) and not (_NEXT_LINE.fullmatch(between) and _is_unfinished(group)):
            break
        group.append(token(last))
        last += 1
    return group, last


def _is_unfinished(group: Sequence[_Token]) -> bool:
    """Return whether a bracket is open: then the next line of an array of lines goes on."""
    text = "".join(each.text for each in group)
    return text.count("{") > text.count("}") or text.count("(") > text.count(")") or not text.rstrip().endswith("}")


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
    for match in KERNEL.finditer(text):
        at = bisect_right(tokens, (match.start(), len(text))) - 1
        if match.start() < done or (at >= 0 and tokens[at][1] > match.start()):
            continue
        blank = blank or _blanked(text, tokens)
        opening = _opening(blank, match.start())
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


def _opening(blank: str, at: int) -> int:
    """Return the innermost parenthesis that is open at `at`; -1 without one."""
    depth = 0
    for match in re.finditer(r"[()]", blank[:at][::-1]):
        depth += 1 if match[0] == ")" else -1
        if depth < 0:
            return at - match.end()
    return -1


def _closing(blank: str, opening: int) -> int:
    depth = 0
    for match in re.compile(r"[()]").finditer(blank, opening):
        depth += 1 if match[0] == "(" else -1
        if not depth:
            return match.start()
    return len(blank)
