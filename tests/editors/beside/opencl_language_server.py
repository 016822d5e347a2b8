"""A stand-in for opencl-language-server, which no package registry carries: what it offers, in the protocol's words.

Diagnostics after each change, completion and definition; no hover, no hints, no actions. It counts in UTF-16 only, as
a server does that negotiates nothing.
"""

from __future__ import annotations

from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("opencl-language-server", "0", text_document_sync_kind=types.TextDocumentSyncKind.Full)


def _complain(ls: LanguageServer, uri: str) -> None:
    """As the compiler would about a word that it does not know."""
    found = [
        types.Diagnostic(
            range=types.Range(types.Position(number, 0), types.Position(number, len(line))),
            message="use of undeclared identifier",
            severity=types.DiagnosticSeverity.Error,
            source="opencl-ls",
        )
        for number, line in enumerate(ls.workspace.get_text_document(uri).lines)
        if "undeclared" in line
    ]
    ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
def opened(ls: LanguageServer, params: types.DidOpenTextDocumentParams) -> None:
    _complain(ls, params.text_document.uri)


@server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
def changed(ls: LanguageServer, params: types.DidChangeTextDocumentParams) -> None:
    _complain(ls, params.text_document.uri)


@server.feature(types.TEXT_DOCUMENT_COMPLETION)
def complete(_: LanguageServer, __: types.CompletionParams) -> list[types.CompletionItem]:
    return [types.CompletionItem(label="get_global_id")]


@server.feature(types.TEXT_DOCUMENT_DEFINITION)
def define(_: LanguageServer, params: types.DefinitionParams) -> types.Location:
    return types.Location(params.text_document.uri, types.Range(types.Position(0, 0), types.Position(0, 0)))


@server.feature(types.INITIALIZED)
def ready(_: LanguageServer, __: types.InitializedParams) -> None:
    """Nothing to do, but clients warn where nobody listens."""


if __name__ == "__main__":
    server.start_io()
