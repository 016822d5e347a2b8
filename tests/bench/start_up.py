"""From starting `kernelcast serve` to its answer to `initialize`."""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from typing import IO, Any


def initialize_ms(kernelcast: str, *, rounds: int = 7) -> float:
    """Median over `rounds` after one that warms the disk cache, in milliseconds."""
    return statistics.median([_once_ms(kernelcast) for _ in range(rounds + 1)][1:])


def _once_ms(kernelcast: str) -> float:
    begun = time.perf_counter()
    with subprocess.Popen(
        [kernelcast, "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        _send(server.stdin, "initialize", {"processId": None, "rootUri": None, "capabilities": {}}, number=1)
        _answer(server.stdout, 1)
        taken_ms = 1e3 * (time.perf_counter() - begun)
        _send(server.stdin, "initialized", {})
        _send(server.stdin, "shutdown", None, number=2)
        _answer(server.stdout, 2)
        _send(server.stdin, "exit", None)
        server.wait(timeout=30)
    return taken_ms


def _send(stream: IO[bytes], method: str, params: dict[str, Any] | None, *, number: int | None = None) -> None:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    if number is not None:
        message["id"] = number
    body = json.dumps(message).encode()
    stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    stream.flush()


def _answer(stream: IO[bytes], number: int) -> dict[str, Any]:
    """The response to request `number`; whatever else the server says meanwhile is skipped."""
    while True:
        length = 0
        while (header := stream.readline().strip()) != b"":
            if header.lower().startswith(b"content-length:"):
                length = int(header.split(b":")[1])
        if not length:
            raise RuntimeError("the server ended without an answer")
        message: dict[str, Any] = json.loads(stream.read(length))
        if message.get("id") == number and "method" not in message:
            return message
