"""Somebody else's folder, not trusted yet: kernels are predicted, and nothing of that folder runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.editors.vscode.conftest import ServerStart, WindowOpen
from tests.editors.vscode.host import CodeServer
from tests.editors.vscode.workbench import settings_file

HALVE = """\
// kernelcast: global=65536 local=64 a=65536
__kernel void halve(__global float *a)
{
    a[get_global_id(0)] *= 0.5f;
}
"""


@pytest.fixture(scope="module")
def cautious(start_code_server: ServerStart, ours: dict[str, Any]) -> CodeServer:
    """A user whose VS Code asks before it trusts a folder."""
    return start_code_server(settings=ours, trust_all=False)


def trap(folder: Path, name: str) -> Path:
    """An executable that leaves a trace; answers with the path of that trace."""
    trace = folder.parent / f"{name}-was-run"
    (folder / name).write_text(f"#!/bin/sh\ntouch '{trace}'\necho kernelcast 9.9.9\n", encoding="utf-8")
    (folder / name).chmod(0o755)
    return trace


def test_nothing_of_an_untrusted_folder_runs_and_its_kernels_are_predicted(
    cautious: CodeServer, open_window: WindowOpen
) -> None:
    folder = cautious.home / "downloaded"
    folder.mkdir()
    traces = [trap(folder, name) for name in ("kernelcast", "python")]
    settings_file(
        folder,
        {
            "kernelcast.server.path": "${workspaceFolder}/kernelcast",
            "kernelcast.server.interpreter": "${workspaceFolder}/python",
        },
    )
    workbench = open_window(cautious, folder)
    workbench.open("halve.cl", HALVE)
    workbench.wait_for_hint("halve")
    titles = workbench.code_actions("halve")
    workbench.press("Escape")
    assert titles
    assert [title for title in titles if title.startswith(("Measure", "Calibrate"))] == []

    workbench.put_cursor("halve")
    workbench.command("Kernelcast: Measure Kernel on Device")
    assert workbench.wait_for_message("trust")
    assert [trace for trace in traces if trace.exists()] == []


@pytest.mark.device
def test_once_the_folder_is_trusted_its_kernels_can_be_measured(cautious: CodeServer, open_window: WindowOpen) -> None:
    folder = cautious.home / "my own"
    folder.mkdir()
    workbench = open_window(cautious, folder)
    workbench.open("halve.cl", HALVE)
    workbench.wait_for_hint("halve")
    workbench.trust_the_folder()
    workbench.code_action("halve", "Measure `halve` on ")
    workbench.wait_for_hint("halve", lambda text: "measured" in text)
