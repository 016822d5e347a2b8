"""A language server's client, as far as the benchmarks need one: it does what an editor does, and notes when."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PATIENCE_S = 120.0

Labels = dict[int, str]


@dataclass(frozen=True, slots=True)
class Edit:
    """`length` characters, behind `lines` line ends, become `text`."""

    line: int
    column: int
    length: int
    text: str
    lines: int = 0  # `length` counts in the last line

    def as_change(self) -> dict[str, Any]:
        start = {"line": self.line, "character": self.column}
        end = {"line": self.line + self.lines, "character": self.length + (0 if self.lines else self.column)}
        return {"range": {"start": start, "end": end}, "text": self.text}


class Client:
    """One server process. Answers are taken in by a thread of their own, so that nothing waits for the reader."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        options: object = None,
        root: str | None = None,
    ) -> None:
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, **(env or {})},
        )  # fmt: skip
        self._number = 0
        self._answers: dict[int, tuple[float, Any]] = {}
        self._refreshes = 0
        self._changed = threading.Condition()
        self._sending = threading.Lock()
        self._has_ended = False
        self._versions: dict[str, int] = {}
        threading.Thread(target=self._listen, daemon=True).start()
        capabilities = {
            "workspace": {"inlayHint": {"refreshSupport": True}},
            "textDocument": {"hover": {"contentFormat": ["markdown"]}, "inlayHint": {}},
        }
        params = {"processId": None, "rootUri": root, "capabilities": capabilities, "initializationOptions": options}
        self.capabilities: dict[str, Any] = self.request("initialize", params)["capabilities"]
        self.initialized_s = time.perf_counter() - self.begun
        self.notify("initialized", {})

    def open(self, uri: str, text: str, language: str = "opencl") -> None:
        self._versions[uri] = 0
        document = {"uri": uri, "languageId": language, "version": 0, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, uri: str, *edits: Edit) -> None:
        self._versions[uri] += 1
        document = {"uri": uri, "version": self._versions[uri]}
        changes = [edit.as_change() for edit in edits]
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": changes})

    def ask_for_hints(self, uri: str, first: int = 0, last: int = 1_000_000) -> int:
        """The number of the request, which is under way."""
        where = {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 0}}
        return self.send("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": where})

    def hints(self, uri: str, first: int = 0, last: int = 1_000_000) -> Labels:
        return labels_of(self.answer(self.ask_for_hints(uri, first, last))[1])

    def request(self, method: str, params: object) -> Any:
        return self.answer(self.send(method, params))[1]

    def send(self, method: str, params: object) -> int:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        return self._number

    def answer(self, number: int) -> tuple[float, Any]:
        """When it came, and its result; None for an error."""
        self._wait(lambda: number in self._answers)
        return self._answers.pop(number)

    def has_answered(self, number: int) -> bool:
        with self._changed:
            return number in self._answers

    @property
    def refreshes(self) -> int:
        with self._changed:
            return self._refreshes

    def wait_for_refresh(self, since: int, timeout_s: float = PATIENCE_S) -> bool:
        """Whether the server has asked more than `since` times, in all, to be asked for hints again."""
        return self._wait(lambda: self._refreshes > since, timeout_s, is_needed=False)

    def notify(self, method: str, params: object) -> None:
        self._send({"method": method, "params": params})

    def leave(self) -> None:
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.wait(timeout=30)

    def _wait(self, condition: Any, timeout_s: float = PATIENCE_S, *, is_needed: bool = True) -> bool:
        with self._changed:
            found = self._changed.wait_for(lambda: condition() or self._has_ended, timeout_s)
            if is_needed and not condition():
                raise RuntimeError("the server ended without an answer" if found else "the server does not answer")
            return bool(condition())

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        with self._sending:
            self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            self.process.stdin.flush()

    def _listen(self) -> None:
        while (message := self._read()) is not None:
            now = time.perf_counter()
            if "method" in message:
                if "id" in message:  # whatever the server asks is agreed to
                    self._send({"id": message["id"], "result": None})
                with self._changed:
                    self._refreshes += message["method"] == "workspace/inlayHint/refresh"
                    self._changed.notify_all()
            else:
                with self._changed:
                    self._answers[message["id"]] = now, message.get("result")
                    self._changed.notify_all()
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def _read(self) -> dict[str, Any] | None:
        assert self.process.stdout is not None
        length = 0
        while (header := self.process.stdout.readline().strip()) != b"":
            if header.lower().startswith(b"content-length:"):
                length = int(header.split(b":")[1])
        message: dict[str, Any] | None = json.loads(self.process.stdout.read(length)) if length else None
        return message


def labels_of(hints: Sequence[Mapping[str, Any]] | None) -> Labels:
    return {hint["position"]["line"]: hint["label"] for hint in hints or ()}
