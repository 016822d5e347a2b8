"""Write a line into an embedded program, as its literal in the host file requires."""

from __future__ import annotations

from dataclasses import dataclass

from model.embedded.program import EmbeddedProgram, Literal


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text to insert at an offset of the host file."""

    offset: int
    text: str


def line_above(program: EmbeddedProgram, host: str, offset: int, line: str) -> Insertion | None:
    """Return the insertion that puts `line` above the character at `offset` of the program's text.

    Where a literal ends with its line, the new line gets a literal of its own if it can. None where no line end can be
    written.
    """
    end = "\r\n" if "\r\n" in host else "\n"
    at = program.host_start(offset)
    literal = program.literal_at(at) or program.literals[0]
    row = host.rfind("\n", 0, at) + 1
    before = host[row:at]
    if literal.is_multiline:
        indentation = before[: len(before) - len(before.lstrip(" \t"))]
        if row >= literal.body_start and not before.strip(" \t"):
            return Insertion(row, f"{indentation}{_doubled(line, literal)}{end}")
        return Insertion(at, f"{_doubled(line, literal)}{end}")
    started = program.text[program.text.rfind("\n", 0, offset) + 1 : offset]
    text = _escaped(line, literal)
    if not started.strip(" \t") and not host[row : literal.start].strip(" \t") and len(program.literals) > 1:
        opening, closing = host[literal.start : literal.body_start], host[literal.body_end : literal.end]
        if program.offset_of(literal.body_start) in (offset, offset - len(started)):
            goes_on = " \\" if _goes_on(host, row) else ""
            opening = opening.replace("r", "").replace("R", "")
            return Insertion(row, f"{host[row : literal.start]}{opening}{text}\\n{closing}{goes_on}{end}")
    if literal.is_raw:
        return None
    first = "\\n" if started.strip(" \t") else ""
    return Insertion(at, f"{first}{text}\\n")


def _goes_on(host: str, row: int) -> bool:
    """Return whether this line of the host, or the one before, is continued by a backslash."""
    end = host.find("\n", row)
    lines = host[host.rfind("\n", 0, max(0, row - 1)) + 1 : end if end >= 0 else len(host)].splitlines()
    return any(line.rstrip("\r").endswith("\\") for line in lines)


def _escaped(text: str, literal: Literal) -> str:
    return _doubled(text.replace("\\", "\\\\").replace('"', '\\"').replace("'", "\\'"), literal)


def _doubled(text: str, literal: Literal) -> str:
    if literal.is_multiline and not literal.is_raw:
        text = text.replace("\\", "\\\\")
    for character in literal.doubled:
        text = text.replace(character, 2 * character)
    return text
