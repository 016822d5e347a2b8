"""The answer to `initialize`, before anything is loaded: what this server can do is known beforehand.

Loading the protocol's types, the features and the engine takes most of a start, and the editor waits for this answer
before it says what is open. pygls gets the request all the same, once it is there; its own answer, an equal one, is
not sent (see `KernelcastProtocol`).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from model.version import VERSION
from server import commands
from server.client.messages import Request, read_message
from server.client.streams import is_alive

_LENGTH = re.compile(rb"content-length:[ \t]*(\d{1,9})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_END_OF_HEADER = b"\r\n\r\n"
_LONGEST_HEADER = 4096
_LONGEST_BODY = 1 << 20  # ten times what editors say of themselves; a length that is garbage is not waited for
_ENCODINGS = ("utf-8", "utf-16", "utf-32")
_COMMANDS = (  # in the order in which `server.handlers` registers them
    commands.LIST_KERNELS, commands.WRITE_ANNOTATION, commands.MEASURE, commands.MEASURE_ALL, commands.MEASURE_SIZES,
    commands.APPLY_AND_MEASURE, commands.LIST_FIXES, commands.TUNE, commands.COMPARE_DEVICES, commands.LIST_DEVICES,
    commands.CHOOSE_DEVICE, commands.CALIBRATE, commands.LEARN, commands.REPORT, commands.PROGRAM,
    commands.DEBUG_INFORMATION,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class EarlyInitialize:
    """`said` are all bytes that the editor has sent so far; `answered` is the id of the request that has its answer.

    `editor` is the process that sent it, if it was there: it may be gone when the server is loaded.
    """

    said: bytes = b""
    answered: int | str | None = None
    editor: int | None = None


def early_initialize(stdin: BinaryIO, stdout: BinaryIO) -> EarlyInitialize:
    """Wait for the first message, and answer it if it is `initialize`; anything else is left to who comes after."""
    said = b""
    while not _is_whole(said):
        more = os.read(stdin.fileno(), 1 << 16)
        if not more:
            return EarlyInitialize(said)
        said += more
    request = _request(said)
    if request is None:
        return EarlyInitialize(said)
    params = request.raw["params"]
    sender = params.get("processId")
    editor = sender if isinstance(sender, int) and is_alive(sender) else None
    result = {"capabilities": capabilities(params), "serverInfo": {"name": "kernelcast", "version": VERSION}}
    body = json.dumps({"id": request.id, "jsonrpc": "2.0", "result": result}).encode()
    stdout.write(b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n" % len(body))
    stdout.write(body)
    stdout.flush()
    return EarlyInitialize(said, request.id, editor)


def capabilities(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what pygls would answer; a test holds them against each other."""
    has_notebooks = params["capabilities"].get("notebookDocument") is not None
    cells = {"notebookSelector": [{"cells": [{"language": "python"}]}], "save": True}
    return {
        "positionEncoding": _encoding(params["capabilities"]),
        "textDocumentSync": {"openClose": True, "change": 2, "save": True},
        **({"notebookDocumentSync": cells} if has_notebooks else {}),
        "completionProvider": {"triggerCharacters": [":", "=", "."]},
        "hoverProvider": True,
        "documentSymbolProvider": True,
        "codeActionProvider": {"codeActionKinds": ["kernelcast", "refactor.rewrite", "quickfix"]},
        "codeLensProvider": {"resolveProvider": False},
        "executeCommandProvider": {"commands": list(_COMMANDS)},
        "inlayHintProvider": {"resolveProvider": False},
        "workspace": {
            "workspaceFolders": {"supported": True, "changeNotifications": True},
            "fileOperations": {},
        },
    }


def _is_whole(said: bytes) -> bool:
    """Return whether the first message is there, or will not be a message."""
    header, end, body = said.partition(_END_OF_HEADER)
    if not end:
        return len(said) > _LONGEST_HEADER
    length = _LENGTH.search(header)
    return length is None or len(body) >= int(length[1]) or int(length[1]) > _LONGEST_BODY


def _request(said: bytes) -> Request | None:
    """Return the first message, if it is `initialize` as the protocol wants it.

    Pygls says what is wrong with others.
    """
    header, end, body = said.partition(_END_OF_HEADER)
    length = _LENGTH.search(header)
    if not end or length is None:
        return None
    message = read_message(body[: int(length[1])])
    if not isinstance(message, Request) or message.method != "initialize":
        return None
    params = message.raw.get("params")
    return message if isinstance(params, dict) and isinstance(params.get("capabilities"), dict) else None


def _encoding(client: dict[str, Any]) -> str:
    """Return the first of the client's that we know."""
    general = client.get("general")
    wanted = general.get("positionEncodings") if isinstance(general, dict) else None
    if not isinstance(wanted, list):
        return "utf-16"
    return next((each for each in wanted if each in _ENCODINGS), "utf-16")
