"""textDocument/publishDiagnostics, where what a document has to show has changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from lsprotocol import types


class Client(Protocol):
    """The part of the server's session that diagnostics need."""

    def text_document_publish_diagnostics(self, params: types.PublishDiagnosticsParams) -> None: ...


class PublishedDiagnostics:
    """Remembers which diagnostics the client has of each document."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._published: dict[str, Sequence[types.Diagnostic]] = {}

    def publish(self, uri: str, document_version: int | None, found: Sequence[types.Diagnostic]) -> None:
        """Send these diagnostics unless the client has the same."""
        if self._published.get(uri, []) == found:
            return
        if found:
            self._published[uri] = found
        else:
            del self._published[uri]
        self._client.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, version=document_version, diagnostics=found)
        )
