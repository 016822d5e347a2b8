"""textDocument/documentSymbol: the kernels of an OpenCL file with their times, for outlines and breadcrumbs."""

from __future__ import annotations

from lsprotocol import types

from server.snapshot import Snapshot


def document_symbols(
    snapshot: Snapshot, *, hierarchical: bool
) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
    """Return a symbol for each kernel. Host files have none of ours: their own servers list what is in them."""
    if snapshot.analysis.programs:
        return []
    if not hierarchical:
        return [
            types.SymbolInformation(
                location=types.Location(snapshot.document.uri, snapshot.range(view.kernel.range)),
                name=view.kernel.name,
                kind=types.SymbolKind.Function,
            )
            for view in snapshot.kernels
        ]
    return [
        types.DocumentSymbol(
            name=view.kernel.name,
            detail=view.label,
            kind=types.SymbolKind.Function,
            range=snapshot.range(view.kernel.range),
            selection_range=snapshot.range(view.kernel.name_range),
        )
        for view in snapshot.kernels
    ]
