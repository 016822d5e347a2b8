"""With clangd attached to the same files, both say what they have to say, once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.editors.vscode.conftest import REPOSITORY, Foretold, ServerStart, WindowOpen
from tests.editors.vscode.packed import pack

EXTENSION = Path(__file__).with_name("extensions") / "beside"
MODULES = REPOSITORY / "editors" / "vscode" / "node_modules"
MIX = """\
// kernelcast: global=N local=64 N=16777216 a=N b=N
float faded(float value, float strength)
{
    return value * strength;
}

__kernel void mix(__global float *a, __global const float *b)
{
    const int i = get_global_id(0);
    a[i] = faded(b[i], 0.5f);
}
"""


@pytest.fixture
def clangd_extension(code_server_files: ModuleType, tmp_path: Path) -> Path:
    folder = tmp_path / "beside"
    shutil.copytree(EXTENSION, folder, ignore=shutil.ignore_patterns("extension.js"))
    bundling = [str(MODULES / "esbuild" / "bin" / "esbuild"), str(EXTENSION / "extension.js"), "--bundle"]
    subprocess.run(
        [
            str(code_server_files.node()),
            *bundling,
            "--platform=node",
            "--external:vscode",
            f"--outfile={folder}/bundle.js",
        ],
        env={**os.environ, "NODE_PATH": str(MODULES)},
        check=True,
        capture_output=True,
        timeout=120,
    )
    return pack(folder, tmp_path / "packed")


def test_beside_clangd_nothing_is_shown_twice_and_nothing_breaks(
    start_code_server: ServerStart,
    open_window: WindowOpen,
    ours: dict[str, Any],
    clangd_extension: Path,
    foretold: Foretold,
) -> None:
    clangd = {"TEST_CLANGD": str(Path(sys.executable).with_name("clangd"))}
    server = start_code_server(environment=clangd, settings=ours, extensions=(clangd_extension,))
    folder = server.home / "kernels"
    folder.mkdir()
    workbench = open_window(server, folder)
    workbench.open("mix.cl", MIX)
    hint = workbench.wait_for_prediction("mix", foretold(server, MIX, "mix"))
    assert hint.count("~") + hint.count("≈") == 1
    # clangd names the parameters of a call; that it does shows that both are there.
    workbench.until(lambda: "strength:" in workbench.everything_shown(), "clangd's hints")
    assert workbench.everything_shown().count(hint) == 1

    story = workbench.hover("mix", "will take")
    workbench.until(lambda: "function mix" in workbench.hover("mix", "will take"), "clangd's hover beside ours")
    assert story.count("will take") == 1
    workbench.leave_hover()
    workbench.until(lambda: workbench.has_action("mix", "Measure `mix` on "), "the action that measures")
    titles = workbench.code_actions("mix")
    workbench.press("Escape")
    assert len([title for title in titles if title.startswith("Measure `mix` on ")]) == 1
    assert workbench.messages() == []

    workbench.put_cursor_behind(r"0\.5f\);")
    workbench.type(" for (int k = 0; k < 9999; ++k) a[i] += sin(b[k]);")
    workbench.wait_for_hint("mix", lambda text: "compute" in text)
