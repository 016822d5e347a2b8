"""Hints outlive the moments in which their kernel cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from lsprotocol import types

from model.forecast import FileForecast
from server.analysis.keep_last_prediction import carry_over
from server.documents import changed
from server.features.inlay_hints import inlay_hints
from server.positions import IndexedText, position_of, source_offsets, source_range
from server.snapshot import Analysis, Snapshot

Snapshots = Callable[..., Snapshot]
TEXT = "// é\n__kernel void a(int n) { n; }\n__kernel void b(int n) { n; }\n"


def after(snapshot: Snapshot, at: str, text: str, *, seen: FileForecast, remove: int = 0) -> Snapshot:
    """The snapshot after an edit before `at`, with an analysis that sees what is given."""
    start = snapshot.document.text.value.index(at)
    places = [position_of(snapshot.document.text, o, snapshot.encoding) for o in (start, start + remove)]
    change = types.TextDocumentContentChangePartial(range=types.Range(*places), text=text)
    document = changed(snapshot.document, 2, [change], snapshot.encoding)
    analysis = carry_over(snapshot.analysis, Analysis(2, document, seen, snapshot.analysis.device))
    return replace(snapshot, document=document, analysis=analysis)


def hinted(snapshot: Snapshot) -> list[int]:
    return [hint.position.line for hint in inlay_hints(snapshot)]


def test_a_signature_half_written_keeps_its_hint(
    snapshot_of: Snapshots, forecast_of: Callable[..., FileForecast]
) -> None:
    now = after(snapshot_of(TEXT), "n) { n; }\n__", "__global float *\n", seen=forecast_of(TEXT.split("\n")[2]))
    assert [kernel.name for kernel in now.analysis.forecast.kernels] == ["a", "b"] or hinted(now)


def test_a_comment_being_opened_in_one_kernel_keeps_the_hints_of_those_behind_it(snapshot_of: Snapshots) -> None:
    now = after(snapshot_of(TEXT), "n; }\n__", "\n/* why", seen=FileForecast())
    assert hinted(now) == [1, 3]


@pytest.mark.parametrize("at", ["__kernel void a", "// é"])
def test_a_kernel_commented_out_from_before_it_loses_its_hint(snapshot_of: Snapshots, at: str) -> None:
    assert hinted(after(snapshot_of(TEXT), at, "/*", seen=FileForecast())) == []


def test_a_kernel_that_is_deleted_loses_its_hint(snapshot_of: Snapshots) -> None:
    whole = "__kernel void a(int n) { n; }\n"
    assert hinted(after(snapshot_of(TEXT), whole, "", remove=len(whole), seen=FileForecast())) == []


def test_a_kernel_that_is_renamed_is_not_there_twice(
    snapshot_of: Snapshots, forecast_of: Callable[..., FileForecast]
) -> None:
    now = after(snapshot_of(TEXT), "a(int", "c", remove=1, seen=forecast_of(TEXT.replace("a(int", "c(int")))
    assert [kernel.name for kernel in now.analysis.forecast.kernels] == ["c", "b"]


@pytest.mark.parametrize(("typed_before", "seen"), [("n; }", [3]), ("m; }", [1, 2])])
def test_a_hidden_kernel_keeps_its_hint_where_another_has_its_name(
    snapshot_of: Snapshots, forecast_of: Callable[..., FileForecast], typed_before: str, seen: list[int]
) -> None:
    text = f"{TEXT}__kernel void a(int m) {{ m; }}\n"
    lines = (line if number in seen else "" for number, line in enumerate(text.split("\n")))
    now = after(snapshot_of(text), typed_before, "/*", seen=forecast_of("\n".join(lines)))
    assert [kernel.name for kernel in now.analysis.forecast.kernels] == ["a", "b", "a"]
    assert hinted(now) == [1, 2, 3]


def test_ranges_of_the_analysis_survive_the_way_to_offsets_and_back() -> None:
    text = IndexedText.of("é😀\r\nb\rc\n")
    for end in range(len(text.value) + 1):
        assert source_offsets(text, source_range(text, 0, end)) == (0, end)
