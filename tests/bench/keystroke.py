"""From a keystroke to an answered hint, in a 2,000-line file with 40 kernels, through the real server.

Two figures: until the hint request that follows the keystroke is answered (with what is known), and until an answer
reflects the keystroke. Each keystroke changes a loop's bound by one digit, so that it shows.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generate import generate_file
from rich.console import Console
from rich.table import Table
from start_up import initialize_ms

URI = "file:///bench/long.cl"
LINES, KERNELS = 2000, 40
KEYSTROKES = 120
SHOWS_WITHIN_S = 2.0  # while looking for loops whose bound shows in a hint at all

Labels = dict[int, str]


@dataclass(frozen=True, slots=True)
class Site:
    """Where a digit is typed, and deleted by the next keystroke."""

    line: int
    column: int


class Server:
    """`kernelcast serve` with a client that only does what an editor does for hints."""

    def __init__(self, kernelcast: str) -> None:
        self._process = subprocess.Popen(
            [kernelcast, "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._number = 0
        self._version = 0
        self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": None,
                "capabilities": {"workspace": {"inlayHint": {"refreshSupport": True}}},
            },
        )
        self.notify("initialized", {})
        # Otherwise the hints change once more when this machine's devices are found, in the midst of a keystroke.
        self.request("workspace/executeCommand", {"command": "kernelcast.chooseDevice", "arguments": ["generic-cpu"]})

    def open(self, text: str) -> None:
        document = {"uri": URI, "languageId": "opencl", "version": 0, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def replace(self, site: Site, length: int, text: str) -> None:
        self._version += 1
        start = {"line": site.line, "character": site.column}
        end = {"line": site.line, "character": site.column + length}
        change = {"range": {"start": start, "end": end}, "text": text}
        document = {"uri": URI, "version": self._version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})

    def hints(self) -> Labels:
        everything = {"start": {"line": 0, "character": 0}, "end": {"line": LINES, "character": 0}}
        found = self.request("textDocument/inlayHint", {"textDocument": {"uri": URI}, "range": everything})
        return {hint["position"]["line"]: hint["label"] for hint in found or ()}

    def wait_for_refresh(self) -> None:
        while self._read().get("method") != "workspace/inlayHint/refresh":
            pass

    def request(self, method: str, params: Any) -> Any:
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._read()
            if message.get("id") == number and "method" not in message:
                return message.get("result")

    def notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def leave(self) -> None:
        self.request("shutdown", None)
        self.notify("exit", None)
        self._process.wait(timeout=30)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        """The next message; requests of the server's are agreed to at once."""
        assert self._process.stdout is not None
        length = 0
        while (header := self._process.stdout.readline().strip()) != b"":
            if header.lower().startswith(b"content-length:"):
                length = int(header.split(b":")[1])
        if not length:
            raise RuntimeError("the server ended without an answer")
        message: dict[str, Any] = json.loads(self._process.stdout.read(length))
        if "id" in message and "method" in message:
            self._send({"id": message["id"], "result": None})
        return message


def keystrokes_ms(server: Server, sites: list[Site]) -> tuple[list[float], list[float]]:
    """For each keystroke: until answered, until an answer reflects it."""
    answered, current = [], []
    shown = server.hints()
    for number in range(KEYSTROKES):
        site = sites[number // 2 % len(sites)]
        begun = time.perf_counter()
        server.replace(site, *((0, "0") if number % 2 == 0 else (1, "")))
        labels = server.hints()
        answered.append(1e3 * (time.perf_counter() - begun))
        while labels == shown:
            server.wait_for_refresh()
            labels = server.hints()
        current.append(1e3 * (time.perf_counter() - begun))
        shown = labels
    return answered, current


def sites_that_show(server: Server, text: str) -> list[Site]:
    """Loop bounds, one per kernel at most, whose next digit changes what a hint says."""
    found: dict[int, Site] = {}
    kernel = -1
    for number, line in enumerate(text.splitlines()):
        kernel += "__kernel" in line
        bound = re.search(r"step < \d+", line)
        if bound and kernel not in found:
            site = Site(number, bound.end())
            if _shows(server, site):
                found[kernel] = site
    return list(found.values())


def _shows(server: Server, site: Site) -> bool:
    before = server.hints()
    server.replace(site, 0, "0")
    changed = _settled(server, before)
    server.replace(site, 1, "")
    _settled(server, changed)
    return changed != before


def _settled(server: Server, before: Labels) -> Labels:
    deadline = time.perf_counter() + SHOWS_WITHIN_S
    while (labels := server.hints()) == before and time.perf_counter() < deadline:
        pass
    return labels


def main() -> int:
    kernelcast = str(Path(sys.executable).with_name("kernelcast"))
    text = generate_file(LINES, KERNELS, seed=1)
    server = Server(kernelcast)
    server.open(text)
    while len(server.hints()) < KERNELS:
        server.wait_for_refresh()
    sites = sites_that_show(server, text)
    answered, current = keystrokes_ms(server, sites)
    server.leave()

    title = f"Keystrokes: {LINES:,} lines, {KERNELS} kernels, {KEYSTROKES} keystrokes in {len(sites)} kernels"
    table = Table("What", "p50", "p95", title=title, title_justify="left")
    for what, taken in (("to an answered hint request", answered), ("to hints that reflect it", current)):
        steps = statistics.quantiles(taken, n=20)
        table.add_row(what, f"{statistics.median(taken):.1f} ms", f"{steps[-1]:.1f} ms")
    console = Console()
    console.print(table)
    console.print(f"`initialize` is answered {initialize_ms(kernelcast):.0f} ms after the start of the process (warm).")
    return 0


if __name__ == "__main__":
    sys.exit(main())
