"""A launch annotation for an embedded kernel: a line of its program, written as its literal has to have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from model.embedded.writing import line_above
from server.positions import position_of

if TYPE_CHECKING:
    from model.forecast import Home
    from server.snapshot import Snapshot


def embedded_edit(snapshot: Snapshot, home: Home, annotation: str) -> types.TextEdit | None:
    """Return the edit that writes `annotation` above the kernel; None where no line can be written."""
    program = snapshot.analysis.programs.get(home.part)
    if program is None or program.text != home.text:
        return None
    text = snapshot.document.text
    begins = home.kernel.range
    offset = program.offset_at(begins.start_line, begins.start_byte)
    insertion = line_above(program, text.value, offset, annotation)
    if insertion is None:
        return None
    at = position_of(text, insertion.offset, snapshot.encoding)
    return types.TextEdit(types.Range(at, at), insertion.text)
