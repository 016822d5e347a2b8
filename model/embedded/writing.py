"""Write lines and edits into an embedded program, as its literal in the host file requires."""

from __future__ import annotations

from collections.abc import Sequence
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


def edited_host(
    program: EmbeddedProgram, host: str, edits: Sequence[tuple[int, int, str]]
) -> tuple[tuple[int, int, str], ...] | None:
    """Return the edits of the host file that make these of the program's text; offsets are of characters.

    None where one of them is not written one to one: it spans literals or escapes, or needs characters that the literal
    cannot hold as they are.
    """
    found = [_host_edit(program, host, *edit) for edit in edits]
    known = sorted(each for each in found if each is not None)
    return tuple(known) if len(known) == len(found) else None


def _host_edit(program: EmbeddedProgram, host: str, start: int, end: int, text: str) -> tuple[int, int, str] | None:
    is_line = start == end and text.endswith("\n") and text.count("\n") == 1
    if is_line and (start == 0 or program.text[start - 1] == "\n"):
        indentation = len(program.text) - start - len(program.text[start:].lstrip(" \t"))
        around = program.literal_at(program.host_start(start)) or program.literals[0]
        if around.is_multiline:  # the host's line has the indentation
            insertion = line_above(program, host, start + indentation, text.strip())
        else:
            insertion = line_above(program, host, start, text[:-1])
        return (insertion.offset, insertion.offset, insertion.text) if insertion is not None else None
    pieces = list(program.pieces_between(start, end))
    if start == end:
        before = list(program.pieces_between(max(0, start - 1), start))
        begin = stop = before[-1].end if before and before[-1].is_verbatim else program.host_start(start)
    else:
        begin, stop = pieces[0].start, pieces[-1].end
        if any(not piece.is_verbatim for piece in pieces) or host[begin:stop] != program.text[start:end]:
            return None
    literal = program.literal_at(begin)
    if literal is None or not literal.body_start <= begin <= stop <= literal.body_end:
        return None
    if any(character in text for character in "\\\"'\r") or ("\n" in text and not literal.is_multiline):
        return None
    return begin, stop, _doubled(text, literal)
