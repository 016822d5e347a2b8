"""Lenses are there for those who turn them on, and offer to run a kernel only where one may run; symbols have times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lsprotocol import types

from server.client.settings import read_settings
from server.features.requests import code_lenses, document_symbols
from server.snapshot import Snapshot

Snapshots = Callable[..., Snapshot]
ON, _ = read_settings({"codeLens": {"enabled": True}})


def titles(snapshot: Snapshot) -> list[str]:
    return [lens.command.title for lens in code_lenses(snapshot) if lens.command]


def test_lenses_are_off_unless_they_are_wanted(snapshot_of: Snapshots) -> None:
    snapshot = snapshot_of()
    assert titles(snapshot) == []
    shown = replace(snapshot, settings=ON)
    assert titles(shown) == ["Measure", "Report", "Tune"]
    name = shown.range(shown.kernels[0].kernel.name_range)
    assert {lens.range.start.line for lens in code_lenses(shown)} == {name.start.line}


def test_untrusted_folders_offer_nothing_that_runs(snapshot_of: Snapshots) -> None:
    assert titles(replace(snapshot_of(), settings=ON, trusted=False)) == ["Report"]


def test_the_outline_has_every_kernel_with_what_its_hint_says(snapshot_of: Snapshots) -> None:
    snapshot = snapshot_of("__kernel void a(int n) {}\n__kernel void b(int n) {}\n")
    found = document_symbols(snapshot, hierarchical=True)
    named = [(each.name, each.detail) for each in found if isinstance(each, types.DocumentSymbol)]
    assert named == [(view.kernel.name, view.label) for view in snapshot.kernels]
    flat = document_symbols(snapshot, hierarchical=False)
    assert [each.name for each in flat] == ["a", "b"]
    assert all(isinstance(each, types.SymbolInformation) for each in flat)
