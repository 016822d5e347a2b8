"""notebookDocument/didOpen, didChange, didSave, didClose: each Python cell is a document beside the notebook's file."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from server.documents import Document, changed
from server.features.synchronisation import next_opening
from server.positions import IndexedText
from server.session import KernelcastServer

LANGUAGE = "python"
SYNC = types.NotebookDocumentSyncOptions(
    notebook_selector=[types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage(LANGUAGE)])], save=True
)


def did_open(ls: KernelcastServer, params: types.DidOpenNotebookDocumentParams) -> None:
    _open(ls, params.notebook_document.uri, params.cell_text_documents)


def did_change(ls: KernelcastServer, params: types.DidChangeNotebookDocumentParams) -> None:
    cells = params.change.cells
    if cells is None:
        return
    if cells.structure is not None:
        _close(ls, cells.structure.did_close or ())
        _open(ls, params.notebook_document.uri, cells.structure.did_open or ())
    for each in cells.text_content or ():
        document = ls.document(each.document.uri)
        if document is not None:
            ls.put(changed(document, each.document.version, each.changes, ls.encoding))


def did_save(ls: KernelcastServer, _params: types.DidSaveNotebookDocumentParams) -> None:
    """Look at every document again, as when a file is saved."""
    ls.analyse_all()


def did_close(ls: KernelcastServer, params: types.DidCloseNotebookDocumentParams) -> None:
    _close(ls, params.cell_text_documents)


def _open(ls: KernelcastServer, notebook: str, cells: Iterable[types.TextDocumentItem]) -> None:
    for item in cells:
        if item.language_id == LANGUAGE:
            text = IndexedText.of(item.text)
            ls.put(Document(item.uri, item.version, text, next_opening(), language=LANGUAGE, notebook=notebook))


def _close(ls: KernelcastServer, cells: Iterable[types.TextDocumentIdentifier]) -> None:
    for cell in cells:
        if ls.document(cell.uri) is not None:
            ls.drop(cell.uri)
