"""How a TextMate grammar is put together: a rule is a dictionary, and this says what may stand in one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Rule = dict[str, object]
Captures = Mapping[int, str]

LANGUAGE = "opencl"
NAME = r"[A-Za-z_]\w*"
# Where a line ends that no backslash continues: directives and `//` comments go on after one, as in C.
LINE_END = r"(?<!\\)(?=\n)"


def one_of(words: Iterable[str]) -> str:
    """Any of these words and nothing that only starts or ends with one."""
    return rf"\b(?:{'|'.join(sorted(set(words)))})\b"


def scope(names: str) -> str:
    """`storage.type` -> `storage.type.opencl`, for each of several names."""
    return " ".join(f"{name}.{LANGUAGE}" for name in names.split())


def include(*names: str) -> list[Rule]:
    """The rules of the repository by these names, tried in this order where several match at the same place."""
    return [{"include": f"#{name}"} for name in names]


def match(pattern: str, name: str = "", captures: Captures | None = None) -> Rule:
    """Within one line."""
    return {"match": pattern, **_named(name), **_captured("captures", captures)}


def region(
    begin: str,
    end: str,
    name: str = "",
    *,
    inside: list[Rule] | None = None,
    content: str = "",
    begins: Captures | None = None,
    ends: Captures | None = None,
) -> Rule:
    """From `begin` to `end`, over lines; whatever matches `inside` hides an `end` in it."""
    return {
        "begin": begin,
        "end": end,
        **_named(name),
        **({"contentName": scope(content)} if content else {}),
        **_captured("beginCaptures", begins),
        **_captured("endCaptures", ends),
        **({"patterns": inside} if inside else {}),
    }


def _named(name: str) -> Rule:
    return {"name": scope(name)} if name else {}


def _captured(key: str, captures: Captures | None) -> Rule:
    if not captures:
        return {}
    return {key: {str(group): {"name": scope(name)} for group, name in captures.items()}}
