"""textDocument/didOpen, didChange, didClose, didSave: keep our copy of each document and have it analysed."""

from __future__ import annotations

from itertools import count

from lsprotocol import types

from server.documents import Document, changed
from server.features.measure_on_save import measure_saved, note_opened
from server.positions import IndexedText
from server.session import KernelcastServer

# These are plain functions, not coroutines: each is finished before the next message is looked at, so that changes
# are applied in their order and a request always sees those that were sent before it.

_openings = count(1)


def next_opening() -> int:
    """Return a number that no document had before."""
    return next(_openings)


def did_open(ls: KernelcastServer, params: types.DidOpenTextDocumentParams) -> None:
    item = params.text_document
    text = IndexedText.of(item.text)
    ls.put(Document(item.uri, item.version, text, opening=next_opening(), language=item.language_id))
    ls.spawn(note_opened(ls, item.uri))


def did_change(ls: KernelcastServer, params: types.DidChangeTextDocumentParams) -> None:
    document = ls.document(params.text_document.uri)
    if document is not None:
        with ls.timings.during("take in an edit"):
            new = changed(document, params.text_document.version, params.content_changes, ls.encoding)
        ls.put(new)


def did_close(ls: KernelcastServer, params: types.DidCloseTextDocumentParams) -> None:
    ls.drop(params.text_document.uri)


def did_save(ls: KernelcastServer, params: types.DidSaveTextDocumentParams) -> None:
    """Analyse all documents: they may include the saved file or be configured by it."""
    ls.analyse_all()
    ls.spawn(measure_saved(ls, params.text_document.uri))


def did_change_watched_files(ls: KernelcastServer, _params: types.DidChangeWatchedFilesParams) -> None:
    ls.analyse_all()
