"""The answer to `initialize` comes before anything is loaded, and is the one that the loaded server would give."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from typing import Any

import pytest
from lsprotocol import types
from pygls.protocol import default_converter

from model.version import VERSION
from server.early_initialize import EarlyInitialize, capabilities, early_initialize
from server.handlers import create_server

CLIENTS: list[dict[str, Any]] = [
    {},
    {"general": {}},
    {"general": {"positionEncodings": ["utf-8", "utf-16"]}},
    {"general": {"positionEncodings": ["utf-7", "utf-32"]}},
    {"general": {"positionEncodings": []}},
    {"workspace": {"workspaceFolders": True, "configuration": True, "inlayHint": {"refreshSupport": True}}},
    {"textDocument": {"synchronization": {"willSave": True, "didSave": True}, "rename": {"prepareSupport": True}}},
    {"notebookDocument": {"synchronization": {}}},
]
PROBE = """
import sys
from server.early_initialize import early_initialize
from server.client.streams import claim_streams
early_initialize(*claim_streams())
print([name for name in ("lsprotocol", "pygls", "attrs", "tree_sitter", "asyncio") if name in sys.modules])
"""


def message(**fields: object) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **fields}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def greeted(sent: bytes) -> tuple[EarlyInitialize, bytes]:
    """What comes of these bytes, and what was said to the client."""
    to_server, to_client = os.pipe(), os.pipe()
    os.write(to_server[1], sent)
    os.close(to_server[1])
    with os.fdopen(to_server[0], "rb") as stdin, os.fdopen(to_client[1], "wb") as stdout:
        greeting = early_initialize(stdin, stdout)
    with os.fdopen(to_client[0], "rb") as said:
        return greeting, said.read()


@pytest.mark.parametrize("client", CLIENTS)
def test_the_greeting_says_what_the_loaded_server_would_say(client: dict[str, Any]) -> None:
    server, converter = create_server(), default_converter()
    params = converter.structure({"capabilities": client, "processId": None}, types.InitializeParams)
    steps = server.protocol.lsp_initialize(params)
    try:
        while True:
            next(steps)
    except StopIteration as ended:
        told = converter.unstructure(ended.value, types.InitializeResult)
    assert not told["capabilities"]["textDocumentSync"].pop("willSave", False)  # as much as saying nothing
    assert capabilities({"capabilities": client}) == told["capabilities"]
    assert told["serverInfo"] == {"name": "kernelcast", "version": VERSION}


def test_the_version_is_the_installed_package_s() -> None:
    assert version("kernelcast") == VERSION


def test_what_the_editor_sends_behind_the_request_is_not_lost() -> None:
    first = message(id="a", method="initialize", params={"capabilities": {}})
    greeting, said = greeted(first + b"Content-Length: 4")
    assert greeting == EarlyInitialize(first + b"Content-Length: 4", "a")
    assert json.loads(said.partition(b"\r\n\r\n")[2])["id"] == "a"


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"Content-Length: 9\r\n\r\n{",
        b"no protocol\r\n\r\nat all",
        b"x" * 9000,
        message(id=1, method="shutdown"),
        message(method="initialize", params={"capabilities": {}}),
        message(id=1, method="initialize", params={}),
        message(id=1, method="initialize", params=None),
        message(id=[1], method="initialize", params={"capabilities": {}}),
        message(id=True, method="initialize", params={"capabilities": {}}),
        message(id=1, method="initialize", params={"capabilities": [[]]})[:-9] + b"[" * 9000,
        b"Content-Length: 200000\r\n\r\n" + b"[" * 60_000,
        b"Content-Length: 999999999\r\n\r\n{",
        b"Content-Length: 2\r\n\r\n[]",
        b"Content-Length: 3\r\n\r\nabc",
    ],
)
def test_anything_but_a_sound_request_is_left_to_the_loaded_server(sent: bytes) -> None:
    assert greeted(sent) == (EarlyInitialize(sent), b"")


def test_nothing_heavy_is_loaded_before_the_editor_has_its_answer() -> None:
    sent = message(id=1, method="initialize", params={"capabilities": {}})
    done = subprocess.run([sys.executable, "-c", PROBE], input=sent, capture_output=True, timeout=60, check=True)
    assert b'"positionEncoding": "utf-16"' in done.stdout
    assert done.stderr.strip() == b"[]"


@pytest.mark.e2e
def test_a_client_that_cannot_be_understood_is_told_so_and_answered_once(kernelcast: str) -> None:
    """The greeting looks at little of what a client says; the loaded server reads it all."""
    sent = message(id=1, method="initialize", params={"capabilities": {"general": {"markdown": 7}}, "trace": {"a": 1}})
    sent += message(id=2, method="shutdown") + message(method="exit")
    done = subprocess.run([kernelcast, "serve"], input=sent, capture_output=True, timeout=60, check=False)
    assert done.stdout.count(b'"id": 1') == 1
    assert b"window/showMessage" in done.stdout
