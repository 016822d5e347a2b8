"""Puts included files into a program's text, so that it stands by itself wherever it is built."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

_INCLUDE = re.compile(
    r'^[ \t]*#[ \t]*include[ \t]+(?:["<](?P<plain>[^">\n]+)[">]|\w+[ \t]*\((?P<macro>[^)\n]+)\)).*$', re.MULTILINE
)
_WRAPPED = re.compile(r'R"(?P<mark>[^\s()\\"]{0,16})\((?P<text>.*?)\)(?P=mark)"', re.DOTALL)
DEEPEST = 12


def with_includes(
    text: str,
    name: str,
    files: Mapping[str, Path],
    by_name: Mapping[str, Sequence[str]],
    done: set[str] | None = None,
    depth: int = 0,
) -> str:
    """`text` of the file `name` with each included file of the package in place of its directive, once.

    What the package does not hold is left out: those are headers of a host's language or of a driver.
    """
    done = {name} if done is None else done

    def put(found: re.Match[str]) -> str:
        wanted = (found["plain"] or found["macro"]).strip()
        goal = _resolved(wanted, name, files, by_name)
        if goal is None or goal in done or depth > DEEPEST:
            return ""
        done.add(goal)
        inner = files[goal].read_text(encoding="utf-8", errors="replace")
        wrapped = _WRAPPED.search(inner)
        if wrapped and not goal.endswith((".h", ".hpp")):
            inner = wrapped["text"]
        return with_includes(inner, goal, files, by_name, done, depth + 1)

    return _INCLUDE.sub(put, text)


def _resolved(wanted: str, name: str, files: Mapping[str, Path], by_name: Mapping[str, Sequence[str]]) -> str | None:
    """Beside the file that asks for it, or wherever the package has a file whose path ends like that."""
    beside = _normal(PurePosixPath(name).parent / wanted)
    if beside in files:
        return beside
    last = PurePosixPath(wanted).name
    among = by_name.get(last, ())
    ending = [one for one in among if f"/{one}".endswith(f"/{wanted.lstrip('./')}")] or list(among)
    return min(ending, key=lambda one: (-_shared(one, name), len(one), one), default=None)


def _normal(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _shared(one: str, other: str) -> int:
    """Return how many folders two paths share from the top."""
    count = 0
    for a, b in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if a != b:
            break
        count += 1
    return count
