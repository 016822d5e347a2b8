"""What becomes of an edit once it was measured: kept if the user likes it, else taken back to the last byte."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types

from server.documents import Document
from server.features.apply_and_measure import _decided
from server.positions import IndexedText
from server.snapshot import Snapshot
from server.text.fixes import Proof

pytestmark = pytest.mark.asyncio

PROOF = Proof(2.3, 2.1, 2.5, 1900.0, 830.0, True, 0, "results equal")
SLOWER = replace(PROOF, speed_up=0.9, low=0.8, high=0.95)
UNSURE = replace(PROOF, speed_up=1.1, low=0.9, high=1.4)
WRONG = replace(PROOF, is_equal=False, max_ulps=None, results="results differ: `b[1]` is 7 instead of 5")


class Client:
    """An editor that has made the edit, and does what it is asked."""

    def __init__(self, snapshot: Snapshot, text: str, answer: str | None = "Keep") -> None:
        self._document = replace(snapshot.document, text=IndexedText.of(text), serial=1)
        self.supports = SimpleNamespace(versioned_edits=False)
        self.encoding = types.PositionEncodingKind.Utf16
        self.said: list[str] = []
        self._answer = answer

    @property
    def text(self) -> str:
        return self._document.text.value

    def document(self, _uri: str) -> Document:
        return self._document

    def say(self, _kind: types.MessageType, message: str) -> None:
        self.said.append(message)

    async def workspace_apply_edit_async(self, params: types.ApplyWorkspaceEditParams) -> Any:
        (edits,) = (params.edit.changes or {}).values()
        lines = self.text.split("\n")
        for edit in reversed(edits):
            assert edit.range.start.line == edit.range.end.line
            line = lines[edit.range.start.line]
            changed = line[: edit.range.start.character] + edit.new_text + line[edit.range.end.character :]
            lines[edit.range.start.line] = changed
        self._document = replace(self._document, text=IndexedText.of("\n".join(lines)))
        return types.ApplyWorkspaceEditResult(applied=True)

    async def window_show_message_request_async(self, params: types.ShowMessageRequestParams) -> Any:
        self.said.append(params.message)
        return types.MessageActionItem(self._answer) if self._answer else None


@pytest.fixture
def snapshot(snapshot_of: Callable[..., Snapshot]) -> Snapshot:
    return snapshot_of("__kernel void blur(int n) {\n  a[0] = 1;\n  n++;\n  b[0] = 2;\n}\n")


async def decided(client: Client, snapshot: Snapshot, edited: str, proof: Proof, promise: str = "") -> bool:
    fix: Any = SimpleNamespace(fix=SimpleNamespace(title="Swap", promise=promise), text=edited)
    server: Any = client
    return await _decided(server, snapshot.document.uri, snapshot, fix, proof)


@pytest.mark.parametrize("proof", [SLOWER, UNSURE, WRONG])
async def test_what_is_not_proved_is_taken_back(snapshot: Snapshot, proof: Proof) -> None:
    before = snapshot.document.text.value
    edited = before.replace("a[0]", "x[0]").replace("= 2", "= 22")
    client = Client(snapshot, edited)
    assert not await decided(client, snapshot, edited, proof)
    assert client.text == before
    (said,) = client.said
    assert said.startswith("Swap: ")
    assert said.endswith("; taken back.")


async def test_what_is_proved_stays_as_the_user_wants_and_its_promise_is_said(snapshot: Snapshot) -> None:
    edited = snapshot.document.text.value.replace("a[0]", "x[0]")
    client = Client(snapshot, edited)
    assert await decided(client, snapshot, edited, PROOF, "the host swaps its sizes")
    assert client.text == edited
    assert client.said == [
        "Swap: 2.3x faster (1.9 ms -> 830 µs), results equal. Right only if the host swaps its sizes."
    ]


@pytest.mark.parametrize("answer", ["Revert", None])
async def test_the_user_may_revert(snapshot: Snapshot, answer: str | None) -> None:
    before = snapshot.document.text.value
    edited = before.replace("a[0]", "x[0]")
    client = Client(snapshot, edited, answer)
    assert await decided(client, snapshot, edited, PROOF) == (answer is None)
    assert client.text == (edited if answer is None else before)


async def test_text_that_was_typed_meanwhile_is_not_touched(snapshot: Snapshot) -> None:
    edited = snapshot.document.text.value.replace("a[0]", "x[0]")
    client = Client(snapshot, edited + "// more\n")
    assert not await decided(client, snapshot, edited, SLOWER)
    assert client.text == edited + "// more\n"
    assert any("has changed since" in said for said in client.said)
