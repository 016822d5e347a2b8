"""Whether a keystroke costs more in a longer file, and whether opening one costs as much a line."""

from __future__ import annotations

import sys

from client import Edit
from rich.console import Console
from rich.table import Table
from typist import LINES_OF_A_KERNEL, PLACES, Keystroke, Typist, figures, p95, undo

SIZES = (1000, 3000, 9000, 27_000)
ALLOWED = 1.5  # times the shortest file's p95


def report_growth(console: Console) -> None:
    title = f"Keystrokes at {PLACES} places (digits and pasted blocks), by the length of the file"
    table = Table(
        "Lines", "hints of", "n", "p50", "p95", "most", "p95 / shortest", "shown p50", "shown p95", "first hints",
        "all hints, a line",
        title=title,
    )  # fmt: skip
    shortest: dict[bool, float] = {}
    worst = 0.0
    for lines in SIZES:
        typist = Typist(lines, lines // LINES_OF_A_KERNEL)
        for is_window in (True, False):
            some = _taken(typist, is_window=is_window)
            at_95 = p95([keystroke.answered_ms for keystroke in some])
            ratio = at_95 / shortest.setdefault(is_window, at_95)
            worst = max(worst, ratio)
            _, *shown, _ = figures([keystroke.shown_ms for keystroke in some])
            table.add_row(
                f"{lines:,}", "a window" if is_window else "the file",
                *figures([keystroke.answered_ms for keystroke in some]), f"{ratio:.2f}", *shown,
                f"{typist.first_ms:.0f} ms" if is_window else "",
                f"{1e3 * typist.opened_ms / lines:.0f} us" if is_window else "",
                end_section=not is_window,
            )  # fmt: skip
        typist.leave()
    console.print(table)
    verdict = "met" if worst <= ALLOWED else "NOT met"
    console.print(f"The worst p95 is {worst:.2f} times the shortest file's, at most {ALLOWED} wanted: {verdict}.")


def _taken(typist: Typist, *, is_window: bool) -> list[Keystroke]:
    """The second time something else is typed: what was typed before, the server knows."""
    found = []
    digit = "0" if is_window else "1"
    for place in typist.places:
        block = f"    for (int q = 0; q < 9{digit}; ++q) {{\n        v = fma(v, 1.5f, 0.25f);\n    }}\n"
        for edit in (Edit(place.line, place.column, 0, digit), Edit(place.line, 0, 0, block)):
            near = place if is_window else None
            found += [typist.type(edit, near), typist.type(undo(edit), near)]
    return found


if __name__ == "__main__":
    report_growth(Console())
    sys.exit(0)
