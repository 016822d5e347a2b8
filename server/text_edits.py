"""Edits as an editor takes them: from one text to another, and a launch annotation in a kernel's host file."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from model.embedded.writing import line_above
from model.text_change import replaced_part
from server.documents import Document
from server.positions import Encoding, IndexedText, position_of, range_of

if TYPE_CHECKING:
    from model.forecast import Home
    from server.snapshot import Snapshot


def text_edits(text: IndexedText, after: str, encoding: Encoding | str) -> list[types.TextEdit]:
    """Return the edits that make `after` of `text`, line by line, each as small as its line allows."""
    begin, end, new_end = replaced_part(text.value, after)
    first = text.line_starts[text.line_at(begin)]
    behind = text.value.find("\n", end) + 1 or len(text.value)
    old = text.value[first:behind].splitlines(keepends=True)
    new = after[first : new_end + behind - end].splitlines(keepends=True)
    starts = [first]
    for line in old:
        starts.append(starts[-1] + len(line))
    edits = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, top, bottom, new_top, new_bottom in matcher.get_opcodes():
        if kind == "equal":
            continue
        part = "".join(new[new_top:new_bottom])
        begin, end, new_end = replaced_part("".join(old[top:bottom]), part)
        where = range_of(text, starts[top] + begin, starts[top] + end, encoding)
        edits.append(types.TextEdit(where, part[begin:new_end]))
    return edits


def workspace_edit(document: Document, edits: Sequence[types.TextEdit], *, versioned: bool) -> types.WorkspaceEdit:
    """Tie edits to the version where the client can, so that it refuses them if the user types meanwhile."""
    if not versioned:
        return types.WorkspaceEdit(changes={document.uri: list(edits)})
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(text_document=identifier, edits=list(edits))])


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
