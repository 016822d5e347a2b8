"""The server behind the window: it dies and comes back, is restarted on demand, and can be asked how it is."""

from __future__ import annotations

import psutil

from tests.editors.vscode.host import CodeServer
from tests.editors.vscode.workbench import Workbench

FILL = """\
// kernelcast: global=N local=64 N=1048576 a=N
__kernel void fill(__global float *a)
{
    a[get_global_id(0)] = 1.0f;
}
"""
WORK = " for (int k = 0; k < 9999; ++k) a[get_global_id(0)] += sin(a[k]);"


def the_server(code_server: CodeServer, workbench: Workbench) -> psutil.Process:
    (process,) = workbench.until(lambda: [*code_server.language_servers()][:1], "a running server")
    assert isinstance(process, psutil.Process)
    return process


def test_a_server_that_is_killed_comes_back_by_itself(code_server: CodeServer, workbench: Workbench) -> None:
    workbench.open("fill.cl", FILL)
    before = workbench.wait_for_hint("fill")
    killed = the_server(code_server, workbench)
    killed.kill()
    workbench.until(lambda: killed.pid != the_server(code_server, workbench).pid, "another server process")
    # It must know the document as it is: an edit is answered.
    workbench.put_cursor_behind(r"= 1\.0f;")
    workbench.type(WORK)
    workbench.wait_for_hint("fill", lambda text: text != before and "compute" in text, "from the new server")


def test_restarting_on_demand_brings_the_hints_back(code_server: CodeServer, workbench: Workbench) -> None:
    workbench.open("fill.cl", FILL)
    workbench.wait_for_hint("fill")
    before = the_server(code_server, workbench)
    workbench.command("Kernelcast: Restart Server")
    workbench.until(lambda: before.pid != the_server(code_server, workbench).pid, "another server process")
    workbench.wait_for_hint("fill")
    assert not before.is_running()


def test_the_log_can_be_read(workbench: Workbench) -> None:
    workbench.open("fill.cl", FILL)
    workbench.wait_for_hint("fill")
    workbench.command("Kernelcast: Show Logs")
    panel = workbench.page.locator(".part.panel")
    panel.locator(".view-line").first.wait_for()
    workbench.until(lambda: "ernelcast" in panel.inner_text(), "the extension's log")
    workbench.command("View: Hide Panel")
    panel.locator(".view-line").first.wait_for(state="hidden")


def test_debug_information_goes_to_the_clipboard_without_any_source(workbench: Workbench) -> None:
    workbench.open("fill.cl", FILL)
    workbench.wait_for_hint("fill")
    copied = workbench.debug_information()
    for wanted in ("Kernelcast for VS Code", "code-server", "Python", "pocl"):
        assert wanted in copied
    assert "get_global_id" not in copied
    assert str(workbench.server.home) not in copied
