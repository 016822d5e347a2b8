"""Keystrokes in 9,000 lines with 100 kernels, through the real server, and beside them clangd with the same file."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack

from client import Client, Edit
from rich.console import Console
from rich.table import Table
from rivals import HOW, ask_clangd_for_hints, clangd, clangd_with
from typist import ABOVE, BELOW, KINDS, UNDONE, Keystroke, Place, Typist, figures, p95, undo

LINES, KERNELS = 9000, 100
ALLOWED_MS = 30.0


class Rival:
    """clangd, to which the same is done."""

    def __init__(self, client: Client, uri: str) -> None:
        self._client, self._uri = client, uri
        client.answer(ask_clangd_for_hints(client, uri, 0, 100))  # it has read the file

    def type(self, edit: Edit, near: Place) -> tuple[float, float]:
        """Until hints and a hover are answered, asked for in this order."""
        begun = time.perf_counter()
        self._client.change(self._uri, edit)
        hints = ask_clangd_for_hints(self._client, self._uri, max(0, near.line - ABOVE), near.line + BELOW)
        where = {"textDocument": {"uri": self._uri}, "position": {"line": near.line, "character": near.column - 8}}
        hover = self._client.send("textDocument/hover", where)
        return (
            1e3 * (self._client.answer(hints)[0] - begun),
            1e3 * (self._client.answer(hover)[0] - begun),
        )


def keystrokes(typist: Typist) -> Iterator[tuple[str, Edit, Place]]:
    """Of all kinds at all places, each undone at once."""
    for place in typist.places:
        for kind, edit_at in KINDS.items():
            edit = edit_at(place)
            yield kind, edit, place
            yield UNDONE, undo(edit), place


def report_keystrokes(console: Console) -> None:
    taken: dict[str, list[Keystroke]] = {}
    beside: list[tuple[float, float]] = []
    with ExitStack() as stack:
        typist = Typist(LINES, KERNELS)
        rival = Rival(*stack.enter_context(clangd_with(typist.text))) if clangd() else None
        for kind, edit, place in keystrokes(typist):
            taken.setdefault(kind, []).append(typist.type(edit, place))
            if rival is not None:
                beside.append(rival.type(edit, place))
        typist.leave()

    title = f"Keystrokes in {LINES:,} lines with {KERNELS} kernels: until the hint request that follows is answered"
    table = Table("Typed", "n", "p50", "p95", "most", "hints changed", "p50", "p95", "most", title=title)
    every = [keystroke for some in taken.values() for keystroke in some]
    for kind, some in (*taken.items(), ("all", every)):
        table.add_row(
            kind, *figures([k.answered_ms for k in some]), *figures([k.shown_ms for k in some]),
            end_section=some is [*taken.values()][-1],
        )  # fmt: skip
    console.print(table)
    ours = p95([keystroke.answered_ms for keystroke in every])
    console.print(f"p95 {ours:.1f} ms, at most {ALLOWED_MS:.0f} ms wanted: {_verdict(ours <= ALLOWED_MS)}.")
    if not beside:
        console.print(f"clangd is not here to be compared with; {HOW}.")
        return
    for what, theirs in (("hints", [h for h, _ in beside]), ("a hover", [h for _, h in beside])):
        _, p50, at_95, most = figures(theirs)
        ratio = ours / p95(theirs)
        console.print(
            f"clangd, same file, same edits: {what} after p50 {p50}, p95 {at_95}, most {most}; "
            f"ours / clangd's at p95 {ratio:.2f}, at most 0.50 wanted: {_verdict(ratio <= 0.5)}."
        )


def _verdict(is_met: bool) -> str:
    return "met" if is_met else "NOT met"


if __name__ == "__main__":
    report_keystrokes(Console())
    sys.exit(0)
