"""Leaves out of a program what none of its kernels uses: all that it includes may be a hundred times as long."""

from __future__ import annotations

import re
from dataclasses import dataclass

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//(?:\\\n|[^\n])*|/\*.*?\*/', re.DOTALL)
_HEAD = re.compile(
    r"^(?![ \t#}])(?P<words>[A-Za-z_][\w \t*\n]*?)\b(?P<name>[A-Za-z_]\w*)[ \t\n]*"
    r"(?:\([^(){};#]*(?:\([^(){};#]*\)[^(){};#]*)*\)[ \t\n]*\{|"
    r"(?:\[[^\];]*\][ \t]*)+=[ \t\n]*\{)",
    re.MULTILINE,
)
_DECLARATION = re.compile(r"^(?![ \t#}])[A-Za-z_][\w \t*]*[ \t*][A-Za-z_]\w*[ \t]*\([^(){};#]*\)[ \t]*;", re.MULTILINE)
_BRACE = re.compile(r"[{}]")
_WORD = re.compile(r"[A-Za-z_]\w*")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_IS_KERNEL = re.compile(r"\bkernel\b|__kernel\b|KERNEL")
_BLANK = re.compile(r"(?<!\\)\n(?:[ \t\r]*\n)+")


@dataclass(frozen=True, slots=True)
class _Item:
    """A function or a table at the top level."""

    name: str
    start: int
    end: int
    words: frozenset[str]


def pruned(text: str) -> str:
    """`text` without comments, and without functions and tables that neither a kernel nor a macro names."""
    text = _COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else " ", text)
    items = list(_items(text))
    rest, at = [], 0
    for item in items:
        rest.append(text[at : item.start])
        at = item.end
    rest.append(text[at:])
    wanted = _reached(items, set(_WORD.findall(_DECLARATION.sub("", " ".join(rest)))))
    kept, at = [], 0
    for item in items:
        kept.append(text[at : item.start])
        if item.name in wanted:
            kept.append(text[item.start : item.end])
        at = item.end
    kept.append(text[at:])
    return _BLANK.sub("\n", "".join(kept))


def _items(text: str) -> list[_Item]:
    found, at = [], 0
    while (match := _HEAD.search(text, at)) is not None:
        end = _end(text, match.end())
        if end is None:
            break
        # Between `__kernel` and the rest of a head may stand attributes made by macros, and directives.
        head = re.split(r"[;}]", _DIRECTIVE.sub("", text[at : match.start()]))[-1] + match["words"]
        at = end
        if not _IS_KERNEL.search(head) and not {"struct", "union", "enum", "typedef"} & {*match["words"].split()}:
            found.append(_Item(match["name"], match.start(), end, frozenset(_WORD.findall(text, match.start(), end))))
    return found


def _end(text: str, start: int) -> int | None:
    """Behind the brace that closes the one before `start`, and a semicolon."""
    depth = 1
    for match in _BRACE.finditer(text, start):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.end() + (text[match.end() : match.end() + 1] == ";")
    return None


def _reached(items: list[_Item], words: set[str]) -> set[str]:
    by_name: dict[str, list[_Item]] = {}
    for item in items:
        by_name.setdefault(item.name, []).append(item)
    reached: set[str] = set()
    waiting = [name for name in by_name if name in words]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += [word for item in by_name[name] for word in item.words if word in by_name]
    return reached
