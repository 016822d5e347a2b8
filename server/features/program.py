"""Command `kernelcast.program`: a page about the whole program that was recorded last in a document's project."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from lsprotocol import types

from model.errors import KernelcastError
from server.background import in_background
from server.client.progress import ProgressBar
from server.device_work.orders import ProgramOrder, ProgramPage
from server.device_work.preconditions import device_work, unless_cancelled
from server.features.arguments import error_answer, texts
from server.features.report import CONTENT, must_be_mode, show_page
from server.session import KernelcastServer

_DISCOVERY_S = 10.0  # without this machine's devices the program is predicted for those that are known


async def program(ls: KernelcastServer, params: types.ExecuteCommandParams) -> dict[str, Any]:
    """Arguments: a document of the project, and `content` to get the page or `show` to open it.

    Kernels are predicted as they were recorded and, beside that, as the open documents and files have them now.
    Answers with `{"title", "html"}` or `{"title", "path"}`, or with `{"error": {"code", "message"}}`, which the user
    has been shown.
    """
    uri, mode = texts(params, 2)
    bar = await ProgressBar.begin(ls, "Predicting the whole program", params.work_done_token)
    said = "no page"
    try:
        must_be_mode(mode)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DISCOVERY_S):
                await unless_cancelled(ls.discovered.wait(), bar)
        order = _order(ls, uri)
        loop = asyncio.get_running_loop()

        def tell(fraction: float, text: str) -> None:
            loop.call_soon_threadsafe(bar.report, fraction, text)

        page = await in_background(lambda: device_work().program(order, tell, bar.cancel), "program")
        said = page.title
        return await _answered(ls, uri, mode, page)
    except KernelcastError as error:
        if bar.cancel.is_set():
            said = "cancelled"
        else:
            ls.say(types.MessageType.Error, f"The program was not predicted: {error.message}")
        return error_answer(error)
    finally:
        bar.end(said)


def _order(ls: KernelcastServer, uri: str) -> ProgramOrder:
    document = ls.document(uri)
    if document is None or document.path is None:
        raise KernelcastError("open a file of the project first")
    known = device_work().known(ls.found_devices)
    own = ls.device
    devices = known if own is None else (own, *(each for each in known if each.id != own.id))
    open_texts = {each.path: each.text.value for each in ls.documents if each.path is not None and not each.notebook}
    return ProgramOrder(document.path.parent, open_texts, devices)


async def _answered(ls: KernelcastServer, uri: str, mode: str, page: ProgramPage) -> dict[str, Any]:
    if mode == CONTENT:
        return {"title": page.title, "html": page.html}
    path = await show_page(ls, f"{uri}\nprogram", page.title, page.html)
    return {"title": page.title, "path": str(path)}
