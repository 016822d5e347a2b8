"""Command `kernelcast.report`: one self-contained page about a kernel, or about all kernels of a document.

Pages go to editors that can show them, and else open in the browser.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from model.errors import KernelcastError, NoSuchKernel
from server.background import in_background
from server.features.arguments import error_answer, texts
from server.session import SETTLE_S, KernelcastServer
from server.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from model.device import Device
    from model.learned.lessons import Lessons
    from model.learned.question import Answer, Question
    from server.predictor.client import ModelClient

CONTENT, SHOW = "content", "show"


def must_be_mode(mode: str) -> None:
    """Raise KernelcastError for anything but `content`, `show`, and nothing, which shows as well."""
    if mode not in ("", CONTENT, SHOW):
        raise KernelcastError(f"a report is for `{CONTENT}` or `{SHOW}`, not for `{mode}`")


async def show_page(ls: KernelcastServer, about: str, title: str, text: str) -> Path:
    """Write a page to the cache, show it in the browser if the client can, else say where it is; return its path."""
    path = await in_background(lambda: _kept(about, title, text), "report")
    if ls.supports.show_document:
        request = types.ShowDocumentParams(uri=path.as_uri(), external=True)
        with contextlib.suppress(JsonRpcException):
            if (await ls.window_show_document_async(request)).success:
                return path
    ls.say(types.MessageType.Info, f"The report is in {path}")
    return path


def _kept(about: str, title: str, text: str) -> Path:
    pages = importlib.import_module("server.report.pages")
    path: Path = pages.cached_page(about, title)
    pages.write_page(path, text)
    pages.forget_old_pages(path.parent)
    return path


_ANSWER_S = 10.0  # for the learned model; a report by the analytical model is better than none
_DISCOVERY_S = 10.0  # a report without this machine's devices is better than none


async def report(ls: KernelcastServer, params: types.ExecuteCommandParams) -> dict[str, Any]:
    """Arguments: document, kernel (all of them if empty), and `content` to get the page or `show` to open it.

    Answers with `{"title", "html"}` or `{"title", "path"}`, or with `{"error": {"code", "message"}}`, which the user
    has been shown. Everything slow happens in a thread of its own: hints are answered meanwhile.
    """
    uri, kernel, mode = texts(params, 3)
    try:
        must_be_mode(mode)
        snapshot = await _settled(ls, uri)
        _must_hold(snapshot, kernel)
        found = ls.found_devices
        learned = ls.learned
        title, text = await in_background(lambda: _made(snapshot, kernel, found, learned), "report")
        if mode == CONTENT:
            return {"title": title, "html": text}
        path = await show_page(ls, f"{uri}\n{kernel}", title, text)
    except KernelcastError as error:
        ls.say(types.MessageType.Error, f"There is no report: {error.message}")
        return error_answer(error)
    return {"title": title, "path": str(path)}


async def _settled(ls: KernelcastServer, uri: str) -> Snapshot:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DISCOVERY_S):
            await ls.discovered.wait()
    await ls.settled(uri, SETTLE_S)
    snapshot = await ls.settled(uri, _ANSWER_S, answered=True)
    if snapshot is None:
        raise KernelcastError("the document is not open")
    return snapshot


def _must_hold(snapshot: Snapshot, kernel: str) -> None:
    names = dict.fromkeys(view.key for view in snapshot.kernels)
    if not names:
        raise NoSuchKernel("the document holds no kernel")
    if kernel and kernel not in names:
        raise NoSuchKernel(f"the document has no kernel `{kernel}`; it holds {', '.join(names)}")


def _made(snapshot: Snapshot, kernel: str, found: tuple[Device, ...], learned: ModelClient) -> tuple[str, str]:
    """Return title and page. Its modules load at first use: `initialize` should not wait for charts."""

    def now(questions: Sequence[Question], lessons: Mapping[str, Lessons]) -> Sequence[Answer | None]:
        return learned.now(questions, lessons, _ANSWER_S)

    making = importlib.import_module("server.report.from_snapshot")
    title, text = making.page_about(snapshot, kernel, found, now)
    return str(title), str(text)
