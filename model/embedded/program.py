"""A program in a host file: its text as the host's compiler has it, and where each character of it is written."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Piece:
    """`text` is what the host's characters [start, end) mean: each itself if `is_verbatim`, else all of them together.

    Escapes are translated as a whole, and so is a field that the host fills in at run time.
    """

    text: str
    start: int
    end: int
    is_verbatim: bool = False

    @property
    def is_added(self) -> bool:
        """Whether this is a line end that the host does not have (see `with_line_breaks`)."""
        return self.text == "\n" and self.end == self.start


@dataclass(frozen=True, slots=True)
class Literal:
    """One literal of a program: [start, end) of the host, of which [body_start, body_end) is between the quotes.

    How text is written in it: with escapes unless `is_raw`, over several lines if `is_multiline`, and the characters of
    `doubled` twice.
    """

    start: int
    end: int
    body_start: int
    body_end: int
    is_raw: bool = False
    is_multiline: bool = False
    doubled: str = ""


@dataclass(frozen=True, slots=True)
class Filled:
    """A stand-in for text that the host completes when it runs. `offset` is in the program's text.

    `is_recorded`: it stood there when the program was recorded.
    """

    name: str  # as the host writes it: `%(type)s`
    stand_in: str
    offset: int
    is_number: bool
    is_recorded: bool = False


@dataclass(frozen=True)
class EmbeddedProgram:
    """One program: what its literals hold together, in the order of the text."""

    pieces: tuple[Piece, ...]
    literals: tuple[Literal, ...]
    filled: tuple[Filled, ...] = ()

    @cached_property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    @cached_property
    def exact_text(self) -> str:
        """The text as the host's compiler has it, without the line ends that only make its lines the host's."""
        return "".join(piece.text for piece in self.pieces if not piece.is_added)

    def host_start(self, offset: int) -> int:
        """Return where the host writes the character at `offset`; for the end of the text, where its last one ends."""
        at = bisect_right(self.starts, offset) - 1
        if at >= len(self.pieces):
            return self.pieces[-1].end if self.pieces else 0
        piece = self.pieces[at]
        return piece.start + offset - self.starts[at] if piece.is_verbatim else piece.start

    def host_end(self, offset: int) -> int:
        """Return where the host has written the characters before `offset`: the end of a range that ends there."""
        at = bisect_left(self.starts, offset) - 1
        if at < 0:
            return self.pieces[0].start if self.pieces else 0
        piece = self.pieces[min(at, len(self.pieces) - 1)]
        return piece.start + offset - self.starts[at] if piece.is_verbatim else piece.end

    def offset_of(self, host: int) -> int | None:
        """Return the offset of what the host writes at `host`; None between the literals and outside of them."""
        at = bisect_right(self._hosts, (host, len(self.pieces))) - 1
        if at < 0:
            return None
        number = self._hosts[at][1]
        piece = self.pieces[number]
        if host >= piece.end:
            return None
        return self.starts[number] + (host - piece.start if piece.is_verbatim else 0)

    def offset_at(self, line: int, byte: int) -> int:
        """Return the offset of a byte of a line of the text, both from 0."""
        starts, text = self.line_starts, self.text
        if line >= len(starts):
            return len(text)
        end = starts[line + 1] if line + 1 < len(starts) else len(text)
        row = text[starts[line] : end]
        if row.isascii():
            return starts[line] + min(byte, len(row))
        return starts[line] + len(row.encode("utf-8", "replace")[:byte].decode("utf-8", "ignore"))

    def pieces_between(self, start: int, end: int) -> Iterator[Piece]:
        """Yield the pieces of the text [start, end); only verbatim pieces are cut."""
        for number in range(max(0, bisect_left(self.starts, start) - 1), len(self.pieces)):
            piece, at = self.pieces[number], self.starts[number]
            if at >= end:
                return
            first, last = max(start, at), min(end, at + len(piece.text))
            if first < last or (not piece.text and start <= at):
                if piece.is_verbatim:
                    text = piece.text[first - at : last - at]
                    yield Piece(text, piece.start + first - at, piece.start + last - at, True)
                else:
                    yield piece

    def literal_at(self, host: int) -> Literal | None:
        """Return the literal whose text `host` stands in."""
        return next((each for each in self.literals if each.body_start <= host <= each.body_end), None)

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        return line_starts(self.text)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Offsets at which pieces begin, and the end of the text."""
        return tuple(accumulate((len(piece.text) for piece in self.pieces), initial=0))

    @cached_property
    def _hosts(self) -> list[tuple[int, int]]:
        """Return start in the host and number of each piece, by start: what a text uses may be defined behind it."""
        return sorted((piece.start, number) for number, piece in enumerate(self.pieces) if piece.end > piece.start)


def line_starts(text: str) -> tuple[int, ...]:
    return (0, *(match.end() for match in re.finditer("\n", text)))


def verbatim(host: str, start: int, end: int) -> Iterator[Piece]:
    """Yield the host's own characters; line ends of all kinds are line feeds in a literal."""
    at = start
    for match in re.finditer("\r\n?", host[start:end]) if "\r" in host[start:end] else ():
        if start + match.start() > at:
            yield Piece(host[at : start + match.start()], at, start + match.start(), True)
        at = start + match.end()
        yield Piece("\n", start + match.start(), at)
    if at < end:
        yield Piece(host[at:end], at, end, True)


def decoded(host: str, start: int, end: int, escapes: re.Pattern[str], meant: dict[str, str]) -> Iterator[Piece]:
    """Yield the decoded text of [start, end): `escapes` matches escape sequences, `meant` holds the text of some."""
    at = start
    for match in escapes.finditer(host, start, end):
        yield from verbatim(host, at, match.start())
        text = meant[match[0]] if match[0] in meant else _character(match[0])
        yield Piece(_SURROGATE.sub("\ufffd", text), *match.span())
        at = match.end()
    yield from verbatim(host, at, end)


def _character(escape: str) -> str:
    r"""Return the character that `\x41`, `\101`, `\u0041` or `\U00000041` names; beyond the last one, its stand-in."""
    is_octal = escape[1] in "01234567"
    number = int(escape[1:] if is_octal else escape[2:], 8 if is_octal else 16)
    return chr(number) if number <= 0x10FFFF else "\ufffd"


def replaced(pieces: Sequence[Piece], spans: Iterable[tuple[int, int, str]]) -> tuple[Piece, ...]:
    """Return the pieces with another text in each span [start, end) of theirs; spans ascend and lie apart."""
    whole = EmbeddedProgram(tuple(pieces), ())
    found: list[Piece] = []
    at = 0
    for start, end, text in spans:
        found += whole.pieces_between(at, start)
        found.append(Piece(text, whole.host_start(start), max(whole.host_start(start), whole.host_end(end))))
        at = end
    return (*found, *whole.pieces_between(at, len(whole.text)))
