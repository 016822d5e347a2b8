"""Keystrokes when things get rough: typed in bursts, with a hundred other files open, on a machine that is busy."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from client import Edit, labels_of
from generate import generate_file
from rich.console import Console
from rich.table import Table
from typist import URI, Keystroke, Typist, figures, undo

LINES, KERNELS = 9000, 100
OTHERS = 100  # files
BETWEEN_S = 0.005  # changes of a burst
BURST = "    for (int q = 0; q < 77; ++q) v = fma(v, 1.5f, 0.25f);"


def report_pressure(console: Console) -> None:
    typist = Typist(LINES, KERNELS)
    table = Table(
        "When", "n", "p50", "p95", "most", "hints changed", "p50", "p95", "most",
        title=f"Keystrokes in {LINES:,} lines under pressure: until answered, until shown",
    )  # fmt: skip

    def row(name: str, some: list[Keystroke]) -> None:
        table.add_row(name, *figures([k.answered_ms for k in some]), *figures([k.shown_ms for k in some]))

    row("by themselves", _digits(typist, "0"))
    row(f"{len(BURST)} at a time, one each {1e3 * BETWEEN_S:.0f} ms: the last of them", _bursts(typist))
    for number in range(OTHERS):
        typist.client.open(f"file:///bench/other{number}.cl", generate_file(200, 2, 100 + number))
    row(f"while {OTHERS} other files are being opened", _digits(typist, "1"))
    typist.settle()
    row(f"with {OTHERS} other files open", _digits(typist, "2"))
    cores = os.cpu_count() or 1
    with _spinning(cores):
        row(f"... and {cores} processes that spin on {cores} cores", _digits(typist, "3"))
    typist.leave()
    console.print(table)


def _digits(typist: Typist, digit: str) -> list[Keystroke]:
    """Another digit each time: what was typed before, the server knows."""
    found = []
    for place in typist.places:
        edit = Edit(place.line, place.column, 0, digit)
        found += [typist.type(edit, place), typist.type(undo(edit), place)]
    return found


def _bursts(typist: Typist) -> list[Keystroke]:
    """Each change is followed by a request, and takes back the one before that is not answered, as editors do."""
    found = []
    client = typist.client
    for place in typist.places:
        window = (max(0, place.line - 100), place.line + 60)
        before, since = client.hints(URI, *window), client.refreshes
        asked: list[int] = []
        for number, character in enumerate(BURST):
            time.sleep(BETWEEN_S)
            if asked and not client.has_answered(asked[-1]):
                client.notify("$/cancelRequest", {"id": asked[-1]})
            begun = time.perf_counter()
            client.change(URI, Edit(place.line, number, 0, character))
            asked.append(client.ask_for_hints(URI, *window))
        at_s, hints = client.answer(asked[-1])
        shown_ms = typist.shown_ms(begun, at_s, labels_of(hints), before, since, window)
        found.append(Keystroke(1e3 * (at_s - begun), shown_ms))
        typist.type(Edit(place.line, 0, len(BURST), ""), place)
    return found


@contextmanager
def _spinning(count: int) -> Iterator[None]:
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


if __name__ == "__main__":
    report_pressure(Console())
    sys.exit(0)
