"""Edits are applied as the client means them, and old places are followed through them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from server.documents import Document, changed
from server.positions import IndexedText, position_of

UTF16 = types.PositionEncodingKind.Utf16
texts = st.text(st.sampled_from("ab(😀)é\n "), max_size=30)


def opened(text: str) -> Document:
    return Document("file:///a.cl", 1, IndexedText.of(text))


def replacing(document: Document, start: int, end: int, text: str) -> types.TextDocumentContentChangePartial:
    places = [position_of(document.text, offset, UTF16) for offset in (start, end)]
    return types.TextDocumentContentChangePartial(range=types.Range(*places), text=text)


@given(texts, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 10), texts), max_size=5))
def test_edits_give_the_text_that_the_editor_has(before: str, edits: list[tuple[int, int, str]]) -> None:
    document, expected = opened(before), before
    for start, length, text in edits:
        begin = min(start, len(expected))
        end = min(begin + length, len(expected))
        document = changed(document, document.version + 1, [replacing(document, begin, end, text)], UTF16)
        expected = expected[:begin] + text + expected[end:]
        assert document.text.value == expected


@given(texts, texts, texts, texts)
def test_a_place_outside_an_edit_keeps_its_surroundings(before: str, old: str, new: str, after: str) -> None:
    document = opened(f"{before}|{old}|{after}")
    start = len(before) + 1
    edited = changed(document, 2, [replacing(document, start, start + len(old), new)], UTF16)
    assert edited.text.value == f"{before}|{new}|{after}"
    assert edited.moved(len(before), 0) == len(before)
    assert edited.moved(start + len(old) + 1, 0) == start + len(new) + 1


@given(texts, texts, texts, texts)
def test_a_client_that_sends_whole_texts_moves_places_too(before: str, old: str, new: str, after: str) -> None:
    document = opened(f"{before}<{old}>{after}#")
    edited = changed(document, 2, [types.TextDocumentContentChangeWholeDocument(f"{before}<{new}>{after}#")], UTF16)
    assert edited.moved(len(document.text.value), 0) == len(edited.text.value)
    assert edited.moved(0, 0) == 0


def test_places_in_deleted_text_end_where_it_was() -> None:
    document = opened("keep delete keep")
    edited = changed(document, 2, [replacing(document, 5, 12, "")], UTF16)
    assert edited.moved(8, 0) == 5


def test_several_changes_of_one_notification_apply_in_their_order() -> None:
    document = opened("abc")
    first = types.TextDocumentContentChangePartial(
        range=types.Range(types.Position(0, 0), types.Position(0, 0)), text="x\n"
    )
    second = types.TextDocumentContentChangePartial(
        range=types.Range(types.Position(1, 3), types.Position(1, 3)), text="!"
    )
    edited = changed(document, 2, [first, second], UTF16)
    assert edited.text.value == "x\nabc!"
    assert edited.moved(3, 0) == 5


def test_a_document_that_is_no_file_has_no_path() -> None:
    assert Document("untitled:Untitled-1", 1, IndexedText.of("")).path is None
    path = Document("file:///a%20b/k.cl", 1, IndexedText.of("")).path
    assert path is not None
    assert path.name == "k.cl"
    assert path.parent.name == "a b"


def opened_in(text: str, *edits: tuple[int, int, str]) -> Document:
    """A document of one line after edits that count in UTF-16 units."""
    document = opened(text)
    for start, end, new in edits:
        where = types.Range(types.Position(0, start), types.Position(0, end))
        document = changed(
            document, document.version + 1, [types.TextDocumentContentChangePartial(range=where, text=new)], UTF16
        )
    return document


def test_a_character_deleted_half_by_half_is_gone() -> None:
    assert opened_in("a😀b", (1, 2, "")).text.value == "a\ufffdb"
    assert opened_in("a😀b", (1, 2, ""), (1, 2, "")).text.value == "ab"


def test_a_character_whose_halves_meet_again_is_whole_again() -> None:
    assert opened_in("a😀b", (2, 2, "x")).text.value == "a\ufffdx\ufffdb"
    together = opened_in("a😀b", (2, 2, "x"), (2, 3, ""))
    assert together.text.value == "a😀b"
    assert together.moved(3, 0) == 3
    assert opened_in("ab", (1, 1, "\ud83d"), (2, 2, "\ude00")).text.value == "a😀b"


def test_names_that_no_file_can_have_are_no_paths() -> None:
    for uri in ("file:///a%00b.cl", "file://[/k.cl", "file:///\ud800.cl", "file:k.cl", "file:", "git:/k.cl", ""):
        assert Document(uri, 1, IndexedText.of("")).path is None, uri
