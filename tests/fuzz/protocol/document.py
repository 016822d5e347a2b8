"""A document as an editor that counts in UTF-16, UTF-8 or UTF-32 keeps it, and the edits that it would send.

Written apart from the server's own: the text is a list of units, and lines are looked for anew each time.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

CODECS = {"utf-16": ("utf-16-le", 2), "utf-8": ("utf-8", 1), "utf-32": ("utf-32-le", 4)}
_PIECES = (
    "", "", "a", "\n", "\r\n", "\r", "\ufeff", "é", "😀", "🇩🇪", "\u2028", "\x0c", "\x85", "\x00", "{", "}", "/*", "*/",
    '"', "#if 0\n", "#endif\n", "float x = 1.0f;\r\n", "__kernel void more(__global int *a) { a[0] = 1; }\n", "// 😀\n",
    "\\\n", "\ufffd", "e\u0301", "barrier(CLK_LOCAL_MEM_FENCE);\n", "// kernelcast: global=64 local=8\n",
)  # fmt: skip
_HALVES = ("\ud83d", "\ude00", "\ude00x", "a\ud83d")


@dataclass
class EditorsText:
    """`data` is the text in units of the encoding; halves of characters are possible in UTF-16 alone."""

    data: bytes
    encoding: str

    @classmethod
    def of(cls, text: str, encoding: str) -> EditorsText:
        return cls(text.encode(CODECS[encoding][0], "surrogatepass"), encoding)

    @property
    def text(self) -> str:
        """With each half that stands alone as U+FFFD."""
        told = self.data.decode(CODECS[self.encoding][0], "surrogatepass")
        return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in told)

    def lines(self) -> list[tuple[int, int]]:
        """Where each starts and ends, in units, without its line end."""
        codec, size = CODECS[self.encoding]
        feed, back = "\n".encode(codec), "\r".encode(codec)
        found, start, at = [], 0, 0
        while at < len(self.data):
            unit = self.data[at : at + size]
            if unit not in (feed, back):
                at += size
                continue
            found.append((start // size, at // size))
            at += 2 * size if unit == back and self.data[at + size : at + 2 * size] == feed else size
            start = at
        return [*found, (start // size, len(self.data) // size)]

    def replace(self, start: int, end: int, text: str) -> None:
        """Between two units."""
        codec, size = CODECS[self.encoding]
        self.data = self.data[: start * size] + text.encode(codec, "surrogatepass") + self.data[end * size :]


def edit(chance: random.Random, document: EditorsText) -> dict[str, Any]:
    """One change by chance, made here and as `contentChanges` tells it."""
    pieces = (*_PIECES, *_HALVES) if document.encoding == "utf-16" and chance.random() < 0.3 else _PIECES
    text = chance.choice(pieces) if chance.random() < 0.9 else "".join(chance.choices(pieces, k=8))
    if chance.random() < 0.02:
        document.data = b""
        document.replace(0, 0, text)
        return {"text": text}
    lines = document.lines()
    (first, at), (last, to) = sorted(_place(chance, document, lines) for _ in range(2))
    if chance.random() < 0.7:
        last, to = first, at + chance.choice((0, 0, 0, 1, 1, 2, 5))
        to = min(to, lines[last][1] - lines[last][0])
        if not _is_border(document, lines[last][0] + to):
            to = at
    document.replace(lines[first][0] + at, lines[last][0] + to, text)
    beyond = chance.random() < 0.05 and to == lines[last][1] - lines[last][0]
    where = {"start": {"line": first, "character": at}, "end": {"line": last, "character": to + 9 * beyond}}
    return {"range": where, "text": text}


def _place(chance: random.Random, document: EditorsText, lines: list[tuple[int, int]]) -> tuple[int, int]:
    """Line and column. In UTF-8 and UTF-32 no editor stands inside a character; in UTF-16 some do."""
    line = chance.randrange(len(lines)) if chance.random() < 0.9 else len(lines) - 1
    start, end = lines[line]
    column = chance.randrange(end - start + 1)
    while not _is_border(document, start + column):
        column -= 1
    return line, column


def _is_border(document: EditorsText, unit: int) -> bool:
    if document.encoding != "utf-8":
        return True
    return unit >= len(document.data) or document.data[unit] & 0xC0 != 0x80
