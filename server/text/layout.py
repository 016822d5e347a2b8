"""Layout of a hover's text: aligned figures for terminals and editors alike, and sentences that wrap.

Figures stand in fenced blocks, not in tables: terminals show a table's pipes, and break its rows.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from server.text.escaping import inline, line_of_paragraph

WIDTH = 76  # with a border on either side this fits 80 columns; VS Code's hovers are a little wider
LABEL_WIDTH = 13
_GAP = "  "
_BEFORE_A_UNIT = re.compile(r"(?<=\d) (?=\S)")
_CODE = re.compile(r"`[^`]*`")
_NO_BREAK = "\u00a0"
_LEAST_ROOM = 20


@dataclass(frozen=True, slots=True)
class Section:
    """`figures` are lines whose columns are aligned already; `notes` are sentences."""

    title: str
    figures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Story:
    """`lead` says what launch it is about, what of that was guessed, and the answer; the rest says why and how sure."""

    lead: str
    sections: tuple[Section, ...]


def labelled(rows: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """`Label  value`, long values wrapped behind their labels."""
    return tuple(line for label, value in rows for line in _hung(f"{label:<{LABEL_WIDTH}}{_GAP}", plain(value)))


def _hung(head: str, text: str) -> list[str]:
    """Return the text behind its head; figures stay with their units."""
    whole = _BEFORE_A_UNIT.sub(_NO_BREAK, text)
    first, *others = textwrap.wrap(whole, max(WIDTH - len(head), _LEAST_ROOM)) or [""]
    lines = [head + first, *(" " * len(head) + other for other in others)]
    return [line.replace(_NO_BREAK, " ").rstrip() for line in lines]


def in_columns(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> tuple[str, ...]:
    """Return the rows as lines, each column as wide as its widest cell.

    Columns in `right` are flush right; the last column is wrapped, never cut.
    """
    if not rows:
        return ()
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]) - 1)]
    lines: list[str] = []
    for *cells, last in rows:
        padded = [
            f"{cell:>{width}}" if place in right else f"{cell:<{width}}"
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        lines += _hung("".join(f"{cell}{_GAP}" for cell in padded), last)
    return tuple(lines)


def plain(text: str) -> str:
    """Return the text without Markdown's marks, on one line."""
    return " ".join(text.replace("`", "").replace("**", "").split())


def as_markdown(story: Story) -> str:
    parts = [line_of_paragraph(inline(story.lead))]
    for section in story.sections:
        if title := inline(section.title):
            parts.append(line_of_paragraph(f"**{title}**"))  # one of asterisks alone would be a rule
        if section.figures:
            # Named `text`: VS Code colours a block without a name as if it were the document's language.
            parts.append("\n".join(("```text", *section.figures, "```")))
        if section.notes:
            parts.append(_notes(replace(section, notes=tuple(map(inline, section.notes))), line_of_paragraph))
    return "\n\n".join(parts) + "\n"


def as_plain_text(story: Story) -> str:
    lines = [plain(story.lead)]
    for section in story.sections:
        lines += ["", section.title] if section.title else [""]
        lines += [f"  {line}" for line in section.figures]
        lines += _notes(section).replace("`", "").splitlines()
    return "\n".join(lines) + "\n"


def _notes(section: Section, each_line: Callable[[str], str] = str) -> str:
    """Return a list under a title, paragraphs without one."""
    if not section.title:
        return "\n\n".join(_filled(note, "", each_line) for note in section.notes)
    return "\n".join(_filled(note, "- ", each_line) for note in section.notes)


def _filled(text: str, mark: str, each_line: Callable[[str], str]) -> str:
    """Wrap the text at spaces, never inside backticks, which may hold a path or a command to copy."""
    whole = _CODE.sub(lambda code: code[0].replace(" ", _NO_BREAK), text)
    lines = textwrap.wrap(whole, WIDTH - len(mark), break_long_words=False, break_on_hyphens=False)
    behind = " " * len(mark)
    told = [f"{behind if place else mark}{each_line(line)}" for place, line in enumerate(lines)]
    return "\n".join(told).replace(_NO_BREAK, " ")
