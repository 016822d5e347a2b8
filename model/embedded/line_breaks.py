"""Add line ends to programs whose literals have none: costs and advice are reported by line."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

from model.embedded.program import EmbeddedProgram, Piece

_ENDS = "{};,)"  # behind these, and behind space, a line may end wherever it stands


def with_line_breaks(program: EmbeddedProgram, host: str) -> EmbeddedProgram:
    """Return the program with a line end where the host goes on in another line, and nothing changes its meaning.

    Then costs and advice are told for the host's lines. `EmbeddedProgram.exact_text` leaves these line ends out.
    """
    if len(program.literals) < 2 and "\\\n" not in host and "\\\r\n" not in host:
        return program
    pieces: list[Piece] = []
    breaks: list[int] = []  # offsets in the text without them
    line, length, end = "", 0, -1
    for piece in program.pieces:
        goes_on = bool(piece.text) and 0 <= end <= piece.start and "\n" in host[end : piece.start]
        if goes_on and piece.text[0] != "\n" and _may_end(line):
            pieces.append(Piece("\n", end, end))
            breaks.append(length)
            line = ""
        pieces.append(piece)
        if piece.text:
            line, length, end = f"{line}{piece.text}".rpartition("\n")[2], length + len(piece.text), piece.end
    if not breaks:
        return program
    filled = tuple(replace(f, offset=f.offset + bisect_right(breaks, f.offset)) for f in program.filled)
    return EmbeddedProgram(tuple(pieces), program.literals, filled)


def _may_end(line: str) -> bool:
    """Return whether a line end changes nothing here: not in a directive, a comment, a string or a name."""
    is_code = not any(sign in line for sign in ("#", "//", "\\")) and line.count('"') % 2 == 0 == line.count("'") % 2
    return is_code and line.strip() != "" and (line[-1].isspace() or line[-1] in _ENDS)
