"""Where the server comes from: from a setting, from Python's environment, from nowhere, and then from the offer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.editors.vscode.conftest import ServerStart, WindowOpen
from tests.editors.vscode.packed import pack
from tests.editors.vscode.workbench import settings_file

EXTENSIONS = Path(__file__).with_name("extensions")
TWICE = """\
// kernelcast: global=N local=64 N=1048576 a=N
__kernel void twice(__global float *a)
{
    a[get_global_id(0)] *= 2.0f;
}
"""
MISSING = "No Kernelcast server was found"


@pytest.fixture
def bare(start_code_server: ServerStart, path_without_kernelcast: str, tmp_path: Path) -> dict[str, str]:
    """The environment of a user who has Python, but not Kernelcast."""
    (tmp_path / "bin").mkdir()
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    base = Path(sys.base_prefix) / "bin" / version
    for name in (version, "python3"):
        (tmp_path / "bin" / name).symlink_to(base)
    return {"PATH": f"{tmp_path / 'bin'}:{path_without_kernelcast}"}


def test_where_no_server_is_found_one_message_offers_one_which_then_works(
    start_code_server: ServerStart, open_window: WindowOpen, bare: dict[str, str]
) -> None:
    server = start_code_server(environment=bare)
    folder = server.home / "kernels"
    folder.mkdir()
    workbench = open_window(server, folder)
    workbench.open("twice.cl", TWICE)
    workbench.message_box(MISSING).wait_for()
    workbench.wait_for_status("no server found")
    workbench.open("again.cl", TWICE.replace("twice", "again"))
    assert len([text for text in set(workbench.messages()) if MISSING in text]) == 1
    assert workbench.page.locator(".notification-toast").count() == 1

    workbench.answer(MISSING, "Install Server")
    workbench.message_box("Installing").locator(".monaco-button", has_text="Cancel").wait_for()
    with workbench.patient(for_s=300):
        workbench.wait_for_message("server is installed")
    workbench.wait_for_hint("again", lambda text: "µs" in text or "ms" in text)
    workbench.wait_for_status("not calibrated")  # which is said of devices in this machine


def test_the_active_python_environment_brings_the_server(
    start_code_server: ServerStart, open_window: WindowOpen, bare: dict[str, str], tmp_path: Path
) -> None:
    python = pack(EXTENSIONS / "python", tmp_path / "packed")
    environment = {**bare, "TEST_ACTIVE_INTERPRETER": sys.executable}
    server = start_code_server(environment=environment, extensions=(python,))
    folder = server.home / "kernels"
    folder.mkdir()
    workbench = open_window(server, folder)
    workbench.open("twice.cl", TWICE)
    workbench.wait_for_hint("twice")
    workbench.command("Python: Leave the Environment")
    workbench.wait_for_status("no server found")


def test_a_setting_that_leads_nowhere_is_complained_of_and_corrected(
    start_code_server: ServerStart, open_window: WindowOpen, kernelcast: str
) -> None:
    server = start_code_server(settings={"kernelcast.server.path": "~/nowhere/kernelcast"})
    folder = server.home / "a folder"
    folder.mkdir()
    workbench = open_window(server, folder)
    workbench.open("twice.cl", TWICE)
    told = workbench.wait_for_message("kernelcast.server.path")
    assert str(server.home / "nowhere" / "kernelcast") in told

    # The workspace's own, with a variable, a space and a link in its path.
    (folder / "tools").symlink_to(Path(kernelcast).parent)
    settings_file(folder, {"kernelcast.server.path": "${workspaceFolder}/tools/kernelcast"})
    workbench.wait_for_hint("twice")
