"""textDocument/inlayHint: one hint per kernel, answered from the last known predictions."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

from lsprotocol import types

from server.positions import offset_of, position_of
from server.snapshot import KernelView, Snapshot
from server.text.hint import HINT_LENGTH, shorten


def inlay_hints(snapshot: Snapshot, visible: types.Range | None = None) -> list[types.InlayHint]:
    """Return a hint per kernel, at the end of the line that ends the signature.

    Kernels that share that line have theirs right behind the parenthesis, so that each stays with its own.
    """
    if not snapshot.shows_hints:
        return []
    text = snapshot.document.text
    start, end = _window(snapshot, visible)
    # All of the window's first and last line, to see which kernels share a line.
    anchored = _anchored(snapshot, text.line_starts[text.line_at(start)], text.line_end(text.line_at(end)))
    lines = [text.line_at(anchor) for anchor, _ in anchored]
    crowd = Counter(lines)
    hints = []
    for line, (anchor, view) in zip(lines, anchored, strict=True):
        at = anchor if crowd[line] > 1 else text.line_end(line)
        if start <= at <= end:
            hints.append(_hint(view, position_of(text, at, snapshot.encoding)))
    return hints or _file_problem(snapshot)


def _anchored(snapshot: Snapshot, start: int, end: int) -> list[tuple[int, KernelView]]:
    """Return the kernels whose signatures end in [start, end], and where.

    Those of a long file are not all looked at.
    """

    def anchor(view: KernelView) -> int:
        return snapshot.end(view.kernel.signature_range)

    first = bisect_left(snapshot.kernels, start, key=anchor)
    found = []
    for view in snapshot.kernels[first:]:
        at = anchor(view)
        if at > end:
            break
        found.append((at, view))
    return found


def _file_problem(snapshot: Snapshot) -> list[types.InlayHint]:
    """Return a file whose kernels cannot be seen says why, on the line that is to blame."""
    problems = () if snapshot.kernels else snapshot.analysis.forecast.problems[:1]
    text, before = snapshot.document.text, snapshot.analysis.document
    hints = []
    for problem in problems:
        starts = before.text.feed_starts
        blamed = snapshot.document.moved(starts[min(problem.line or 1, len(starts)) - 1], before.serial)
        at = position_of(text, text.line_end(text.line_at(blamed)), snapshot.encoding)
        label = f"? {shorten(problem.message, HINT_LENGTH - 2)}"
        hints.append(types.InlayHint(position=at, label=label, padding_left=True, tooltip=problem.message))
    return hints


def shown_labels(snapshot: Snapshot) -> tuple[tuple[str, str], ...]:
    """Return what the hints of a file say, kernel by kernel: only a change of this is worth a refresh."""
    if not snapshot.shows_hints:
        return ()
    told = tuple((view.key, view.label) for view in snapshot.kernels)
    return told or tuple(("", problem.message) for problem in snapshot.analysis.forecast.problems[:1])


def _window(snapshot: Snapshot, visible: types.Range | None) -> tuple[int, int]:
    text = snapshot.document.text
    if visible is None:
        return 0, len(text.value)
    return offset_of(text, visible.start, snapshot.encoding), offset_of(text, visible.end, snapshot.encoding)


def _hint(view: KernelView, position: types.Position) -> types.InlayHint:
    return types.InlayHint(position=position, label=view.label, padding_left=True, tooltip=view.tooltip)
