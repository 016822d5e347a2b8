"""A long file that is opened: how soon there are hints, and what all processes of a server hold, beside clangd."""

from __future__ import annotations

import time
from dataclasses import dataclass

import psutil
from client import Client
from generate import generate_file
from rich.console import Console
from rich.table import Table
from rivals import HOW, ask_clangd_for_hints, clangd, clangd_with
from typist import kernelcast_command

LINES, KERNELS = 9_000, 100
SCREEN = (0, 60)  # the lines that an editor shows
WHOLE = (0, 1_000_000)
LONG, SHORT = "file:///bench/long.cl", "file:///bench/short.cl"
FIRST_HINTS_S, MEMORY_RATIO = 0.9, 1.5  # wanted at most
_STEADY_S, _LONGEST_S, _LOOK_S = 10.0, 120.0, 1.0
_REST_S = 45.0  # after which processes without work have left: see `server.predictor.sampling`


@dataclass(frozen=True, slots=True)
class Opened:
    """Seconds until there were hints on the screen, and of all kernels; megabytes by process, the server's first."""

    first_s: float
    whole_s: float
    processes_mb: tuple[float, ...]
    at_rest_mb: tuple[float, ...]


def ours(text: str) -> Opened:
    """Open the file in a server that runs already, and time it."""
    client = Client(kernelcast_command())
    client.open(SHORT, generate_file(200, 2, 7))
    _wait_for_hints(client, SHORT, 2, WHOLE)
    begun = time.perf_counter()
    client.open(LONG, text)
    _wait_for_hints(client, LONG, 1, SCREEN)
    first_s = time.perf_counter() - begun
    _wait_for_hints(client, LONG, KERNELS, WHOLE)
    whole_s = time.perf_counter() - begun
    at_first_mb = steady_mb(client.process.pid)
    time.sleep(_REST_S)
    found = Opened(first_s, whole_s, at_first_mb, _processes_mb(client.process.pid))
    client.leave()
    return found


def clangds_mb(text: str) -> float:
    with clangd_with(text) as (client, uri):
        client.answer(ask_clangd_for_hints(client, uri, *SCREEN))
        return sum(steady_mb(client.process.pid))


def steady_mb(pid: int) -> tuple[float, ...]:
    """What each process of a tree holds once none grows any more, pages that several share in parts (Linux' PSS)."""
    least_until = time.perf_counter() + _STEADY_S
    longest_until = time.perf_counter() + _LONGEST_S
    most = 0.0
    while True:
        held = _processes_mb(pid)
        now = time.perf_counter()
        if sum(held) > 1.01 * most:
            most, least_until = sum(held), now + _STEADY_S
        if now > min(least_until, longest_until):
            return held
        time.sleep(_LOOK_S)


def _processes_mb(pid: int) -> tuple[float, ...]:
    server = psutil.Process(pid)
    found = []
    for process in (server, *server.children(recursive=True)):
        try:
            found.append(process.memory_full_info().pss / 1e6)
        except psutil.NoSuchProcess:
            continue
    return tuple(found)


def _wait_for_hints(client: Client, uri: str, least: int, lines: tuple[int, int]) -> None:
    since = client.refreshes
    while len(client.hints(uri, *lines)) < least:
        client.wait_for_refresh(since)
        since = client.refreshes


def report_long_file(console: Console) -> None:
    text = generate_file(LINES, KERNELS, 1)
    found = ours(text)
    title = f"A file of {LINES:,} lines with {KERNELS} kernels is opened"
    table = Table("What", "Figure", "Wanted at most", title=title, title_justify="left")
    table.add_row("first hints on the screen", f"{found.first_s:.2f} s", f"{FIRST_HINTS_S} s")
    table.add_row("hints of all kernels", f"{found.whole_s:.1f} s", "")
    for when, held in (("at first", found.processes_mb), ("at rest", found.at_rest_mb)):
        by_process = " + ".join(f"{each:.0f}" for each in held)
        table.add_row(f"memory of all processes {when}", f"{by_process} = {sum(held):.0f} MB", "")
    if clangd() is None:
        table.add_row("clangd", HOW, "")
    else:
        theirs_mb = clangds_mb(text)
        table.add_row("memory of clangd", f"{theirs_mb:.0f} MB", "")
        table.add_row("ours at first / clangd's", f"{sum(found.processes_mb) / theirs_mb:.2f}", "")
        table.add_row("ours at rest / clangd's", f"{sum(found.at_rest_mb) / theirs_mb:.2f}", f"{MEMORY_RATIO}")
    console.print(table)
