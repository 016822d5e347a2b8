"""The real server under nonsense: each request is answered once, the server stays, and its texts are the editor's.

`make fuzz ARGS="--protocol"` does this at length.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from lsprotocol import types

from server.documents import Document, changed
from server.positions import IndexedText, position_of
from tests.fuzz.protocol.document import CODECS, EditorsText, edit
from tests.fuzz.protocol.expect import answers_to
from tests.fuzz.protocol.meta import ANSWERED, METHODS, Values, converter
from tests.fuzz.protocol.run import script_of
from tests.fuzz.protocol.script import SETTLE, Script, load, plain
from tests.fuzz.protocol.session import play
from tests.fuzz.protocol.texts import Texts
from tests.fuzz.sources import own_sources

SEED = 20_240
HANG_S = 20.0  # far beyond what `make fuzz` allows: here a loop without end counts, not how fast this machine is
STATES = 150


@pytest.mark.e2e
@pytest.mark.parametrize(("kind", "number", "length"), [("messages", 0, 150), ("messages", 1, 150), ("states", 0, 200)])
def test_whatever_a_client_sends_each_request_gets_one_answer(kind: str, number: int, length: int) -> None:
    report = play(script_of(own_sources(), kind, SEED, number, length), HANG_S)
    assert report.fault == ""
    assert report.answers > 0


@pytest.mark.e2e
def test_the_fuzzer_sees_a_server_that_is_gone() -> None:
    """A watchdog that never barks would let everything pass."""
    hello = plain({"id": 1, "method": "initialize", "params": {"processId": None, "capabilities": {}}})
    leaving = [plain({"id": "the end", "method": "shutdown"}), SETTLE, plain({"method": "exit"})]
    assert play(Script("leaves", (hello, SETTLE, *leaving)), HANG_S).fault == ""
    early = play(Script("leaves early", (hello, SETTLE, *leaving, plain({"id": 2, "method": "x"}), SETTLE)), HANG_S)
    assert "the server ended in the middle, with status 0" in early.fault


@pytest.mark.parametrize("encoding", CODECS)
@pytest.mark.parametrize("number", range(4))
def test_after_any_edits_the_server_has_the_text_and_the_places_of_the_editor(encoding: str, number: int) -> None:
    chance = random.Random(f"{encoding} {number}")
    text = Texts(own_sources()).some(chance)
    if encoding != "utf-16":
        text = text.encode("utf-8", "replace").decode()
    editor = EditorsText.of(text, encoding)
    document = Document("file:///k.cl", 0, IndexedText.of(text))
    size = CODECS[encoding][1]
    for version in range(STATES):
        told = [edit(chance, editor) for _ in range(chance.choice((1, 1, 2, 3)))]
        sent = {"textDocument": {"uri": document.uri, "version": version}, "contentChanges": told}
        changes = converter().structure(sent, types.DidChangeTextDocumentParams).content_changes
        document = changed(document, version, changes, encoding)
        assert document.text.value == editor.text
        assert len(document.text.line_starts) == len(editor.lines())
        line = chance.randrange(len(editor.lines()))
        start, end = editor.lines()[line]
        assert position_of(document.text, document.text.line_end(line), encoding) == types.Position(line, end - start)
    assert len(editor.data) % size == 0


def test_messages_of_every_method_in_both_directions_are_composed_from_the_meta_model() -> None:
    values = Values(random.Random(SEED), ["file:///k.cl"], ["__kernel void k() {}"])
    assert len(METHODS) > 90
    for method in METHODS:
        message = values.message(method)
        assert message["method"] == method
        assert converter().structure(message, types.METHOD_TO_TYPES[method][0])
        json.dumps(message)
    for method in ANSWERED:
        json.dumps(values.result(method))


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        (b'{"jsonrpc": "2.0", "id": 1, "method": "a"}', ("int", 1)),
        (b'{"jsonrpc": "2.0", "id": "1", "method": "a"}', ("str", "1")),
        (b'{"jsonrpc": "2.0", "id": null, "method": "a"}', ("null", None)),
        (b'{"jsonrpc": "2.0", "id": 1, "result": 1}', None),
        (b'{"jsonrpc": "2.0", "method": "a"}', None),
        (b"[]", ("null", None)),
        (b"", ("null", None)),
    ],
)
def test_the_fuzzer_knows_which_answer_is_due(message: bytes, answer: object) -> None:
    assert answers_to(message) == answer


def test_a_session_is_the_same_whichever_were_made_before_it_and_can_be_kept(tmp_path: Path) -> None:
    sources = own_sources()
    first = script_of(sources, "messages", SEED, 7)
    script_of(sources, "states", SEED, 8)
    assert script_of(sources, "messages", SEED, 7) == first
    first.save(tmp_path / "7.json")
    assert load(tmp_path / "7.json") == first
