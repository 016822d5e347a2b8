"""From the start of a process to its answer to `initialize`, and to the first hint; beside other servers in Python and
JavaScript, one after the other in turns."""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from client import Client
from generate import generate_file
from rich.console import Console
from rich.table import Table
from rivals import HOW, jedi, pyright
from typist import URI, kernelcast_command

ROUNDS = 5
INITIALIZE_MS, FIRST_HINT_MS = 400.0, 800.0  # wanted at most, on a cold cache
_DROP = Path("/proc/sys/vm/drop_caches")


@dataclass(frozen=True, slots=True)
class Start:
    """In milliseconds; no hint of those who give none."""

    initialize_ms: float
    first_hint_ms: float | None = None


def ours(env: Mapping[str, str]) -> Start:
    """With a file of two kernels that is opened at once, as an editor that is started with one does."""
    text = generate_file(200, 2, 1)
    client = Client(kernelcast_command(), env=env)
    client.open(URI, text)
    since = client.refreshes
    while not client.hints(URI):
        client.wait_for_refresh(since)
        since = client.refreshes
    found = Start(1e3 * client.initialized_s, 1e3 * (time.perf_counter() - client.begun))
    client.leave()
    return found


def theirs(command: Sequence[str], env: Mapping[str, str]) -> Start:
    client = Client(command, env=env)
    found = Start(1e3 * client.initialized_s)
    client.leave()
    return found


def _warm(start: Callable[[Mapping[str, str]], Start]) -> Start:
    return start({})


def _uncompiled(start: Callable[[Mapping[str, str]], Start]) -> Start:
    """Python compiles every module anew, its own library too: as after the very first start from a read-only folder."""
    folder = tempfile.mkdtemp(prefix="kernelcast-bench-")
    try:
        return start({"PYTHONPYCACHEPREFIX": folder})
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _cold(start: Callable[[Mapping[str, str]], Start]) -> Start:
    """Nothing of the disk is in memory: as after the machine's start."""
    os.sync()
    _DROP.write_text("3")
    return start({})


def report_start_up(console: Console) -> None:
    others = {"jedi-language-server": jedi(), "pyright": pyright()}
    missing = [name for name, command in others.items() if command is None]
    starts: dict[str, Callable[[Mapping[str, str]], Start]] = {"kernelcast": ours}
    for name, command in others.items():
        if command is not None:
            starts[name] = lambda env, command=command: theirs(command, env)
    ways = {"warm": _warm, "without compiled modules": _uncompiled}
    if os.access(_DROP, os.W_OK):
        ways["with an empty page cache"] = _cold
    else:
        console.print("The page cache cannot be emptied here (that takes root): no figures for it.")
    table = Table(
        "Start", "Server", "n", "`initialize`", "least to most", "first hint", "least to most", "ours / theirs"
    )
    for way, made in ways.items():
        taken: dict[str, list[Start]] = {name: [] for name in starts}
        for number in range(ROUNDS + 1):
            for name, start in starts.items():
                found = made(start)
                if number:  # the first warms what shall be warm
                    taken[name].append(found)
        mine = statistics.median(start.initialize_ms for start in taken["kernelcast"])
        for name, some in taken.items():
            initialize = [start.initialize_ms for start in some]
            hints = [start.first_hint_ms for start in some if start.first_hint_ms is not None]
            ratio = "" if name == "kernelcast" else f"{mine / statistics.median(initialize):.2f}"
            table.add_row(way, name, str(len(some)), *_spread(initialize), *_spread(hints), ratio)
        table.add_section()
        if way != "warm":
            _judge(console, way, _median(taken["kernelcast"]))
    console.print(table)
    if missing:
        console.print(f"Not here to be compared with: {', '.join(missing)}; {HOW}.")


def _median(starts: Sequence[Start]) -> Start:
    return Start(
        statistics.median(start.initialize_ms for start in starts),
        statistics.median(start.first_hint_ms or 0.0 for start in starts),
    )


def _judge(console: Console, way: str, start: Start) -> None:
    assert start.first_hint_ms is not None
    for what, taken_ms, wanted_ms in (
        ("`initialize`", start.initialize_ms, INITIALIZE_MS),
        ("the first hint", start.first_hint_ms, FIRST_HINT_MS),
    ):
        verdict = "met" if taken_ms <= wanted_ms else "NOT met"
        console.print(f"Start {way}: {what} after {taken_ms:.0f} ms, at most {wanted_ms:.0f} ms wanted: {verdict}.")


def _spread(values: Sequence[float]) -> tuple[str, str]:
    if not values:
        return "", ""
    return f"{statistics.median(values):.0f} ms", f"{min(values):.0f} to {max(values):.0f}"


if __name__ == "__main__":
    report_start_up(Console())
    sys.exit(0)
