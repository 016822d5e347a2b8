"""Several folders in one window: each has its own settings and its own kernelcast.toml."""

from __future__ import annotations

from tests.editors.vscode.conftest import WindowOpen
from tests.editors.vscode.host import CodeServer
from tests.editors.vscode.workbench import settings_file, workspace_file

SUM = """\
__kernel void total(__global const float *a, __global float *b)
{
    b[get_global_id(0)] += a[get_global_id(0)];
}
"""
SMALL, LARGE = (f"[[launch]]\nkernel = 'total'\nglobal = [{n}]\nlocal = [64]\n" for n in (4096, 1 << 26))


def test_each_folder_of_a_workspace_has_its_own_device_and_launches(
    code_server: CodeServer, open_window: WindowOpen
) -> None:
    root = code_server.home / "both"
    for name, toml in (("small", SMALL), ("large", LARGE), ("abroad", LARGE)):
        (root / name).mkdir(parents=True)
        (root / name / "kernelcast.toml").write_text(toml, encoding="utf-8")
    settings_file(root / "abroad", {"kernelcast.device": "nvidia-a100-80gb-pcie", "editor.lineNumbers": "off"})
    workbench = open_window(code_server, workspace_file(root / "both.code-workspace", ["small", "large", "abroad"]))
    shown: set[str] = set()
    for name in ("small", "large", "abroad"):
        workbench.write(f"{name}/{name}.cl", SUM)
        (workbench.open_numberless if name == "abroad" else workbench.open)(f"{name}/{name}.cl")
        workbench.wait_for_status("A100" if name == "abroad" else "not calibrated")
        shown.add(workbench.wait_for_hint("total", lambda text: text not in shown, f"other than {shown}"))
