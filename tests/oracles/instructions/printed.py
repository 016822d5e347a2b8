"""Reads what the simulating process prints: our marks, and between them Oclgrind's histograms and errors."""

from __future__ import annotations

import re

from tests.oracles.instructions.task import MARK, Executed, NotExecuted

_BEGINS = re.compile(rf"{MARK} begin (\d+)\n")
_ENDS = re.compile(rf"{MARK} (?:done|failed: (?P<reason>.*))\n")
_COUNTED = re.compile(r"^ *(\d+) - (.+?)(?: \((\d+) bytes\))?$", re.MULTILINE)
_COMPLAINT = re.compile(
    r"^(?:Undefined|Unsupported|Unhandled|Invalid|Insufficient|Work-item|Encountered)\b.*$", re.MULTILINE
)


def read_printed(text: str) -> dict[int, Executed | NotExecuted]:
    """The outcome of each task by its number; a task that began and never ended has none."""
    outcomes: dict[int, Executed | NotExecuted] = {}
    for part in re.split(rf"(?={MARK} begin)", text):
        begins, ends = _BEGINS.match(part), _ENDS.search(part)
        if begins and ends:
            outcomes[int(begins[1])] = _outcome(part, ends["reason"])
    return outcomes


def _outcome(part: str, reason: str | None) -> Executed | NotExecuted:
    complaint = _COMPLAINT.search(part)
    if complaint or reason is not None:
        return NotExecuted(complaint[0] if complaint else str(reason))
    instructions: dict[str, int] = {}
    bytes_moved: dict[str, int] = {}
    for count, name, moved in _COUNTED.findall(part):
        instructions[name] = instructions.get(name, 0) + int(count)
        if moved:
            bytes_moved[name] = bytes_moved.get(name, 0) + int(moved)
    return Executed(instructions, bytes_moved) if instructions else NotExecuted("nothing was counted")
