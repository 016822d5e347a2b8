"""What is closed is gone: a server that runs for weeks sees thousands of documents, and holds those that are open."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.workspace import Workspace

from model import readings
from model.opencl.program import read_program
from server.analysis import analyzer as analyzer_module
from server.analysis.analyzer import Analyzer
from server.analysis.request import AnalysisRequest
from server.client.settings import Settings
from server.documents import Document, changed
from server.handlers import create_server
from server.launch_view import Failure, Slot
from server.positions import IndexedText
from server.session import KernelcastServer
from server.snapshot import Analysis

pytestmark = pytest.mark.asyncio

PATIENCE_S = 60.0
MANY, FEW = 1500, 100
MOST_GARBAGE = 10  # objects a document: the preprocessor makes a class for each
GONE = "closed-and-gone"
NOTEBOOK = "file:///work/book.ipynb"
SCALE = """// document {number}
__kernel void scale(__global float *a, int n) {{ int i = get_global_id(0); if (i < n) a[i] = {number}.0f; }}
"""


def strings_below(*roots: object) -> set[str]:
    """All that can be reached from here, through instances, containers and closures."""
    seen: set[int] = set()
    found: set[str] = set()
    stack: list[object] = list(roots)
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            found.add(one)
        elif id(one) not in seen and not isinstance(one, type) and type(one).__name__ not in ("module", "function"):
            seen.add(id(one))
            stack += gc.get_referents(one)
    return found


def alive(kind: type) -> list[Any]:
    """Those that the server has told Python to leave out of its searches, too."""
    gc.unfreeze()
    gc.collect()
    gc.unfreeze()  # searching takes a while, in which another thread of the server may have frozen all there is
    return [each for each in gc.get_objects() if type(each) is kind]


def started_server(monkeypatch: pytest.MonkeyPatch) -> KernelcastServer:
    """Without a client: nobody connects to it."""
    server = create_server()
    monkeypatch.setattr(server.protocol, "_workspace", Workspace(None))
    server.scheduler.start()
    return server


async def open_and_close(server: KernelcastServer, folder: Path, number: int) -> None:
    uri = (folder / f"{GONE}-{number}.cl").as_uri()
    server.put(Document(uri, 1, IndexedText.of(SCALE.format(number=number % 7)), opening=number))
    with server.refresh.asked(uri):
        snapshot = await server.settled(uri, PATIENCE_S)
    assert snapshot is not None
    assert snapshot.kernels
    server.record(uri, snapshot.device.id, Slot("scale", "#0"), Failure("f", "l", snapshot.device.id, "it failed"))
    server.drop(uri)
    server.record(uri, snapshot.device.id, Slot("scale", "#0"), Failure("f", "l", snapshot.device.id, "too late"))


async def test_nothing_is_left_of_thousands_of_closed_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Analyzer] = []

    def analyzer(*given: Any) -> Analyzer:
        made.append(Analyzer(*given))
        return made[-1]

    monkeypatch.setattr(analyzer_module, "Analyzer", analyzer)
    server = started_server(monkeypatch)
    published: list[str] = []
    monkeypatch.setattr(server, "text_document_publish_diagnostics", lambda told: published.append(told.uri))
    try:
        for number in range(MANY):
            await open_and_close(server, tmp_path, number)
        await all_is_forgotten(server, tmp_path)
        left = {each for each in strings_below(server, *made) if GONE in each}
        assert left == set()
        assert [each for each in alive(Document) if GONE in each.uri] == []
        assert [each for each in alive(Analysis) if GONE in each.document.uri] == []
        assert published == [], "there was nothing wrong with any of them"

        gc.collect()
        gc.freeze()  # once more, with all that no test lets go
        gc.disable()  # or what Python collects by itself would hide how much there is
        for number in range(FEW):
            await open_and_close(server, tmp_path, number)
        await all_is_forgotten(server, tmp_path)
        assert gc.collect() < MOST_GARBAGE * FEW, "garbage that no search would ever have found"
    finally:
        gc.enable()
        server.close()


async def all_is_forgotten(server: KernelcastServer, folder: Path) -> None:
    """Wait until nothing is to be forgotten any more, and for one analysis more.

    One thread does both, and a document is taken from its list before it is forgotten: the analysis comes behind that.
    """
    async with asyncio.timeout(PATIENCE_S):
        while server.scheduler.has_work:
            await asyncio.sleep(0)
    server.put(Document((folder / "open.cl").as_uri(), 1, IndexedText.of(SCALE.format(number=8)), opening=MANY))
    await server.settled((folder / "open.cl").as_uri(), PATIENCE_S)


async def test_edits_are_kept_as_long_as_a_place_may_have_to_follow_them(monkeypatch: pytest.MonkeyPatch) -> None:
    server = started_server(monkeypatch)
    uri = "file:///typed.cl"
    server.put(Document(uri, 1, IndexedText.of(SCALE.format(number=1))))
    try:
        for number in range(300):
            document = server.document(uri)
            assert document is not None
            change = types.TextDocumentContentChangePartial(
                range=types.Range(types.Position(0, 2), types.Position(0, 2)), text="x"
            )
            server.put(changed(document, number, [change], types.PositionEncodingKind.Utf16))
            snapshot = await server.settled(uri, PATIENCE_S)
            assert snapshot is not None
            where = snapshot.range(snapshot.kernels[0].kernel.name_range)
            assert (where.start.line, where.start.character) == (1, 14)
        document = server.document(uri)
        assert document is not None
        assert document.serial == 300
        assert len(document.edits) <= 1
    finally:
        server.close()


async def test_nothing_is_left_to_do_for_closed_files_in_which_no_kernel_can_stand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = create_server()
    monkeypatch.setattr(server.protocol, "_workspace", Workspace(None))
    for number in range(10):
        uri = f"file:///plain-{number}.c"
        server.put(Document(uri, 1, IndexedText.of("int nothing;\n"), opening=number))
        server.drop(uri)
    assert not server.scheduler.has_work
    server.close()


@pytest.mark.parametrize("closed", ["vscode-notebook-cell:/book.ipynb#W1", "untitled:Untitled-2"])
async def test_closing_a_document_without_a_file_leaves_the_others_without_one_alone(
    monkeypatch: pytest.MonkeyPatch, closed: str
) -> None:
    read: list[str] = []

    def counted(text: str, *given: Any, **more: Any) -> Any:
        read.append(text)
        return read_program(text, *given, **more)

    monkeypatch.setattr(readings, "read_program", counted)
    analyzer = Analyzer()
    cell = f'S = """\n{SCALE.format(number=2)}"""\n'
    open_documents = [
        Document("untitled:Untitled-1", 1, IndexedText.of(SCALE.format(number=1))),
        Document("vscode-notebook-cell:/book.ipynb#W2", 1, IndexedText.of(cell), language="python", notebook=NOTEBOOK),
    ]
    is_cell = closed.startswith("vscode")
    text, language, notebook = (cell, "python", NOTEBOOK) if is_cell else (SCALE.format(number=3), "", "")
    closing = Document(closed, 1, IndexedText.of(text), language=language, notebook=notebook)
    for document in (*open_documents, closing):
        assert analyzer.analyse(AnalysisRequest(1, document, Settings(), "generic-cpu", ())).forecast.kernels
    assert len(read) == 3
    analyzer.forget(closed)
    for document in open_documents:
        analyzer.analyse(AnalysisRequest(2, document, Settings(), "generic-cpu", ()))
    assert len(read) == 3, "they are still known"
    analyzer.analyse(AnalysisRequest(3, closing, Settings(), "generic-cpu", ()))
    assert len(read) == 4, "it was forgotten"
