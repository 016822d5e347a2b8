"""From one text to another as an editor's edits: what both have in common stays untouched."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from lsprotocol import types

from model.text_change import replaced_part
from server.documents import Document
from server.positions import Encoding, IndexedText, range_of


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
