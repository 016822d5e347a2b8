"""A long document that is opened: the kernels that are shown have their times before the others."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from pygls.workspace import Workspace

from model.opencl.program import read_program
from server.analysis.analyzer import Analyzer
from server.analysis.request import MOST_AT_ONCE, MOST_FIRST, AnalysisRequest, Window, unsampled_in_order, visible_first
from server.client.capabilities import Supports
from server.client.settings import Settings
from server.documents import Document
from server.features import requests
from server.handlers import create_server
from server.positions import IndexedText

PATIENCE_S = 60.0
URI = "untitled:long"
LINES = 4  # of a kernel
KERNEL = """// kernelcast: global=65536 n=65536 a=65536
__kernel void k{n}(__global float *a, int n) {{
    int i = get_global_id(0); if (i < n) a[i] = a[i] * {n}.0f; }}

"""


def document(count: int, uri: str = URI) -> Document:
    return Document(uri, 1, IndexedText.of("".join(KERNEL.format(n=n) for n in range(count))))


def request(count: int, window: Window | None) -> AnalysisRequest:
    return AnalysisRequest(1, document(count), Settings(), "generic-cpu", (), window=lambda: window)


KERNELS = read_program(document(40).text.value).kernels


def names_of(count: int, window: Window | None) -> list[list[str]]:
    return [[k.name for k in each.forecast.kernels] for each in Analyzer().analyses(request(count, window))]


def test_what_is_shown_comes_first_and_then_everything() -> None:
    first, whole = names_of(40, (20 * LINES, 22 * LINES + 1))
    assert first == ["k20", "k21", "k22"]
    assert whole == [f"k{n}" for n in range(40)]


def test_the_first_kernels_come_first_while_nobody_said_what_is_shown() -> None:
    assert names_of(40, None)[0] == ["k0"]


def test_few_of_them_come_first_where_an_editor_asks_for_the_whole_document() -> None:
    assert names_of(40, (0, 40 * LINES))[0] == [f"k{n}" for n in range(MOST_FIRST)]


def test_a_short_document_is_predicted_once() -> None:
    assert len(names_of(MOST_AT_ONCE, (0, LINES))) == 1


@given(st.integers(0, 60 * LINES), st.integers(0, 50))
def test_wherever_one_looks_something_comes_first_and_first_of_all_what_is_there(top: int, height: int) -> None:
    chosen = visible_first(lambda: (top, top + height))(KERNELS)
    assert 1 <= len(chosen) <= MOST_FIRST
    shown = [k for k in KERNELS if k.range.start_line <= top + height and k.range.end_line >= top]
    assert list(chosen) == shown[:MOST_FIRST] if shown else chosen[0] in KERNELS


def test_both_answers_agree_and_a_later_edit_is_answered_whole() -> None:
    analyzer = Analyzer()
    found = analyzer.analyses(request(40, (0, 3 * LINES)))
    partial, whole = next(found), next(found)  # as the scheduler does, which may stop here
    assert partial.is_partial
    assert not whole.is_partial
    after = {each.kernel.name: each.prediction for each in whole.forecast.forecasts}
    for each in partial.forecast.forecasts:
        assert each.prediction is not None
        assert each.prediction.runtime_us == after[each.kernel.name].runtime_us  # type: ignore[union-attr]
    assert [each.is_partial for each in analyzer.analyses(request(40, (0, 3 * LINES)))] == [False]
    analyzer.forget(URI)
    assert [each.is_partial for each in analyzer.analyses(request(40, (0, 3 * LINES)))] == [True, False]


def test_work_items_of_what_is_shown_are_run_first() -> None:
    text = "".join(KERNEL.format(n=n) for n in range(40)).replace("if (i < n)", "while (i < n && a[i] > 0.5f)")
    unsampled = Document(URI, 1, IndexedText.of(text))
    *_, whole = Analyzer().analyses(AnalysisRequest(1, unsampled, Settings(), "generic-cpu", ()))
    found = [each.kernel for each in unsampled_in_order(whole, lambda: (20 * LINES, 22 * LINES + 1))]
    assert found[:3] == ["k20", "k21", "k22"]
    assert sorted(found) == sorted(f"k{n}" for n in range(40))


@pytest.mark.asyncio
async def test_hints_do_not_wait_for_kernels_that_nobody_sees_and_hovers_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "_FIRST_S", PATIENCE_S)
    server = create_server()
    server.protocol._workspace = Workspace(None)  # what `initialize` makes
    server.put(document(40))
    partial, whole = Analyzer().analyses(
        AnalysisRequest(server._requested[URI], document(40), Settings(), "generic-cpu", (), window=lambda: (0, 1))
    )
    where = types.TextDocumentIdentifier(URI)
    shown = types.Range(types.Position(0, 0), types.Position(LINES, 0))
    asked = asyncio.ensure_future(requests.inlay_hint(server, types.InlayHintParams(where, shown)))
    inside = types.Position(39 * LINES + 1, 15)
    hovered = asyncio.ensure_future(requests.hover(server, types.HoverParams(where, inside)))
    await asyncio.sleep(0)
    assert server.windows[URI] == (0, LINES)
    server.accept(partial)
    async with asyncio.timeout(PATIENCE_S):
        assert len(await asked) == 1
    assert not hovered.done()
    server.accept(whole)
    async with asyncio.timeout(PATIENCE_S):
        assert await hovered is not None
    server.close()


@pytest.mark.asyncio
async def test_hints_do_not_wait_for_an_analysis_that_takes_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "_MOMENT_S", PATIENCE_S)
    server = create_server()
    server.supports = Supports(hint_refresh=True)
    server.protocol._workspace = Workspace(None)
    edited = replace(document(40), serial=1)
    server.put(edited)
    *_, whole = Analyzer().analyses(AnalysisRequest(1, edited, Settings(), "generic-cpu", ()))
    server.accept(replace(whole, taken_s=2 * PATIENCE_S))
    server.put(replace(edited, version=2, serial=2))
    shown = types.Range(types.Position(0, 0), types.Position(40 * LINES, 0))
    asked = requests.inlay_hint(server, types.InlayHintParams(types.TextDocumentIdentifier(URI), shown))
    async with asyncio.timeout(PATIENCE_S / 2):
        assert len(await asked) == 40
    server.close()
