"""Skeletons: the directives of a file, and one marker for each run of ordinary lines between them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from model.opencl.positions import LineIndex

_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\r?\n|\\.)*", re.MULTILINE)
CONTINUATION = re.compile(r"\\\r?\n")
MARKER = "__kernelcast_run_"
# pcpp ends a line at each of these; a directive is one line to us.
_OTHER_LINE_ENDS = re.compile("[\r\v\f\x1c-\x1e\x85]")


@dataclass(slots=True)
class SourceFile:
    """One file, its runs of ordinary lines by offset, and for each line of its skeleton the line it comes from."""

    name: str
    text: str  # comments blank
    lines: LineIndex
    runs: list[tuple[int, int]] = field(default_factory=list)
    line_of_skeleton: list[int] = field(default_factory=list)
    skeleton: str = ""


def split(name: str, text: str, number: int) -> SourceFile:
    """Divide a file into directives and runs of ordinary lines, and write its skeleton."""
    file = SourceFile(name, text, LineIndex(text))
    skeleton: list[str] = []

    def run(start: int, end: int) -> None:
        if text[start:end].strip():
            skeleton.append(f"{MARKER}{number}_{len(file.runs)}")
            file.line_of_skeleton.append(file.lines.line(start))
            file.runs.append((start, end))

    at = 0
    for match in _DIRECTIVE.finditer(text):
        run(at, match.start())
        skeleton.append(_one_line(match[0]))
        file.line_of_skeleton.append(file.lines.line(match.start()))
        at = match.end()
    run(at, len(text))
    file.skeleton = "\n".join(skeleton) + "\n"
    return file


def _one_line(directive: str) -> str:
    return _OTHER_LINE_ENDS.sub(" ", CONTINUATION.sub(" ", directive)).strip()
