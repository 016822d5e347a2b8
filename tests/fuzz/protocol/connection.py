"""The real server process, its streams as bytes, and what a client must be able to rely on: each answer once, in time.

Threads and pipes instead of a client library, which would not send what is wrong nor see what is too much.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz.protocol.expect import NOBODY, Key, key_of


class Fault(Exception):
    """What no client should ever see; the text says what."""


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


@dataclass
class Seen:
    """What the server has sent."""

    answers: Counter[Key] = field(default_factory=Counter)
    last: dict[Key, dict[str, Any]] = field(default_factory=dict)
    times: dict[Key, float] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    codes: Counter[int] = field(default_factory=Counter)
    servers_id: str = ""
    has_ended: bool = False


class Connection:
    """`manners` is given each request of the server's, and says what the client sends to that."""

    def __init__(self, command: list[str], environment: dict[str, str], folder: Path, log: Path) -> None:
        self._log = log
        with log.open("wb") as errors:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd=folder, env=environment
            )
        self.seen = Seen()
        self.starved = 0  # what came late by the clock, and in time by the time that the machine gave
        self.manners: Callable[[dict[str, Any]], list[bytes]] = lambda _: []
        self._news = threading.Condition()
        self._writing = threading.Lock()
        assert self.process.stdin
        os.set_blocking(self.process.stdin.fileno(), False)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def in_time(self, attempt: Callable[[float], bool], patience_s: float) -> bool:
        """Whether it comes about within so long. `attempt` waits for as long as it is told.

        Time in which the server or this client stood ready and got no processor is not counted: that is the machine's
        fault. A server that computes, sleeps or waits for a lock is counted in full.
        """
        began, starved_s = time.monotonic(), self._starved_s()
        while True:
            lost_s = max(0.0, self._starved_s() - starved_s)
            left_s = began + patience_s + lost_s - time.monotonic()
            if left_s <= 0:
                return False
            if attempt(left_s):
                self.starved += time.monotonic() - began > patience_s
                return True
            if self.seen.has_ended:
                return False

    def _starved_s(self) -> float:
        """Linux keeps it by thread; elsewhere there is no such allowance."""
        total_ns = 0
        for process in (self.process.pid, os.getpid()):
            for file in Path(f"/proc/{process}/task").glob("*/schedstat"):
                with contextlib.suppress(OSError):  # the thread has ended
                    total_ns += int(file.read_bytes().split()[1])
        return total_ns / 1e9

    # What the client sends

    def send(self, data: bytes, patience_s: float) -> None:
        """Raises Fault if the server takes nothing in for so long. A server that has left takes all."""
        assert self.process.stdin
        out = self.process.stdin.fileno()
        with self._writing:
            while data:
                if not self.in_time(lambda left_s: bool(select.select([], [out], [], left_s)[1]), patience_s):
                    raise Fault(f"the server took nothing in for {patience_s:g} s")
                try:
                    data = data[os.write(out, data) :]
                except BrokenPipeError:
                    return

    def wait(self, condition: Callable[[Seen], bool], patience_s: float) -> bool:
        with self._news:
            self._news.wait_for(lambda: condition(self.seen) or self.seen.has_ended, patience_s)
            return condition(self.seen)

    def close_input(self) -> None:
        assert self.process.stdin
        with self._writing:
            self.process.stdin.close()

    def end(self, patience_s: float) -> int | None:
        """The exit status, None for a server that does not end; then it is killed."""
        try:
            return self.process.returncode if self.in_time(self._has_left, patience_s) else None
        finally:
            self.process.kill()
            self.process.wait()
            self._reader.join(5)
            if self.process.stdout:
                self.process.stdout.close()

    def _has_left(self, patience_s: float) -> bool:
        try:
            self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def log(self) -> str:
        return self._log.read_text("utf-8", "replace")

    # What the server sends

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream
        try:
            while header := stream.readline():
                length = int(header.partition(b":")[2])
                while stream.readline().strip():
                    pass
                self._take(stream.read(length))
        except ValueError as error:
            if not stream.closed:
                self._report(f"the server sent what is no message: {error}")
        with self._news:
            self.seen.has_ended = True
            self._news.notify_all()

    def _take(self, body: bytes) -> None:
        try:
            message = json.loads(body, parse_constant=_no_constant)
        except ValueError as error:
            self._report(f"the server sent what is no JSON: {error}: {body[:300]!r}")
            return
        if "method" in message and "id" in message:
            self.seen.servers_id = message["id"]
            for reply in self.manners(message):
                self.send(reply, 5.0)
        elif "method" in message:
            text = str(message.get("params"))
            if "fault of Kernelcast" in text or "Error in server" in text:
                self._report(f"the user was told of a fault: {text[:1000]}")
        else:
            self._answered(message)

    def _answered(self, message: dict[str, Any]) -> None:
        key = key_of(message["id"]) if message.get("id") is not None else NOBODY
        error = message.get("error")
        with self._news:
            if key is None:
                self.seen.faults.append(f"an answer to no id: {message}"[:500])
            else:
                self.seen.answers[key] += 1
                self.seen.last[key] = message
                self.seen.times[key] = time.monotonic()
            if error is not None:
                self.seen.codes[error["code"]] += 1
                if error["code"] == -32603:
                    self.seen.faults.append(f"an internal error: {error['message']}"[:1000])
            self._news.notify_all()

    def _report(self, fault: str) -> None:
        with self._news:
            self.seen.faults.append(fault)
            self._news.notify_all()
