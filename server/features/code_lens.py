"""textDocument/codeLens: "Measure | Report | Tune" above each kernel, for those who turn it on."""

from __future__ import annotations

from lsprotocol import types

from server.commands import MEASURE, REPORT, TUNE
from server.snapshot import KernelView, Snapshot


def code_lenses(snapshot: Snapshot) -> list[types.CodeLens]:
    """Return the lenses of all kernels; those that run a kernel only where one may run."""
    if not snapshot.settings.code_lens:
        return []
    return [
        types.CodeLens(snapshot.range(view.kernel.name_range), command)
        for view in snapshot.kernels
        for command in _commands(view, snapshot)
    ]


def _commands(view: KernelView, snapshot: Snapshot) -> list[types.Command]:
    uri, launch = snapshot.document.uri, view.launches[0]
    found = [types.Command("Report", REPORT, arguments=[uri, view.key])]
    if snapshot.may_run and launch.forecast.launch is not None:
        arguments = [uri, view.key, launch.slot.launch]
        found.insert(0, types.Command("Measure", MEASURE, arguments=arguments))
        found.append(types.Command("Tune", TUNE, arguments=arguments))
    return found
