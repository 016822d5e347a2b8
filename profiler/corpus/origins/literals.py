"""OpenCL C that stands as text in another language: raw, joined or triple-quoted literals, stringised macros."""

from __future__ import annotations

import re
from collections.abc import Iterator

KERNEL = re.compile(r"\b(?:__kernel|kernel\s+void)\b")
_RAW = re.compile(r'R"(?P<mark>[^\s()\\"]{0,16})\((?P<text>.*?)\)(?P=mark)"', re.DOTALL)
_TRIPLE = re.compile(r'("""|\'\'\')(?P<text>.*?)\1', re.DOTALL)
_PLAIN = re.compile(r'"(?P<text>(?:[^"\\\n]|\\.|\\\n)*)"')
_CALL = re.compile(r"\b\w*(?:STRING|KERNEL|SOURCE|CODE|TO_STR)\w*\s*\(", re.IGNORECASE)
# What may stand between two literals that make one text: `+`, `<<`, `text.append(`, and a name that holds a part of it.
_STEP = re.compile(
    r"\s+|\\\n|\+=|\+|<<|\)|\(\)|;|(?P<target>[\w.\->]+(?:\.(?:append|push_back)\s*\(|\s*(?:\+=|<<)))|(?P<name>[A-Za-z_][\w:]*)"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_FIRST_NAME = re.compile(r"\A\s*[A-Za-z_]\w*\s*,")  # of the variable that is to hold the text
_ESCAPES = {"n": "\n", "t": "\t", "r": "", '"': '"', "'": "'", "\\": "\\", "0": "", "\n": ""}
# What a host would print into a text.
_FORMATS = re.compile(r"%(?:%|[-+ 0#]*\d*(?:\.\d+)?(?:hh|h|ll|l|z)?([duisfgx])\b)")
_FILLED = {"d": "16", "u": "16", "i": "16", "x": "16", "s": "named", "f": "1.0f", "g": "1.0f"}
_GAP = 200  # characters between two literals of one text


def programs_in(text: str, *, is_python: bool) -> Iterator[str]:
    """Yield each text that holds a kernel, in order."""
    rest = text
    for pattern in (_TRIPLE,) if is_python else (_RAW,):
        for match in pattern.finditer(rest):
            if KERNEL.search(match["text"]):
                yield match["text"]
        rest = pattern.sub("", rest)
    if is_python:
        return
    yield from (joined for joined in _joined(rest) if KERNEL.search(joined))
    yield from _stringised(rest)


def _joined(text: str) -> Iterator[str]:
    parts: list[str] = []
    end = 0
    for match in _PLAIN.finditer(text):
        between = text[end : match.start()]
        name = _between(between) if parts else None
        if name is None:
            if parts:
                yield "".join(parts)
            parts = []
        else:
            parts.append(name)
        parts.append(_unescaped(match["text"]))
        end = match.end()
    if parts:
        yield "".join(parts)


def _between(text: str) -> str | None:
    """Return what belongs in between; None where a new text begins."""
    if len(text) > _GAP:
        return None
    if not text.strip():
        return ""
    plain = _COMMENT.sub(" ", text)
    names, at = [], 0
    while at < len(plain):
        step = _STEP.match(plain, at)
        if step is None:
            return None
        at = step.end()
        if step["name"]:
            names.append("\n" if step["name"].endswith("endl") else step["name"])
    return "".join(names) if len(names) < 2 else None


def _unescaped(text: str) -> str:
    text = _FORMATS.sub(lambda found: _FILLED[found[1]] if found[1] else "%", text)
    return re.sub(r"\\(.|\n)", lambda found: _ESCAPES.get(found[1], found[1]), text, flags=re.DOTALL)


def _stringised(text: str) -> Iterator[str]:
    """Yield the arguments of macros that make text of them, such as `STRINGIFY(...)` and `SOURCE(name, ...)`."""
    end = 0
    for match in _CALL.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if match.start() < end or "#" in line or not KERNEL.search(text, match.end(), match.end() + 4_000):
            continue
        stop = _closing(text, match.end())
        if stop is not None and KERNEL.search(inside := text[match.end() : stop]):
            end = stop
            yield _FIRST_NAME.sub("", inside).replace("\\n", "\n")  # which their compiler makes lines of


def _closing(text: str, start: int) -> int | None:
    depth = 1
    for match in re.compile(r"//[^\n]*|/\*.*?\*/|[()]", re.DOTALL).finditer(text, start):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return None
