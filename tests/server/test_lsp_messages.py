"""Each request gets one answer, whatever it is; nothing that is no request gets any; and nothing ends the server."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
import pytest_asyncio

from server.client.streams import is_alive
from server.handlers import create_server

HELLO = {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}}
ASKS = {**HELLO["params"], "capabilities": {"workspace": {"configuration": True}}}  # type: ignore[dict-item]
PARSE, INVALID, UNKNOWN, PARAMS, EARLY, CANCELLED = -32700, -32600, -32601, -32602, -32002, -32800
DEEP = b"[" * 5000 + b"]" * 5000
FOLDERS = {"method": "workspace/didChangeWorkspaceFolders", "params": {"event": {"added": [], "removed": []}}}


class Conversation:
    """With a server of this process: what was sent to the client, and what the log says is wrong."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.server = create_server()
        self.server.protocol.set_writer(self)  # type: ignore[arg-type]

    def write(self, data: bytes) -> None:
        self.sent.append(json.loads(data.partition(b"\r\n\r\n")[2]))

    def close(self) -> None:
        """As writers do."""

    def say(self, message: dict[str, Any] | bytes) -> None:
        body = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.server.protocol.receive(body)

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(30):
            while not condition():
                await asyncio.sleep(0)

    def answers(self) -> list[tuple[Any, int]]:
        """Ids and codes of errors, 0 for a result."""
        told = [m for m in self.sent if "method" not in m]
        return [(m.get("id"), m["error"]["code"] if "error" in m else 0) for m in told]

    def asked(self, method: str) -> list[Any]:
        """Ids of the server's own requests."""
        return [m["id"] for m in self.sent if m.get("method") == method and "id" in m]


@pytest_asyncio.fixture
async def fresh(caplog: pytest.LogCaptureFixture) -> Any:
    conversation = Conversation()
    yield conversation
    conversation.server.close()
    await asyncio.sleep(0)
    assert [record.getMessage() for record in caplog.get_records("call") if record.levelno >= logging.ERROR] == []


@pytest_asyncio.fixture
async def greeted(fresh: Conversation) -> Conversation:
    fresh.say(HELLO)
    await fresh.until(fresh.answers)
    fresh.sent.clear()
    return fresh


def raw(**fields: object) -> bytes:
    return json.dumps(fields).encode()


ODD: dict[str, tuple[bytes, list[tuple[Any, int]]]] = {
    "no JSON": (b"{", [(None, PARSE)]),
    "nothing": (b"", [(None, PARSE)]),
    "no UTF-8": (b'{"jsonrpc": "2.0", "id": 7, "method": "\xff"}', [(None, PARSE)]),
    "a number of 5000 digits": (b'{"jsonrpc": "2.0", "id": %s, "method": "shutdown"}' % (b"9" * 5000), [(None, PARSE)]),
    "a depth that Python cannot walk": (DEEP * 20, [(None, PARSE)]),
    "a depth that converters cannot walk": (
        b'{"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover", "params": %s}' % (b"[" * 300 + b"]" * 300),
        [(7, INVALID)],
    ),
    "a batch": (b"[" + raw(jsonrpc="2.0", id=7, method="shutdown") + b"]", [(None, INVALID)]),
    "a text": (b'"shutdown"', [(None, INVALID)]),
    "another version": (raw(jsonrpc="1.0", id=7, method="shutdown"), [(7, INVALID)]),
    "an id that is null": (raw(jsonrpc="2.0", id=None, method="shutdown"), [(None, INVALID)]),
    "an id that is true": (raw(jsonrpc="2.0", id=True, method="shutdown"), [(None, INVALID)]),
    "an id that is a list": (raw(jsonrpc="2.0", id=[7], method="shutdown"), [(None, INVALID)]),
    "an id that is a fraction": (raw(jsonrpc="2.0", id=1.5, method="shutdown"), [(None, INVALID)]),
    "a method that is a number": (raw(jsonrpc="2.0", id=7, method=3), [(7, INVALID)]),
    "neither method nor result": (raw(jsonrpc="2.0", id=7), [(7, INVALID)]),
    "a method that nobody has": (raw(jsonrpc="2.0", id=7, method="textDocument/dance"), [(7, UNKNOWN)]),
    "a notification with an id": (raw(jsonrpc="2.0", id=7, method="initialized", params={}), [(7, UNKNOWN)]),
    "a request of the server's": (raw(jsonrpc="2.0", id=7, method="workspace/configuration"), [(7, UNKNOWN)]),
    "no parameters": (raw(jsonrpc="2.0", id=7, method="textDocument/hover"), [(7, PARAMS)]),
    "parameters that are a list": (raw(jsonrpc="2.0", id=7, method="textDocument/hover", params=[]), [(7, PARAMS)]),
    "a token that is a list": (
        raw(jsonrpc="2.0", id=7, method="workspace/executeCommand", params={"command": "a", "workDoneToken": []}),
        [(7, PARAMS)],
    ),
    "a command that nobody has": (
        raw(jsonrpc="2.0", id=7, method="workspace/executeCommand", params={"command": "dance"}),
        [(7, PARAMS)],
    ),
    "a message inside a message": (
        raw(
            jsonrpc="2.0",
            id=7,
            method="workspace/executeCommand",
            params={"command": "dance", "arguments": [{"jsonrpc": "2.0", "id": 8, "method": "exit"}]},
        ),
        [(7, PARAMS)],
    ),
    "a request without an id": (raw(jsonrpc="2.0", method="textDocument/hover", params={}), []),
    "a notification that nobody has": (raw(jsonrpc="2.0", method="$/dance"), []),
    "a notification that cannot be read": (raw(jsonrpc="2.0", method="textDocument/didOpen", params=7), []),
    "an edit of what is not open": (
        raw(
            jsonrpc="2.0",
            method="textDocument/didChange",
            params={"textDocument": {"uri": "file:///a.cl", "version": 1}, "contentChanges": [{"text": ""}]},
        ),
        [],
    ),
    "the end of what is not open": (
        raw(jsonrpc="2.0", method="textDocument/didClose", params={"textDocument": {"uri": "file:///a.cl"}}),
        [],
    ),
    "a notebook": (raw(jsonrpc="2.0", method="notebookDocument/didClose", params={}), []),
    "the end of progress that nobody makes": (
        raw(jsonrpc="2.0", method="window/workDoneProgress/cancel", params={"token": "a"}),
        [],
    ),
    "a cancellation of what nobody asked": (raw(jsonrpc="2.0", method="$/cancelRequest", params={"id": 99}), []),
    "a cancellation of a list": (raw(jsonrpc="2.0", method="$/cancelRequest", params={"id": []}), []),
    "an answer that nobody waits for": (raw(jsonrpc="2.0", id=99, result=1), []),
    "an answer that is an error": (raw(jsonrpc="2.0", id="99", error={"code": 1, "message": "no"}), []),
    "an answer without an id": (raw(jsonrpc="2.0", id=None, result=1), []),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ODD)
async def test_a_client_that_sends(name: str, greeted: Conversation) -> None:
    body, wanted = ODD[name]
    greeted.say(body)
    greeted.say({"id": "after", "method": "shutdown"})
    await greeted.until(lambda: ("after", 0) in greeted.answers())
    assert greeted.answers() == [*wanted, ("after", 0)]


@pytest.mark.asyncio
async def test_before_initialize_requests_are_refused_and_notifications_have_no_effect(fresh: Conversation) -> None:
    fresh.say({"method": "initialized", "params": {}})
    fresh.say({"method": "workspace/didChangeConfiguration", "params": {"settings": {"kernelcast": {"device": "x"}}}})
    fresh.say({"id": 9, "method": "shutdown"})
    fresh.say(HELLO)
    fresh.say({**HELLO, "id": 2})
    assert fresh.answers() == [(9, EARLY), (1, 0), (2, INVALID)]
    assert fresh.server.settings.everywhere.device == ""


@pytest.mark.asyncio
async def test_after_shutdown_every_request_is_refused(greeted: Conversation) -> None:
    greeted.say({"id": 2, "method": "shutdown"})
    await greeted.until(greeted.answers)
    for method in ("shutdown", "textDocument/hover", "initialize", "$/dance"):
        greeted.say({"id": method, "method": method, "params": {}})
    assert greeted.answers()[1:] == [
        (each, INVALID) for each in ("shutdown", "textDocument/hover", "initialize", "$/dance")
    ]


OPENED = {
    "method": "textDocument/didOpen",
    "params": {
        "textDocument": {"uri": "file:///a.cl", "languageId": "opencl", "version": 1, "text": "__kernel void k() {}\n"}
    },
}


def hints(msg_id: int | str) -> dict[str, Any]:
    """Which take a while once the document is open: this client cannot refresh, and nobody looks for devices."""
    where = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
    return {
        "id": msg_id,
        "method": "textDocument/inlayHint",
        "params": {"textDocument": {"uri": "file:///a.cl"}, "range": where},
    }


@pytest.mark.asyncio
async def test_a_request_that_is_cancelled_is_answered_once(greeted: Conversation) -> None:
    greeted.say(OPENED)
    greeted.say(hints(2))
    for _ in range(3):
        greeted.say({"method": "$/cancelRequest", "params": {"id": 2}})
    await greeted.until(greeted.answers)
    greeted.say({"method": "$/cancelRequest", "params": {"id": 2}})
    greeted.say({"id": 3, "method": "shutdown"})
    await greeted.until(lambda: len(greeted.answers()) > 1)
    assert greeted.answers() == [(2, CANCELLED), (3, 0)]


@pytest.mark.asyncio
async def test_two_requests_of_one_id_are_two_answers_and_a_text_is_no_number(greeted: Conversation) -> None:
    greeted.say(OPENED)
    for msg_id in (2, 2, "2"):
        greeted.say(hints(msg_id))
    greeted.say({"method": "$/cancelRequest", "params": {"id": "2"}})
    await greeted.until(lambda: len(greeted.answers()) > 1)
    assert greeted.answers() == [(2, INVALID), ("2", CANCELLED)]
    greeted.say({"method": "$/cancelRequest", "params": {"id": 2}})
    await greeted.until(lambda: len(greeted.answers()) > 2)
    assert greeted.answers()[2] == (2, CANCELLED)


@pytest.mark.asyncio
async def test_a_client_may_use_the_ids_of_the_servers_requests(fresh: Conversation) -> None:
    fresh.say({**HELLO, "params": ASKS})
    await fresh.until(fresh.answers)
    fresh.say(FOLDERS)
    await fresh.until(lambda: fresh.asked("workspace/configuration"))
    (asked,) = fresh.asked("workspace/configuration")
    fresh.say(OPENED)
    fresh.say(hints(asked))
    fresh.say({"method": "$/cancelRequest", "params": {"id": asked}})
    await fresh.until(lambda: len(fresh.answers()) > 1)
    fresh.say({"id": asked, "result": [{"device": "generic-gpu"}]})
    await fresh.until(lambda: fresh.server.settings.everywhere.device == "generic-gpu")
    assert fresh.answers()[1:] == [(asked, CANCELLED)]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "told",
    [
        {"result": 7},
        {"result": [[[]]]},
        {"result": None},
        {"error": {"code": "x"}},
        {"error": None},
        {"error": {"code": -1, "message": "no"}},
    ],
)
async def test_settings_that_cannot_be_read_leave_the_server_well(told: dict[str, Any], fresh: Conversation) -> None:
    fresh.say({**HELLO, "params": ASKS})
    fresh.say(FOLDERS)
    await fresh.until(lambda: fresh.asked("workspace/configuration"))
    (asked,) = fresh.asked("workspace/configuration")
    fresh.say({"id": asked, **told})
    fresh.say({"id": asked, **told})
    fresh.say({"id": 2, "method": "shutdown"})
    await fresh.until(lambda: len(fresh.answers()) > 1)
    assert fresh.answers() == [(1, 0), (2, 0)]


@pytest.mark.asyncio
async def test_a_client_that_leaves_before_it_has_told_its_settings_is_no_fault(fresh: Conversation) -> None:
    fresh.say({**HELLO, "params": ASKS})
    fresh.say(FOLDERS)
    await fresh.until(lambda: fresh.asked("workspace/configuration"))
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()  # as asyncio does in the end
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "folder",
    [
        *({"rootPath": path} for path in ("/a\ud83d", "/a\0", "", "a")),
        *({"rootUri": uri} for uri in ("file://[", "file:///a%00", "", "a", "\ud83d")),
        {"workspaceFolders": [{"uri": "file://[", "name": ""}, {"uri": "file:///tmp", "name": "\0"}]},
    ],
)
async def test_an_editor_whose_folder_has_a_name_that_cannot_be_is_served(
    folder: dict[str, Any], fresh: Conversation
) -> None:
    fresh.say({**HELLO, "params": {**HELLO["params"], **folder}})  # type: ignore[dict-item]
    await fresh.until(fresh.answers)
    assert fresh.answers() == [(1, 0)]


@pytest.mark.asyncio
async def test_an_editor_whose_process_has_no_possible_number_is_served(fresh: Conversation) -> None:
    for number in (2**40, -1, 0):
        assert not is_alive(number)
    fresh.say({**HELLO, "params": {**HELLO["params"], "processId": 2**40}})  # type: ignore[dict-item]
    for _ in range(5):
        await asyncio.sleep(0)
    assert fresh.answers() == [(1, 0)]
    assert not fresh.server.leaving.is_set()
