"""Open documents: their text, and the edits that led to it, so that old places can be followed into the new text.

And the files that URIs name.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from lsprotocol import types
from pygls.uris import to_fs_path

from model.text_change import replaced_part
from server.positions import Encoding, IndexedText, place_of, replaced

# What an analysis may lag behind before places in it are no longer followed edit by edit.
_KEPT_EDITS = 1000


@dataclass(frozen=True, slots=True)
class Edit:
    """Text [start, end) of the state before was replaced by `length` characters. `serial` counts from 1."""

    serial: int
    start: int
    end: int
    length: int

    def moved(self, offset: int) -> int:
        """Return an offset after this edit: it stays behind what stood before it."""
        if offset <= self.start:
            return offset
        if offset >= self.end:
            return offset + self.length - (self.end - self.start)
        return self.start + self.length


@dataclass(frozen=True, slots=True)
class Document:
    """One state of an open document. `serial` counts the edits since it was opened, whatever the client's `version`.

    `opening` tells apart what was closed and opened again.
    """

    uri: str
    version: int
    text: IndexedText
    opening: int = 0
    serial: int = 0
    edits: tuple[Edit, ...] = ()
    language: str = ""  # as the editor calls it
    notebook: str = ""  # URI of the notebook that it is a cell of

    @property
    def path(self) -> Path | None:
        """Return the path; None for documents that are no files (untitled ...), and for names that no file can have."""
        return path_of(self.notebook or self.uri)

    def without_edits_until(self, serial: int) -> Document:
        """Drop edits up to `serial`: no place in an older text is followed any more."""
        newer = self.serial - serial
        return self if newer >= len(self.edits) else replace(self, edits=self.edits[len(self.edits) - newer :])

    def moved(self, offset: int, since: int) -> int:
        """Follow an offset into the text of edit `since` to this text."""
        for edit in self.edits[-(self.serial - since) :] if self.serial > since else ():
            offset = edit.moved(offset)
        return max(0, min(offset, len(self.text.value)))


def changed(
    document: Document, version: int, changes: Sequence[types.TextDocumentContentChangeEvent], encoding: Encoding | str
) -> Document:
    """Return the document after all the changes of one didChange, in their order."""
    text, serial, edits = document.text, document.serial, list(document.edits)
    for change in changes:
        serial += 1
        if isinstance(change, types.TextDocumentContentChangePartial):
            first = place_of(text, change.range.start, encoding)
            last = max(first, place_of(text, change.range.end, encoding))
            new = replaced(text, first, last, change.text)
            start, end = first.offset, last.offset
            if len(new.value) - len(text.value) != len(change.text) - (end - start):  # characters cut or joined
                start, end, _ = replaced_part(text.value, new.value)
        else:
            new = IndexedText.of(change.text)
            start, end, _ = replaced_part(text.value, new.value)
        edits.append(Edit(serial, start, end, len(new.value) - len(text.value) + end - start))
        text = new
    return replace(document, version=version, text=text, serial=serial, edits=tuple(edits[-_KEPT_EDITS:]))


def path_of(uri: str) -> Path | None:
    """Return the path of a file's URI; None for other URIs and for names that no file can have."""
    if not uri.startswith("file:"):
        return None
    try:
        found = to_fs_path(uri)
    except ValueError:  # `file://[`
        return None
    if not found or not can_be_name(found):
        return None
    path = Path(found)
    return path if path.is_absolute() else None


def can_be_uri(uri: str) -> bool:
    try:
        urlsplit(uri)
    except ValueError:
        return False
    return True


def can_be_name(path: str) -> bool:
    """Return whether a file can have this name: no NUL, no half a character."""
    try:
        return "\0" not in path and bool(os.fsencode(path))
    except UnicodeEncodeError:
        return False
