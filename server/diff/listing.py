"""Changes as a table for people, as JSON, and as the Markdown of a pull request's comment."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from model.prediction import Quantiles
from server.cli.comparing import Verdict
from server.cli.tables import table_of
from server.cli.terminal import listed, out
from server.diff.changes import Change, Place
from server.text.escaping import one_line
from server.text.format import format_duration_us, format_things, shown_name
from server.text.versions import faster_words, ratio_json

MARK = "<!-- kernelcast diff -->"  # by which a comment is found again
_LONGEST_COMMENT = 60_000  # GitHub takes 65,536 characters
_WIDTH = 10_000  # of a file
_ORDER = (Verdict.SLOWER, Verdict.UNKNOWN, Verdict.FASTER, Verdict.UNCLEAR, Verdict.NEW, Verdict.GONE)
_WORDS = {Verdict.FASTER: "likely faster", Verdict.SLOWER: "likely slower", Verdict.UNKNOWN: "cannot tell"}
_ESCAPED = {ord(sign): f"&#{ord(sign)};" for sign in "&<>\\`*_[]|~@#"}
_LINKED = re.compile(r"(?<=:)/(?=/)|(?<=www)\.", re.IGNORECASE)  # hosts make links of what looks like one
_MENTION = re.compile("(?<=&#(?:64|35);)")  # of a user or an issue, which hosts look for in what is rendered
_MEASURED = {Verdict.FASTER: "faster", Verdict.SLOWER: "slower"}
_SIGNS = {Verdict.FASTER: "🟢", Verdict.SLOWER: "🔴", Verdict.UNKNOWN: "❔", Verdict.UNCLEAR: "⚪"}


def verdict_words(change: Change) -> str:
    """Return `likely slower`; `slower` where it was measured."""
    words = _MEASURED if change.measured is not None else _WORDS
    return f"{words.get(change.verdict, str(change.verdict))}{', accepted' if change.is_accepted else ''}"


def in_order(changes: Sequence[Change]) -> list[Change]:
    """Return what needs a look first, by verdict and then by how much."""
    return sorted(
        changes, key=lambda each: (_ORDER.index(each.verdict), -(each.middle or 0.0), each.at.file, each.at.line)
    )


def sentence(change: Change) -> str:
    """Return why: `cannot tell, because ...` where nothing is known."""
    return f"cannot tell, because {change.reason}" if change.verdict is Verdict.UNKNOWN else change.reason


def summary(changes: Sequence[Change], names: tuple[str, str]) -> str:
    """Return `3 kernels changed from main to HEAD: 1 likely slower, 2 new`."""
    kernels = {(each.at, each.old) for each in changes}
    counted = Counter((each.verdict, verdict_words(each)) for each in changes)
    said = ", ".join(
        f"{count} {words}" for (verdict, words), count in sorted(counted.items(), key=lambda e: _ORDER.index(e[0][0]))
    )
    verb = format_things(len(kernels), "kernel changed", "kernels changed")
    return f"{verb} from {names[0]} to {names[1]}{': ' if said else ''}{said}"


def plain_text(changes: Sequence[Change], names: tuple[str, str]) -> str:
    """Return what `show` prints."""
    stream = io.StringIO()
    # A file has no colours, whatever FORCE_COLOR wants of terminals.
    console = Console(
        file=stream, width=_WIDTH, highlight=False, markup=False, emoji=False, force_terminal=False, color_system=None
    )
    _show(console, changes, names)
    return "\n".join(line.rstrip() for line in stream.getvalue().rstrip().split("\n"))


def show(changes: Sequence[Change], names: tuple[str, str]) -> None:
    """Print a table, and below it why each is as it is."""
    _show(out(), changes, names)


def _show(console: Console, changes: Sequence[Change], names: tuple[str, str]) -> None:
    console.print(Text(one_line(summary(changes, names)), "bold"))
    if not changes:
        return
    table = table_of("Kernel", "File", "Device", "Launch", ">Old", ">New", ">Change", "Verdict")
    for each in in_order(changes):
        table.add_row(
            each.at.kernel,
            one_line(f"{each.at.file}:{each.at.line}"),
            each.device.id if each.device is not None else "",
            one_line(launch_words(each)),
            _time(each.old_us),
            _time(each.new_us),
            change_words(each),
            verdict_words(each),
        )
    console.print(table)
    console.print(listed(dict.fromkeys(one_line(f"{each.at.kernel}: {sentence(each)}") for each in in_order(changes))))


def changes_json(changes: Sequence[Change]) -> list[dict[str, Any]]:
    """Return the list that `--format json` prints."""
    return [_json(each) for each in in_order(changes)]


def _json(change: Change) -> dict[str, Any]:
    measured, device = change.measured, change.device
    return {
        "kernel": change.at.kernel,
        "file": change.at.file,
        "line": change.at.line,
        "old": _place_json(change.old) if change.old is not None else None,
        "verdict": str(change.verdict),
        "ratio": ratio_json(change.ratio) if change.ratio is not None else None,
        "measured_ratio": {"median": measured.ratio, "low": measured.low, "high": measured.high} if measured else None,
        "equal": change.equal,
        "old_us": _quantiles(change.old_us),
        "new_us": _quantiles(change.new_us),
        "device": {"id": device.id, "name": device.name} if device is not None else None,
        "launch": launch_words(change) or None,
        "reason": change.reason,
        "accepted": change.is_accepted,
    }


def _place_json(place: Place) -> dict[str, Any]:
    return {"kernel": place.kernel, "file": place.file, "line": place.line}


def _quantiles(q: Quantiles | None) -> dict[str, float] | None:
    return {"p10": q.p10, "p50": q.p50, "p90": q.p90} if q is not None else None


def markdown(changes: Sequence[Change], names: tuple[str, str]) -> str:
    """Return the comment for a pull request: a table, and the reasons folded below it."""
    lines = [MARK, f"### Kernelcast: {_cell(summary(changes, names))}", ""]
    rows = in_order(changes)
    if rows:
        lines += [
            "| Kernel | Verdict | Change | Old | New | Launch | Device |",
            "| --- | --- | --: | --: | --: | --- | --- |",
        ]
    size = sum(map(len, lines))
    reasons = ["", "<details><summary>Why</summary>", ""]
    for at, each in enumerate(rows):
        row, reason = _row(each), f"- {_code(each.at.kernel)}: {_cell(sentence(each))}"
        size += len(row) + len(reason) + 2
        if size > _LONGEST_COMMENT:
            lines.append(f"| and {len(rows) - at} more | | | | | | |")
            break
        lines.append(row)
        reasons += [] if reason in reasons else [reason]
    if rows:
        lines += [*reasons, "", "</details>"]
    predicted = any(each.ratio is not None and each.measured is None for each in rows)
    if predicted:
        lines += ["", "Ratios are predicted, and most likely within the 80 % interval that is given for each."]
    return "\n".join(lines)


def _row(change: Change) -> str:
    device = shown_name(change.device.name) if change.device is not None else ""
    cells = (
        f"{_code(change.at.kernel)}<br>{_code(f'{change.at.file}:{change.at.line}')}",
        f"{_SIGNS.get(change.verdict, '')} {verdict_words(change)}".strip(),
        change_words(change), _time(change.old_us), _time(change.new_us), launch_words(change), device,
    )  # fmt: skip
    return f"| {' | '.join((cells[0], *map(_cell, cells[1:])))} |"


def _cell(text: str) -> str:
    """Return text that means nothing in a cell: a file of a pull request may have any name."""
    return _MENTION.sub("&#8203;", _escaped(text))


def _code(text: str) -> str:
    return f"<code>{_escaped(text)}</code>"


def _escaped(text: str) -> str:
    plain = one_line(" ".join(text.split())).translate(_ESCAPED)
    return _LINKED.sub(lambda found: f"&#{ord(found[0])};", plain)


def change_words(change: Change) -> str:
    middle = change.middle
    return faster_words(middle) if middle is not None else ""


def launch_words(change: Change) -> str:
    """Return `large: 1024 / 64`: name and sizes of the launch, as far as there are any."""
    launch = change.launch
    if launch is None:
        return ""
    return f"{launch.name}: {launch.describe()}" if launch.name else launch.describe()


def _time(q: Quantiles | None) -> str:
    return format_duration_us(q.p50) if q is not None else "-"
