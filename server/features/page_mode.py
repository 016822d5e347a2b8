"""Pages that commands make: handed to editors that can show them, else opened in the browser."""

from __future__ import annotations

import contextlib
import importlib
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from model.errors import KernelcastError
from server.background import in_background
from server.session import KernelcastServer

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
