"""Places in a text: offsets (code points), what an editor counts in (UTF-8/16/32 units), and the model's bytes.

Everything inside the server is an offset into the text; the other two appear only where a message comes in or goes
out, and where the analysis has spoken.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lsprotocol import types

from model.opencl.kernel import SourceRange
from server.line_index import LineIndex

# The protocol's line ends. `str.splitlines` knows eight more (form feed, U+2028 ...), which editors do not count.
_LINE_END = re.compile(r"\r\n|\n|\r")
_LINE_FEED = re.compile("\n")
_SURROGATE = re.compile("[\ud800-\udfff]")

Encoding = types.PositionEncodingKind


@dataclass(frozen=True, slots=True)
class IndexedText:
    """A text, where its lines start for the editor, and where they start for the analysis (line feeds alone).

    `told` is the text as the editor has it: half a character, which an edit may leave behind, is a lone surrogate
    there and U+FFFD in `value`. Both are as wide in every encoding, so that a place in one is the same in the other.
    """

    value: str
    line_starts: LineIndex
    feed_starts: LineIndex
    told: str

    @classmethod
    def of(cls, told: str) -> IndexedText:
        """Index a text; lone surrogates are replaced for the analysis, so that the text can be encoded."""
        value = told
        if _has_halves(told):
            told = _from_utf16(_utf16(told))  # halves that met are one character
            value = _SURROGATE.sub("\ufffd", told)
        starts = LineIndex.of([0, *(end.end() for end in _LINE_END.finditer(value))])
        feeds = starts if "\r" not in value else LineIndex.of([0, *(end.end() for end in _LINE_FEED.finditer(value))])
        return cls(value, starts, feeds, told)

    def edited(self, start: int, end: int, part: str) -> IndexedText:
        """Return the text with `part` in place of [start, end).

        The cost does not grow with the number of lines.
        """
        if self.told is not self.value or _has_halves(part):  # what meets may join
            return IndexedText.of(f"{self.told[:start]}{part}{self.told[end:]}")
        value = f"{self.value[:start]}{part}{self.value[end:]}"
        starts = self.line_starts.edited(value, start, end, len(part), _LINE_END)
        if self.feed_starts is self.line_starts and "\r" not in part:
            return IndexedText(value, starts, starts, value)
        feeds = self.feed_starts.edited(value, start, end, len(part), _LINE_FEED)
        return IndexedText(value, starts, feeds, value)

    def line_at(self, offset: int) -> int:
        return self.line_starts.line_at(offset)

    def line_end(self, line: int) -> int:
        """Return where the line's text ends, before its line end."""
        start, behind = self.line_starts.bounds(line)
        if behind is None:
            return len(self.value)
        end = behind - 1
        return end - 1 if end > start and self.value[end - 1 : end + 1] == "\r\n" else end


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Before a character, or, with `is_cut`, between its two halves in UTF-16."""

    offset: int
    is_cut: bool = False


def place_of(text: IndexedText, position: types.Position, encoding: Encoding | str) -> Place:
    """Return the exact place of an editor's position, for edits; all else uses whole characters."""
    offset = offset_of(text, position, encoding)
    if encoding != Encoding.Utf16 or text.value[offset : offset + 1] <= "\uffff":
        return Place(offset)
    start = text.line_starts[text.line_at(offset)]
    return Place(offset, position.character > _units(text.value[start:offset], encoding))


def offset_of(text: IndexedText, position: types.Position, encoding: Encoding | str) -> int:
    """Return the offset of an editor's position.

    Past the end of a line or of the text means that end (as the protocol says). In the middle of a character means
    before it.
    """
    if position.line >= len(text.line_starts):
        return len(text.value)
    start, end = text.line_starts[position.line], text.line_end(position.line)
    line = text.value[start:end]
    return start + _code_points(line, position.character, encoding)


def replaced(text: IndexedText, start: Place, end: Place, new: str) -> IndexedText:
    """Return the text after an edit. In UTF-16 it can cut characters in two, and halves can meet again."""
    if not (start.is_cut or end.is_cut):
        return text.edited(start.offset, end.offset, new)
    before, after = (_utf16(text.told[: place.offset]) + bytes(2 * place.is_cut) for place in (start, end))
    whole = _utf16(text.told)
    return IndexedText.of(_from_utf16(whole[: len(before)] + _utf16(new) + whole[max(len(before), len(after)) :]))


def position_of(text: IndexedText, offset: int, encoding: Encoding | str) -> types.Position:
    line = text.line_at(offset)
    return types.Position(line, _units(text.value[text.line_starts[line] : offset], encoding))


def range_of(text: IndexedText, start: int, end: int, encoding: Encoding | str) -> types.Range:
    return types.Range(position_of(text, start, encoding), position_of(text, end, encoding))


def source_offsets(text: IndexedText, where: SourceRange) -> tuple[int, int]:
    """Start and end offset of a range of the analysis."""
    return source_offset(text, where.start_line, where.start_byte), source_end(text, where)


def source_end(text: IndexedText, where: SourceRange) -> int:
    return source_offset(text, where.end_line, where.end_byte)


def source_range(text: IndexedText, start: int, end: int) -> SourceRange:
    """Return what the analysis would call the text between two offsets."""
    return SourceRange(*_source_place(text, start), *_source_place(text, end))


def _source_place(text: IndexedText, offset: int) -> tuple[int, int]:
    line = text.feed_starts.line_at(offset)
    return line, len(text.value[text.feed_starts[line] : offset].encode())


def source_offset(text: IndexedText, line: int, byte: int) -> int:
    """Return the offset of a byte of a line, both from 0, as the analysis and compilers count them."""
    starts = text.feed_starts
    if line >= len(starts):
        return len(text.value)
    start, end = starts.bounds(line)
    return start + _code_points(text.value[start:end], byte, Encoding.Utf8)


def _has_halves(text: str) -> bool:
    return not text.isascii() and _SURROGATE.search(text) is not None


def _units(part: str, encoding: Encoding | str) -> int:
    if encoding == Encoding.Utf32 or part.isascii():
        return len(part)
    return len(part.encode()) if encoding == Encoding.Utf8 else len(part.encode("utf-16-le")) // 2


def _code_points(line: str, units: int, encoding: Encoding | str) -> int:
    """Return how many whole characters fit into the first `units` of a line."""
    if encoding == Encoding.Utf32 or line.isascii():
        return min(units, len(line))
    if encoding == Encoding.Utf8:
        return len(line.encode()[:units].decode(errors="ignore"))
    return len(line.encode("utf-16-le")[: 2 * units].decode("utf-16-le", errors="ignore"))


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


def _from_utf16(units: bytes) -> str:
    return units.decode("utf-16-le", "surrogatepass")
