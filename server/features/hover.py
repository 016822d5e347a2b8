"""textDocument/hover: the full story of a kernel at its signature; in a launch annotation, what a word means."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from server.features.annotation_words import annotation_hover
from server.positions import offset_of, range_of
from server.snapshot import Snapshot
from server.text.hover import render
from server.text.layout import as_markdown, as_plain_text


def hover(snapshot: Snapshot, position: types.Position, formats: Sequence[types.MarkupKind]) -> types.Hover | None:
    """Return the hover at a position, if it is in a kernel's signature or in a launch annotation.

    `formats` is what the client can show, its favourite first; plain text when it says nothing.
    """
    if (help_ := annotation_hover(snapshot, position, formats)) is not None:
        return help_
    text, encoding = snapshot.document.text, snapshot.encoding
    pointed = offset_of(text, position, encoding)
    for view in snapshot.kernels:
        start, end = snapshot.offsets(view.kernel.signature_range)
        if start <= pointed <= end:
            story = render(view, snapshot)
            markdown = types.MarkupKind.Markdown in formats
            content = types.MarkupContent(
                kind=types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText,
                value=as_markdown(story) if markdown else as_plain_text(story),
            )
            return types.Hover(contents=content, range=range_of(text, start, end, encoding))
    return None
