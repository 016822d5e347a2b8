"""Somebody who types in a long file, with a watch: until the hint request that follows is answered, and until an
answer shows the keystroke."""

from __future__ import annotations

import re
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from client import Client, Edit, Labels, labels_of
from generate import generate_file

URI = "file:///bench/long.cl"
LINES_OF_A_KERNEL = 90
PLACES = 11  # as many in every file, however long it is: each place has its own kernel, new to the server at first
ABOVE, BELOW = 100, 60  # lines of the window that an editor asks hints for
SHOWS_WITHIN_S = 0.7  # else the keystroke changes no hint
PAUSE_S = 0.1  # between keystrokes


@dataclass(frozen=True, slots=True)
class Keystroke:
    """In milliseconds; `shown_ms` is None where it changed no hint."""

    answered_ms: float
    shown_ms: float | None


@dataclass(frozen=True, slots=True)
class Place:
    """Behind a loop's bound."""

    line: int
    column: int


# What is typed at a place; each is undone by the next keystroke.
KINDS: Mapping[str, Callable[[Place], Edit]] = {
    "a digit": lambda at: Edit(at.line, at.column, 0, "0"),
    "an empty line": lambda at: Edit(at.line, 0, 0, "\n"),
    "an opening brace": lambda at: Edit(at.line, 0, 0, "{"),
    "a block pasted": lambda at: Edit(
        at.line, 0, 0, "    for (int q = 0; q < 99; ++q) {\n        v = fma(v, 1.5f, 0.25f);\n    }\n"
    ),
}
UNDONE = "... and undone"


def undo(edit: Edit) -> Edit:
    *whole, last = edit.text.split("\n")
    return Edit(edit.line, edit.column, len(last), "", len(whole))


def kernelcast_command() -> list[str]:
    return [str(Path(sys.executable).with_name("kernelcast")), "serve", "--stdio"]


class Typist:
    """Has one long file open in one server, which has found out all about it when this is made."""

    def __init__(self, lines: int, kernels: int, *, seed: int = 1) -> None:
        self.text = generate_file(lines, kernels, seed)
        self.client = Client(kernelcast_command())
        # Otherwise hints change once more when this machine's devices are found, in the midst of a keystroke.
        chosen = {"command": "kernelcast.chooseDevice", "arguments": ["generic-cpu"]}
        self.client.request("workspace/executeCommand", chosen)
        begun = time.perf_counter()
        self.client.open(URI, self.text)
        since, found = self.client.refreshes, self.client.hints(URI, 0, BELOW)
        while not found:
            self.client.wait_for_refresh(since)
            since, found = self.client.refreshes, self.client.hints(URI, 0, BELOW)
        self.first_ms = 1e3 * (time.perf_counter() - begun)
        while len(found) < kernels:
            self.client.wait_for_refresh(since)
            since, found = self.client.refreshes, self.client.hints(URI)
        self.opened_ms = 1e3 * (time.perf_counter() - begun)
        self.settle()
        self.places = places_in(self.text)

    def settle(self, quiet_s: float = 3.0) -> None:
        """Until the learned model, too, has answered all that it was asked."""
        since = self.client.refreshes
        while self.client.wait_for_refresh(since, quiet_s):
            since = self.client.refreshes
            self.client.hints(URI)

    def type(self, edit: Edit, near: Place | None) -> Keystroke:
        """`near` is where the window is; without, hints are asked for the whole file."""
        time.sleep(PAUSE_S)
        window = (max(0, near.line - ABOVE), near.line + BELOW) if near else (0, 1_000_000)
        before = self.client.hints(URI, *window)
        since = self.client.refreshes
        begun = time.perf_counter()
        self.client.change(URI, edit)
        at_s, found = self.client.answer(self.client.ask_for_hints(URI, *window))
        return Keystroke(1e3 * (at_s - begun), self.shown_ms(begun, at_s, labels_of(found), before, since, window))

    def shown_ms(
        self, begun: float, at_s: float, found: Labels, before: Labels, since: int, window: tuple[int, int]
    ) -> float | None:
        """Until the answer in which hints differ from `before`, from the one of `at_s` on."""
        while found == before:
            if not self.client.wait_for_refresh(since, SHOWS_WITHIN_S):
                return None
            since = self.client.refreshes
            at_s, hints = self.client.answer(self.client.ask_for_hints(URI, *window))
            found = labels_of(hints)
        return 1e3 * (at_s - begun)

    def leave(self) -> None:
        self.client.leave()


def places_in(text: str) -> list[Place]:
    """Spread evenly over the file."""
    found: list[Place] = []
    is_new = False
    for number, line in enumerate(text.splitlines()):
        is_new = is_new or "kernel" in line
        bound = re.search(r"step < \d+", line)
        if bound and is_new:
            found.append(Place(number, bound.end()))
            is_new = False
    return [found[place * len(found) // PLACES] for place in range(PLACES)] if len(found) > PLACES else found


def p95(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else max(values, default=0.0)


def figures(values: Sequence[float | None]) -> tuple[str, str, str, str]:
    """How many, p50, p95 and the worst."""
    known = [value for value in values if value is not None]
    if not known:
        return "0", "-", "-", "-"
    return str(len(known)), f"{statistics.median(known):.1f} ms", f"{p95(known):.1f} ms", f"{max(known):.1f} ms"
