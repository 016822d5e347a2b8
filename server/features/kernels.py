"""Commands about the kernels of a document: `kernelcast.listKernels` and `kernelcast.writeAnnotation`."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from model.errors import KernelcastError, NoSuchKernel
from server.features.arguments import texts
from server.features.code_actions import annotation_edit
from server.session import SETTLE_S, KernelcastServer
from server.snapshot import KernelView, Snapshot
from server.text.hint import launch_title
from server.text_edits import workspace_edit


async def list_kernels(ls: KernelcastServer, params: types.ExecuteCommandParams) -> list[dict[str, Any]]:
    """Argument: a document. Its kernels in their order, for menus of the client's own."""
    snapshot = await _open_document(ls, *texts(params, 1))
    return [_listed(view, snapshot) for view in snapshot.kernels]


def _listed(view: KernelView, snapshot: Snapshot) -> dict[str, Any]:
    where = snapshot.range(view.kernel.range)
    return {
        "name": view.key,
        "range": {
            "start": {"line": where.start.line, "character": where.start.character},
            "end": {"line": where.end.line, "character": where.end.character},
        },
        "line": snapshot.range(view.kernel.name_range).start.line,
        "label": view.label,
        "launches": [
            {
                "id": launch.slot.launch,
                "title": launch_title(launch),
                "measurable": snapshot.may_run and launch.forecast.launch is not None,
            }
            for launch in view.launches
        ],
    }


async def write_annotation(ls: KernelcastServer, params: types.ExecuteCommandParams) -> dict[str, Any]:
    """Arguments: document and kernel. Writes the launch that was taken for granted above the kernel."""
    uri, kernel = texts(params, 2)
    snapshot = await _open_document(ls, uri)
    if not ls.supports.apply_edit:
        raise KernelcastError("this editor lets no server edit a file; the code action writes the annotation too")
    view = next((view for view in snapshot.kernels if view.key == kernel), None)
    if view is None:
        raise NoSuchKernel(f"the document has no kernel {kernel!r}" if kernel else "no kernel was named")
    edit = annotation_edit(view, snapshot)
    if edit is None:
        raise KernelcastError(_why_nothing_to_write(view, snapshot))
    try:
        answer = await ls.workspace_apply_edit_async(
            types.ApplyWorkspaceEditParams(
                edit=workspace_edit(snapshot.document, [edit], versioned=ls.supports.versioned_edits),
                label=f"Write launch annotation for {kernel}",
            )
        )
    except JsonRpcException as error:
        raise KernelcastError(f"the editor did not write the annotation: {error}") from None
    return {"applied": answer.applied}


def _why_nothing_to_write(view: KernelView, snapshot: Snapshot) -> str:
    if not snapshot.is_current:
        return "the text has changed meanwhile; try again"
    problem = next((each.forecast.problem for each in view.launches if each.forecast.problem), None)
    if problem is not None:
        return f"there is no launch of `{view.kernel.name}` to write down: {problem.message}"
    return f"`{view.kernel.name}` has a launch annotation already"


async def _open_document(ls: KernelcastServer, uri: str) -> Snapshot:
    snapshot = await ls.settled(uri, SETTLE_S)
    if snapshot is None:
        raise KernelcastError("the document is not open")
    return snapshot
