"""The client's capabilities, read once from `initialize`; what it does not mention it cannot do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lsprotocol import types


@dataclass(frozen=True, slots=True)
class Supports:
    configuration: bool = False
    configuration_registration: bool = False
    watched_files: bool = False
    hint_refresh: bool = False
    lens_refresh: bool = False
    symbol_trees: bool = False
    progress: bool = False
    code_action_literals: bool = False
    diagnostics: bool = False
    apply_edit: bool = False
    versioned_edits: bool = False
    creates_files: bool = False  # in edits of the server's
    show_document: bool = False
    status: bool = False
    hover_formats: tuple[types.MarkupKind, ...] = ()


def read_capabilities(client: types.ClientCapabilities) -> Supports:
    workspace = client.workspace or types.WorkspaceClientCapabilities()
    text = client.text_document or types.TextDocumentClientCapabilities()
    window = client.window or types.WindowClientCapabilities()
    settings, watching, hints = (
        workspace.did_change_configuration,
        workspace.did_change_watched_files,
        workspace.inlay_hint,
    )
    return Supports(
        configuration=bool(workspace.configuration),
        configuration_registration=bool(settings and settings.dynamic_registration),
        watched_files=bool(watching and watching.dynamic_registration),
        hint_refresh=bool(hints and hints.refresh_support),
        lens_refresh=bool(workspace.code_lens and workspace.code_lens.refresh_support),
        symbol_trees=bool(text.document_symbol and text.document_symbol.hierarchical_document_symbol_support),
        progress=bool(window.work_done_progress),
        show_document=bool(window.show_document and window.show_document.support),
        code_action_literals=bool(text.code_action and text.code_action.code_action_literal_support),
        diagnostics=text.publish_diagnostics is not None,
        apply_edit=bool(workspace.apply_edit),
        versioned_edits=bool(workspace.workspace_edit and workspace.workspace_edit.document_changes),
        creates_files=_creates_files(workspace.workspace_edit),
        status=_extra(client.experimental, "kernelcast", "status") is True,
        hover_formats=tuple(text.hover.content_format or ()) if text.hover else (),
    )


def _creates_files(edits: types.WorkspaceEditClientCapabilities | None) -> bool:
    operations = edits.resource_operations or () if edits and edits.document_changes else ()
    return types.ResourceOperationKind.Create in operations


def _extra(told: object, *path: str) -> object:
    """Return a nested value of what the protocol leaves open, which may be anything."""
    for name in path:
        told = told.get(name) if isinstance(told, Mapping) else getattr(told, name, None)
    return told
