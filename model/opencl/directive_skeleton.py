"""Skeletons: the directives of a file, and one marker for each run of ordinary lines between them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from model.opencl.segments import Segment

CONTINUATION = re.compile(r"\\\r?\n")
MARKER = "__kernelcast_run_"
# pcpp ends a line at each of these; a directive is one line to us.
_OTHER_LINE_ENDS = re.compile("[\n\r\v\f\x1c-\x1e\x85]")


@dataclass(slots=True)
class SourceFile:
    """A file, its runs of ordinary segments, and the number of the segment with which each skeleton row begins."""

    name: str
    number: int  # 0 is the main file
    segments: tuple[Segment, ...]
    runs: list[tuple[int, int]] = field(default_factory=list)  # of numbers of segments, half-open
    rows: list[int] = field(default_factory=list)
    skeleton: str = ""

    def __post_init__(self) -> None:
        skeleton: list[str] = []

        def run(start: int, end: int) -> None:
            if not all(segment.is_empty for segment in self.segments[start:end]):
                skeleton.append(f"{MARKER}{self.number}_{len(self.runs)}")
                self.rows.append(start)
                self.runs.append((start, end))

        at = 0
        for number, segment in enumerate(self.segments):
            if segment.is_directive:
                run(at, number)
                skeleton.append(_one_line(segment.blank))
                self.rows.append(number)
                at = number + 1
        run(at, len(self.segments))
        self.skeleton = "\n".join(skeleton) + "\n"

    def line_of_row(self, row: int) -> int:
        """Return the line (from 0) on which the directive or run of a row begins."""
        number = self.rows[row]
        return sum(segment.line_feeds for segment in self.segments[:number]) + self.segments[number].line_of_text


def _one_line(directive: str) -> str:
    return _OTHER_LINE_ENDS.sub(" ", CONTINUATION.sub("", directive)).strip()
