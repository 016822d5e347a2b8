"""A program's text with some of its kernels alone: drivers compile all that they find, which takes time."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from model.opencl.kernel import SourceRange
from model.opencl.options import BuildOptions
from model.opencl.program import read_program

_DIRECTIVE = re.compile(rb"\s*#\s*(?!pragma)")


def with_only(wanted: Collection[str], source: str, path: str | None, options: BuildOptions) -> str:
    """`source` with blanks in place of its other kernels; lines and columns stay. What it uses is not looked at."""
    kernels = read_program(source, Path(path) if path else None, options).kernels
    kept = [kernel.range for kernel in kernels if kernel.name in wanted]
    # A macro may write several kernels at once, and `#if` may leave one its head and another its body.
    others = [k.range for k in kernels if k.name not in wanted and not any(_overlap(k.range, each) for each in kept)]
    if not kept or not others:
        return source
    lines = [bytearray(line) for line in source.encode("utf-8", "surrogatepass").split(b"\n")]
    for each in others:
        for number in range(each.start_line, min(each.end_line + 1, len(lines))):
            _blank(lines[number], each.start_byte if number == each.start_line else 0, number, each)
    return b"\n".join(lines).decode("utf-8", "surrogatepass")


def _blank(line: bytearray, start: int, number: int, place: SourceRange) -> None:
    end = min(place.end_byte if number == place.end_line else len(line), len(line))
    # Directives stay, so that each `#if` keeps its `#endif`, but those for a loop that is gone; so do carriage returns.
    if start < end and not _DIRECTIVE.match(line):
        line[start:end] = b"".join(b"\r" if byte == 13 else b" " for byte in line[start:end])


def _overlap(one: SourceRange, other: SourceRange) -> bool:
    return (one.start_line, one.start_byte) < (other.end_line, other.end_byte) and (
        other.start_line,
        other.start_byte,
    ) < (one.end_line, one.end_byte)
