r"""Find the fields that a host fills in at run time, and put a type, a number or a name in their place, by context.

`%(type)s`, `{name}` of a format or an f-string, Mako's `${...}` and its control lines, C's `%d`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from model.embedded.program import EmbeddedProgram, Filled, Literal, Piece, replaced

# Around an expression that takes part in a text: private characters, which no program has.
MARK_START, MARK_END = "\ue0f0", "\ue0f1"


@dataclass(frozen=True, slots=True)
class Template:
    """How the host completes a text: by `%` with arguments (None: unknown) and by `.format`."""

    has_percents: bool | None = False
    has_braces: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """One program as a reader of a host language finds it, and how the host completes its text."""

    pieces: tuple[Piece, ...]
    literals: tuple[Literal, ...]
    template: Template


_MARKED = re.compile(f"{MARK_START}([^{MARK_END}]*){MARK_END}")
_NAMED_PERCENT = re.compile(r"%\(\w+\)[-+#0 ]*[\d.]*[a-zA-Z]")
_PERCENT = re.compile(r"%(?:%|(?:\(\w+\))?[-+#0 ]*\d*(?:\.\d+)?(?:hh|ll|[hlzjt])?[diouxXeEfFgGcrs])")
_MAKO = re.compile(r"\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\$\$|\$\w+")
_MAKO_LINE = re.compile(
    r"^[ \t]*(?:%[ \t]*(?:for|if|elif|else|endfor|endif|while|endwhile|try|endtry)\b|##)[^\n]*", re.M
)
_MAKO_BLOCK = re.compile(r"<%.*?%>|</?%\w+[^>]*>", re.DOTALL)
_BRACE = re.compile(r"\{\{|\}\}|\{[A-Za-z_0-9]*(?:[.\[][^{}\n]*)?(?:![rsa])?(?::[^{}\n]*)?\}")
_ALL_DOUBLED = re.compile(r"\)\s*\{\{")
_ALL_SINGLE = re.compile(r"\)\s*\{(?!\{|\w*\})")
_QUOTED = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)

_TYPE = re.compile(r"type|_t\b|^[tT]$|real|scalar|precision|float|double", re.IGNORECASE)
_QUALIFIED = r"\b(?:__)?(?:global|local|constant|private|const|restrict|volatile|unsigned|inline)\s+"
_BEFORE_TYPE = re.compile(rf"(?:{_QUALIFIED}|\btypedef\s+)$")
_BEFORE_OPERAND = re.compile(
    r"(?:[-+*/%<>=&|^!~?:,(\[]|\breturn|^[ \t]*#[ \t]*(?:define[ \t]+\w+(?:\([^)\n]*\))?|if|elif)[^\n]*)\s*$",
    re.MULTILINE,
)
_PARAMETERS = re.compile(r"\bvoid\s+\w+\s*\((?:[^()]*,)?\s*$")
_WHOLE_NUMBER = re.compile(r"index|idx|size|offset|count|int|long|length", re.IGNORECASE)
_AFTER_TYPE = re.compile(r"\d*[ \t]*\*|\d*[ \t]+[A-Za-z_]\w*|\d+\b")
_DEFINED = re.compile(r"#[ \t]*define[ \t]+(\w+)[ \t]+$")
_AFTER_PARAMETER = re.compile(r"\s*[,)]")
_NUMBER, _NAME = "16", "filled"
_NEAR = 300  # characters around a field that are looked at: lines may be as long as the program


def with_stand_ins(pieces: Sequence[Piece], literals: tuple[Literal, ...], template: Template) -> EmbeddedProgram:
    """Return the program with something plausible in place of each field, and the list of what was filled in."""
    text = "".join(piece.text for piece in pieces)
    if not any(sign in text for sign in (MARK_START, "%", "$", "{", "<%")):
        return EmbeddedProgram(tuple(pieces), literals)
    fields = list(_fields(text, template))
    if not fields:
        return EmbeddedProgram(tuple(pieces), literals)
    spans: list[tuple[int, int, str]] = []
    filled: list[Filled] = []
    moved = 0
    for start, end, plain in fields:
        name = text[start:end].strip(MARK_START + MARK_END)
        stand_in = plain if plain is not None else _stand_in(name, text, start, end)
        spans.append((start, end, stand_in))
        if plain is None or plain == "":
            is_number = stand_in[:1].isdigit()
            filled.append(Filled(" ".join(name.split()), stand_in, start + moved, is_number))
        moved += len(stand_in) - (end - start)
    doubled = ("%" if _is_percent(text, template) else "") + ("{}" if _is_format(text, template) else "")
    literals = tuple(_doubling(each, doubled) for each in literals)
    return EmbeddedProgram(replaced(pieces, spans), literals, tuple(filled))


def _doubling(literal: Literal, doubled: str) -> Literal:
    more = "".join(c for c in doubled if c not in literal.doubled)
    return Literal(
        literal.start, literal.end, literal.body_start, literal.body_end, literal.is_raw, literal.is_multiline,
        literal.doubled + more,
    )  # fmt: skip


def _fields(text: str, template: Template) -> Iterator[tuple[int, int, str | None]]:
    """Yield the places of fields in their order, and what each means where that is known: `%%` is `%`."""
    found: list[tuple[int, int, str | None]] = [(*m.span(), None) for m in _MARKED.finditer(text)]
    if "$" in text or "<%" in text:
        found += [(*m.span(), "$" if m[0] == "$$" else None) for m in _MAKO.finditer(text)]
        found += [(*m.span(), "") for m in _MAKO_BLOCK.finditer(text)]
    if "%" in text or "##" in text:
        found += [(*m.span(), "") for m in _MAKO_LINE.finditer(text)]
    if "%" in text:
        found += _percents(text, template)
    if "{" in text and _is_format(text, template):
        found += [(*m.span(), m[0][0] if m[0] in ("{{", "}}") else None) for m in _BRACE.finditer(text)]
    at = 0
    for start, end, plain in sorted(found, key=lambda each: (each[0], -each[1])):
        if start >= at:
            yield start, end, plain
            at = end


def _is_percent(text: str, template: Template) -> bool:
    return template.has_percents is True or _NAMED_PERCENT.search(text) is not None


def _is_format(text: str, template: Template) -> bool:
    is_doubled = _ALL_DOUBLED.search(text) is not None and _ALL_SINGLE.search(text) is None
    return template.has_braces or is_doubled


def _percents(text: str, template: Template) -> Iterator[tuple[int, int, str | None]]:
    is_certain = _is_percent(text, template)
    quoted = [] if is_certain else [m.span() for m in _QUOTED.finditer(text)]
    for match in _PERCENT.finditer(text):
        if match[0] == "%%":
            if is_certain:
                yield *match.span(), "%"
        elif is_certain or (not _is_inside(quoted, match.start()) and _is_no_remainder(text, match)):
            yield *match.span(), None


def _is_inside(spans: Sequence[tuple[int, int]], offset: int) -> bool:
    number = bisect_right(spans, offset, key=lambda span: span[0]) - 1
    return number >= 0 and offset < spans[number][1]


def _is_no_remainder(text: str, match: re.Match[str]) -> bool:
    """Return whether nothing stands before a `%d` that could be divided: then it is no remainder by `d`."""
    line = _line_before(text, match.start()).rstrip(" \t")
    if _DEFINED.search(f"{line} ") or _BEFORE_TYPE.search(f"{line} "):
        return True
    return (bool(line) and line[-1] in "=,([{+-*/<>&|^!~?:;") or (not line and match[0][-1] == "s")


def _line_before(text: str, offset: int) -> str:
    return text[max(text.rfind("\n", 0, offset) + 1, offset - _NEAR) : offset]


def _is_parameter(text: str, start: int, end: int) -> bool:
    """Return whether a field is a whole parameter of a function."""
    opening = text.rfind("(", max(0, start - _NEAR), start)
    if opening < 0 or not _AFTER_PARAMETER.match(text, end):
        return False
    return _PARAMETERS.search(text, max(0, opening - _NEAR), start) is not None


def _stand_in(name: str, text: str, start: int, end: int) -> str:
    """Return a type where one is declared, a number where one is computed with, a name where it is part of one."""
    line = _line_before(text, start)
    line_end = text.find("\n", end, end + _NEAR)
    rest = text[end : line_end if line_end >= 0 else end + _NEAR]
    is_type_name = _TYPE.search(name) is not None
    kind = "int" if _WHOLE_NUMBER.search(name) else "float"
    if name[-1:] in "eEfFgG" and name.startswith("%") and name[1:2] != "(":
        return "1.0f"
    if _is_parameter(text, start, end):
        return "int filled"
    if re.search(r"\w$", line) and not is_type_name:
        return "1" if re.search(r"\d$", line) else "x"
    if re.search(r"\b(?:void|struct|union|enum)\s+$", line) or (re.match(r"\w*\s*\(", rest) and not line.strip()):
        return _NAME
    if re.match(r"\w", rest) and not is_type_name:
        return "x"
    if _DEFINED.search(line):
        return kind if is_type_name else _NUMBER
    if is_type_name and (_AFTER_TYPE.match(rest) or rest[:1] in (")", ">", "") or _BEFORE_TYPE.search(line)):
        return kind
    if _BEFORE_TYPE.search(line):
        return kind
    if not line.strip() and not rest.strip(" \t;\r"):
        return ""  # whole lines, of which nothing is known: declarations or statements
    if _BEFORE_OPERAND.search(line) and not _AFTER_TYPE.match(rest):
        return _NUMBER
    if _AFTER_TYPE.match(rest):
        return kind
    return _NUMBER if _BEFORE_OPERAND.search(line) else ""
