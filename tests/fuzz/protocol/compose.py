"""Sessions of messages by chance: every method, valid and spoilt, in any order, with cancellations and nonsense."""

from __future__ import annotations

import json
import random
from typing import Any

from lsprotocol import types

from server import commands
from tests.fuzz.protocol.meta import ANSWERED, METHODS, Values
from tests.fuzz.protocol.script import ROOT, SERVERS_ID, SETTLE, Script, Step, plain, send, write
from tests.fuzz.protocol.spoil import BROKEN_HEADERS, as_bytes, framed, spoilt, torn
from tests.fuzz.protocol.texts import Texts

FILES = ("k.cl", "a name.cl", "ünï😀.cl", "sub/deep.cl", "loop/k.cl", "missing.cl", "rounds.h", "kernelcast.toml")
_STRANGERS = (
    "untitled:Untitled-1", "git:/k.cl?x", "file://[", "file:///a%00b.cl", "file:///" + "n" * 5000, "", "file:k.cl",
    "file:///\ud800.cl", "http://x/y.cl", "file://host/share/k.cl", "file:///", "file:///dev/full", "file:///proc/self/mem",
)  # fmt: skip
COMMANDS = tuple(value for name, value in vars(commands).items() if name.isupper())
# What may take longer than an answer from what is known: it measures, waits for the user, or writes a page.
SLOW = (commands.MEASURE, commands.MEASURE_ALL, commands.MEASURE_SIZES, commands.TUNE, commands.CALIBRATE,
        commands.LEARN, commands.REPORT, commands.PROGRAM, commands.CHOOSE_DEVICE,
        commands.LIST_DEVICES, commands.DEBUG_INFORMATION)  # fmt: skip
_OURS = (
    types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CHANGE, types.TEXT_DOCUMENT_DID_CHANGE, types.TEXT_DOCUMENT_DID_CLOSE,
    types.TEXT_DOCUMENT_DID_SAVE, types.TEXT_DOCUMENT_INLAY_HINT, types.TEXT_DOCUMENT_INLAY_HINT,
    types.TEXT_DOCUMENT_HOVER, types.TEXT_DOCUMENT_HOVER, types.TEXT_DOCUMENT_CODE_ACTION,
    types.WORKSPACE_EXECUTE_COMMAND, types.WORKSPACE_EXECUTE_COMMAND, types.WORKSPACE_DID_CHANGE_CONFIGURATION,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
    types.WINDOW_WORK_DONE_PROGRESS_CANCEL, types.SET_TRACE,
)  # fmt: skip
_AT_THE_END = (types.EXIT, types.SHUTDOWN)
_BURST = 20


def uri_of(name: str) -> str:
    from pathlib import Path

    return Path(f"{ROOT}/{name}").as_uri().replace("%40", "@")


class Composer:
    """One session's messages. The client's ids count from 1; a few are texts, a few are used twice."""

    def __init__(self, chance: random.Random, texts: Texts) -> None:
        self._chance = chance
        self._texts = texts
        self._uris = [
            *(uri_of(name) for name in FILES),
            *(uri_of(name) for name in FILES[:4]),
            chance.choice(_STRANGERS),
        ]
        self._values = Values(chance, self._uris, [texts.some(chance) for _ in range(6)])
        self._ids = 0

    def session(self, name: str, length: int) -> Script:
        chance = self._chance
        steps: list[Step] = []
        if chance.random() < 0.3:
            steps += [self.message() for _ in range(chance.randrange(1, 12))]
        if chance.random() < 0.2:
            steps.append(self._valid(types.INITIALIZE, wrong=True))
        steps += [self._initialize(), SETTLE, plain({"method": "initialized", "params": {}})]
        if chance.random() < 0.7:  # else all that follows meets a server that still looks for devices
            steps += [self._command(commands.LIST_DEVICES), SETTLE]
        while len(steps) < length:
            steps += [self.message() for _ in range(chance.randrange(1, _BURST))]
            if chance.random() < 0.2:
                steps.append(self._on_disk())
            steps.append(SETTLE)
        steps += self._end()
        return Script(name, tuple(steps), messages=sum(s.kind == "send" for s in steps), manners=name)

    def message(self) -> Step:
        """Any message but those that end the conversation."""
        chance, pick = self._chance, self._chance.random()
        if pick < 0.40:
            return self._valid(chance.choice(_OURS))
        if pick < 0.60:
            return self._valid(chance.choice([m for m in METHODS if m not in _AT_THE_END]))
        if pick < 0.70:
            return self._valid(chance.choice([m for m in METHODS if m not in _AT_THE_END]), wrong=True)
        if pick < 0.85:
            return self._valid(chance.choice(_OURS), wrong=True)
        if pick < 0.92:
            return plain({"method": "$/cancelRequest", "params": {"id": self._some_id()}})
        if pick < 0.96:
            return self._answer()
        return send(framed(chance, self._nonsense()))

    def _initialize(self) -> Step:
        chance = self._chance
        made = self._values.message(types.INITIALIZE)["params"]
        params: dict[str, Any] = {"processId": None, "rootUri": None, "capabilities": {}}
        pick = chance.random()
        if pick < 0.5:
            params["capabilities"] = made["capabilities"]
        if 0.3 < pick < 0.8:
            params["rootUri"] = chance.choice((f"file://{ROOT}", *self._uris))
            params["initializationOptions"] = chance.choice((None, {"trusted": False}, self._values.anything()))
        return plain({"id": self._next_id(), "method": "initialize", "params": params})

    def _valid(self, method: str, *, wrong: bool = False) -> Step:
        chance = self._chance
        message = self._values.message(method)
        if method in ANSWERED:
            message["id"] = self._next_id()
        params = message.get("params")
        if method == types.WORKSPACE_EXECUTE_COMMAND and isinstance(params, dict):
            params["command"] = chance.choice((*COMMANDS, "kernelcast.dance"))
            params["arguments"] = [chance.choice((*self._uris, "k", "", "content", "generic-cpu")) for _ in range(3)]
        if method == types.INITIALIZE and isinstance(params, dict):
            params["processId"] = None  # nobody whose end would be ours
        if wrong:
            message = spoilt(chance, message)
        if method == types.INITIALIZE and isinstance(message.get("params"), dict):
            message["params"]["processId"] = chance.choice((None, "x", -1.5, 2**40))
        body = as_bytes(chance, message)
        if _ends(body):
            return self._valid(method, wrong=wrong)
        return send(framed(chance, body), is_slow=_is_slow(message))

    def _command(self, command: str) -> Step:
        params = {"command": command, "arguments": []}
        return plain({"id": self._next_id(), "method": "workspace/executeCommand", "params": params}, is_slow=True)

    def _answer(self) -> Step:
        """Nobody has asked for it, or not for this."""
        chance = self._chance
        message: dict[str, Any] = {
            "jsonrpc": "2.0",
            "id": chance.choice((SERVERS_ID, SERVERS_ID, self._some_id(), None)),
        }
        told = chance.choice(("result", "result", "error"))
        message[told] = chance.choice((self._values.anything(), {"code": -1, "message": "no"}, {"code": "x"}))
        return send(framed(chance, as_bytes(chance, spoilt(chance, message) if chance.random() < 0.3 else message)))

    def _nonsense(self) -> bytes:
        chance = self._chance
        while True:
            body = as_bytes(chance, self._values.message(chance.choice(_OURS)))
            if chance.random() < 0.3:
                body = as_bytes(chance, self._values.anything())
            body = torn(chance, body)
            if not _ends(body):
                return body

    def _on_disk(self) -> Step:
        chance = self._chance
        name = chance.choice(FILES)
        content = chance.choice(
            (None, b"#define ROUNDS 7\n", b"\xff\xfe\x00", b'#include "rounds.h"\n', b"[[launch]]\nglobal=1\n")
        )
        return write(name, content)

    def _next_id(self) -> int | str:
        self._ids += 1
        pick = self._chance.random()
        if pick < 0.02:
            return self._some_id()
        return f"i{self._ids}" if pick < 0.1 else self._ids

    def _some_id(self) -> Any:
        """Of a request before, under way, to come, never; or of the server's."""
        near = max(0, self._ids + self._chance.randrange(-6, 3))
        return self._chance.choice((near, near, near, near, f"i{near}", -1, 10**9, "", SERVERS_ID))

    def _end(self) -> list[Step]:
        chance = self._chance
        if chance.random() < 0.2:
            return [SETTLE, Step("broken", send(chance.choice(BROKEN_HEADERS)).data)]
        tail = [SETTLE, plain({"id": "the end", "method": "shutdown"})]
        tail += [self.message() for _ in range(chance.randrange(6))]
        return [*tail, SETTLE, plain({"method": "exit"})]


def _ends(body: bytes) -> bool:
    """Whether it would end the session before its time."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and message.get("method") in _AT_THE_END


def _is_slow(message: dict[str, Any]) -> bool:
    params = message.get("params")
    return isinstance(params, dict) and params.get("command") in SLOW
