"""textDocument/publishDiagnostics: for launch annotations and `kernelcast.toml`, and quiet advice on speed.

Errors of the code itself are left to other language servers and compilers, since two voices on one error help nobody.
Only what the compiler for the chosen device refuses, or does not survive, is told, as a warning: the user's own
compiler may differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from lsprotocol import types

from server.analysis.devices import unknown_compared_message
from server.positions import range_of
from server.snapshot import Analysis, KernelView, Snapshot
from server.text.advice import Told, advice_of

SOURCE = "kernelcast"
_SEVERITIES = {"hint": types.DiagnosticSeverity.Hint, "information": types.DiagnosticSeverity.Information}


def diagnostics(snapshot: Snapshot) -> list[types.Diagnostic]:
    """Return all of a document at once: what is published replaces what was."""
    return [*annotation_diagnostics(snapshot), *advice_diagnostics(snapshot), *compile_diagnostics(snapshot)]


def compile_diagnostics(snapshot: Snapshot) -> list[types.Diagnostic]:
    """Return what a target's compiler refuses, until it compiles again; the places follow the edits meanwhile."""
    document = snapshot.document
    moved = [each.moved(document) for each in snapshot.refused]
    return [
        types.Diagnostic(
            range=range_of(document.text, each.start, each.end, snapshot.encoding),
            message=each.message,
            severity=types.DiagnosticSeverity.Warning,
            source=f"{SOURCE} ({each.target})",
            code="compile",
        )
        for each in moved
    ]


def advice_diagnostics(snapshot: Snapshot) -> list[types.Diagnostic]:
    """Return advice as diagnostics: on its line, or on the kernel's name if it is about a whole launch."""
    return [
        types.Diagnostic(
            range=_place(snapshot, view, told),
            message=told.text,
            severity=_severity(snapshot, told),
            source=SOURCE,
            code=str(told.advice.code),
        )
        for view in snapshot.kernels
        for told in advice_of(view, snapshot.settings)
    ]


def _severity(snapshot: Snapshot, told: Told) -> types.DiagnosticSeverity:
    """Return the diagnostic severity: what is undefined is more than a hint, though no error of the language."""
    return types.DiagnosticSeverity.Information if told.advice.is_fault else _SEVERITIES[snapshot.settings.advice]


def _place(snapshot: Snapshot, view: KernelView, told: Told) -> types.Range:
    line, before = told.advice.line, snapshot.analysis.document
    starts = before.text.feed_starts
    if line is None or not 0 <= line < len(starts):
        return snapshot.range(view.kernel.name_range)
    end = starts[line + 1] if line + 1 < len(starts) else len(before.text.value)
    text = before.text.value[starts[line] : end]
    first = starts[line] + len(text) - len(text.lstrip())
    last = max(first, starts[line] + len(text.rstrip()))
    moved = snapshot.document.moved
    start, stop = moved(first, before.serial), moved(last, before.serial)
    return range_of(snapshot.document.text, start, max(start, stop), snapshot.encoding)


def annotation_diagnostics(snapshot: Snapshot) -> list[types.Diagnostic]:
    return [
        types.Diagnostic(
            range=snapshot.range(problem.range),
            message=problem.message,
            severity=types.DiagnosticSeverity.Error,
            source=SOURCE,
            code=problem.code,
        )
        for problem in snapshot.analysis.forecast.annotation_problems
        if problem.range is not None
    ]


def config_diagnostics(analysis: Analysis, *, knows_devices: bool = False) -> list[types.Diagnostic]:
    """Return diagnostics for the configuration file: whole lines, since TOML parsers name no more than that.

    Ids of devices can be judged only if it `knows_devices` of this machine.
    """
    problem = analysis.config_problem
    if problem is not None:
        return [_of_config(problem.line, problem.message, types.DiagnosticSeverity.Error)]
    if analysis.compared_line is None or not knows_devices:
        return []
    return [
        _of_config(analysis.compared_line, unknown_compared_message(name), types.DiagnosticSeverity.Warning)
        for name in analysis.unknown_compared
    ]


def _of_config(line: int | None, message: str, severity: types.DiagnosticSeverity) -> types.Diagnostic:
    start = max(0, (line or 1) - 1)
    return types.Diagnostic(
        range=types.Range(types.Position(start, 0), types.Position(start + 1, 0)),
        message=message,
        severity=severity,
        source=SOURCE,
        code="config",
    )


class Client(Protocol):
    """The part of the server's session that diagnostics need."""

    def text_document_publish_diagnostics(self, params: types.PublishDiagnosticsParams) -> None: ...


class PublishedDiagnostics:
    """Remembers which diagnostics the client has of each document."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._published: dict[str, Sequence[types.Diagnostic]] = {}

    def publish(self, uri: str, document_version: int | None, found: Sequence[types.Diagnostic]) -> None:
        """Send these diagnostics unless the client has the same."""
        if self._published.get(uri, []) == found:
            return
        if found:
            self._published[uri] = found
        else:
            del self._published[uri]
        self._client.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, version=document_version, diagnostics=found)
        )
