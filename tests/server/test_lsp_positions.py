"""Places in a text mean the same to the editor, to us and to the analysis."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from model.opencl.kernel import SourceRange
from server.positions import IndexedText, offset_of, position_of, source_offsets

ENCODINGS = {
    types.PositionEncodingKind.Utf8: "utf-8",
    types.PositionEncodingKind.Utf16: "utf-16-le",
    types.PositionEncodingKind.Utf32: "utf-32-le",
}
UNIT_BYTES = {"utf-8": 1, "utf-16-le": 2, "utf-32-le": 4}

# Rich in what goes wrong: characters beyond the BMP, every line end, and what only Python takes for one.
texts = st.text(st.sampled_from("ab;{}(é€😀🇩\u0301\u2028\x0c\x85\t ") | st.characters(), max_size=40)
lines = st.lists(st.tuples(texts, st.sampled_from(["\n", "\r\n", "\r"])), max_size=6)
documents = st.builds(lambda parts, last: "".join(a + b for a, b in parts) + last, lines, texts)
encodings = st.sampled_from(list(ENCODINGS))


@given(documents, encodings, st.data())
def test_an_offset_survives_the_way_to_the_editor_and_back(
    value: str, encoding: types.PositionEncodingKind, data: st.DataObject
) -> None:
    text = IndexedText.of(value)
    offset = data.draw(st.integers(0, len(text.value)))
    if text.value[offset - 1 : offset + 1] == "\r\n":
        offset -= 1  # between the two halves of a line end there is no place for a cursor
    assert offset_of(text, position_of(text, offset, encoding), encoding) == offset


@given(documents, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20), documents), max_size=5))
def test_a_text_that_was_edited_is_as_one_that_was_opened_like_that(
    value: str, edits: list[tuple[int, int, str]]
) -> None:
    text = IndexedText.of(value)
    for at, length, part in edits:
        start = min(at, len(text.value))
        end = min(start + length, len(text.value))
        afresh = IndexedText.of(text.value[:start] + part + text.value[end:])
        text = text.edited(start, end, part)
        assert text.value == afresh.value
        assert [*text.line_starts] == [*afresh.line_starts]
        assert [*text.feed_starts] == [*afresh.feed_starts]


@given(st.integers(0, 3000), st.integers(0, 1500), st.integers(0, 1500))
def test_an_edit_over_many_lines_leaves_each_line_where_it_stands(at: int, gone: int, come: int) -> None:
    text = IndexedText.of("ab;\n" * 2000).edited(at, at + gone, "\n" * come)
    afresh = IndexedText.of(text.value)
    assert [*text.line_starts] == [*afresh.line_starts]
    assert [text.line_at(offset) for offset in range(0, len(text.value), 97)] == [
        afresh.line_at(offset) for offset in range(0, len(text.value), 97)
    ]
    assert text.line_starts[len(text.line_starts) - 1] == afresh.line_starts[-1]


@given(documents, encodings)
def test_columns_count_what_the_encoding_counts(value: str, encoding: types.PositionEncodingKind) -> None:
    text = IndexedText.of(value)
    codec = ENCODINGS[encoding]
    for line, start in enumerate(text.line_starts):
        end = text.line_end(line)
        position = position_of(text, end, encoding)
        assert position == types.Position(line, len(text.value[start:end].encode(codec)) // UNIT_BYTES[codec])


@given(documents, encodings, st.integers(0, 9), st.integers(0, 99))
def test_any_position_of_an_editor_is_some_place_in_the_text(
    value: str, encoding: types.PositionEncodingKind, line: int, character: int
) -> None:
    text = IndexedText.of(value)
    offset = offset_of(text, types.Position(line, character), encoding)
    assert 0 <= offset <= len(text.value)
    if line < len(text.line_starts):
        assert text.line_starts[line] <= offset <= text.line_end(line)


@given(documents, st.data())
def test_byte_columns_of_the_analysis_find_their_characters(value: str, data: st.DataObject) -> None:
    text = IndexedText.of(value)
    start = data.draw(st.integers(0, len(text.value)))
    end = data.draw(st.integers(start, len(text.value)))
    assert source_offsets(text, _source_range(text.value, start, end)) == (start, end)


def _source_range(value: str, start: int, end: int) -> SourceRange:
    def place(offset: int) -> tuple[int, int]:
        return value.count("\n", 0, offset), len(value[value.rfind("\n", 0, offset) + 1 : offset].encode())

    return SourceRange(*place(start), *place(end))


@pytest.mark.parametrize(("encoding", "column"), [*zip(ENCODINGS, (7, 5, 4), strict=True)])
def test_a_character_outside_the_bmp_is_as_wide_as_the_client_counts(
    encoding: types.PositionEncodingKind, column: int
) -> None:
    assert position_of(IndexedText.of('x="😋"'), 4, encoding) == types.Position(0, column)


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    assert IndexedText.of("a\ud83db").value == "a\ufffdb"


def test_a_form_feed_ends_no_line() -> None:
    assert [*IndexedText.of("a\x0cb\nc").line_starts] == [0, 4]
