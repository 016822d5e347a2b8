"""`kernelcast doctor`: what is installed, what is wrong, and how to fix it."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text

from server.cli.diagnosis import Finding, Health, examine
from server.cli.output import ANSWERED, SOME_FAILED, write_json
from server.cli.terminal import hung, out

_WIDTH = 7
_COLOURS = {Health.GOOD: "green", Health.NOTE: "yellow", Health.BROKEN: "bold red"}


def run(arguments: argparse.Namespace) -> int:
    """Report; the status is 1 if something is broken."""
    findings = []
    for finding in examine(Path.cwd()):
        findings.append(finding)
        if arguments.format == "text":
            _show(finding)
    broken = sum(finding.health is Health.BROKEN for finding in findings)
    if arguments.format == "json":
        keys = ("subject", "health", "text", "mend")
        write_json([{key: str(getattr(finding, key)) for key in keys} for finding in findings], indent=2)
    else:
        notes = sum(finding.health is Health.NOTE for finding in findings)
        verdict = f"{broken} broken" if broken else "Nothing is broken"
        out().print(f"\n{verdict}{f', {notes} could be better' if notes else ''}.")
    return SOME_FAILED if broken else ANSWERED


def _show(finding: Finding) -> None:
    mark = Text(f"{finding.health:<{_WIDTH}}", style=_COLOURS[finding.health])
    subject = f"{finding.subject}: " if finding.subject else "  "
    rows: list[tuple[RenderableType, RenderableType]] = [(mark, Text.assemble((subject, "bold"), finding.text))]
    if finding.mend:
        rows.append(("", hung([(Text("fix: ", "dim"), finding.mend)])))
    out().print(hung(rows, indent=0))
