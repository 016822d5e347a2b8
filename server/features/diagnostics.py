"""textDocument/publishDiagnostics: for launch annotations and `kernelcast.toml`, never for the code itself.

Other language servers and compilers speak about the code; two voices on one error help nobody.
"""

from __future__ import annotations

from lsprotocol import types

from server.snapshot import ConfigProblem, Snapshot

SOURCE = "kernelcast"


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


def config_diagnostics(problem: ConfigProblem | None) -> list[types.Diagnostic]:
    """For the configuration file itself: the whole line, since TOML parsers name no more than that."""
    if problem is None:
        return []
    line = max(0, (problem.line or 1) - 1)
    return [
        types.Diagnostic(
            range=types.Range(types.Position(line, 0), types.Position(line + 1, 0)),
            message=problem.message,
            severity=types.DiagnosticSeverity.Error,
            source=SOURCE,
            code="config",
        )
    ]
