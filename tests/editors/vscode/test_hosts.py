"""Kernels in string literals of Python and C++ files: hints beside them, and no server where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.editors.vscode.conftest import Foretold, ServerStart, WindowOpen
from tests.editors.vscode.test_hints import SAXPY
from tests.editors.vscode.workbench import Workbench

PYTHON = f'import pyopencl\n\nSOURCE = """\n{SAXPY}"""\n'
CPP = f'#include <CL/cl.h>\n\nstatic const char *source = R"cl(\n{SAXPY})cl";\n'
ORDINARY = "import os\n\nNAME = 'linux'\n"


@pytest.mark.parametrize(("name", "text"), [("host.py", PYTHON), ("host.cpp", CPP)], ids=["python", "cpp"])
def test_a_kernel_in_a_literal_has_its_time_beside_it(
    workbench: Workbench, foretold: Foretold, name: str, text: str
) -> None:
    workbench.open(name, text)
    workbench.wait_for_prediction("saxpy", foretold(workbench.server, SAXPY, "saxpy"))
    assert "saxpy" in workbench.hover("saxpy")


def test_an_ordinary_program_gets_no_server_until_a_kernel_is_typed(
    start_code_server: ServerStart, open_window: WindowOpen, ours: dict[str, Any], tmp_path: Path
) -> None:
    server = start_code_server(settings={**ours, "editor.autoClosingQuotes": "never"})
    workbench = open_window(server, tmp_path)
    workbench.open("ordinary.py", ORDINARY)
    workbench.put_cursor_behind("'linux'")
    workbench.type("\nKIND = 'unix'\n")
    workbench.until(lambda: "KIND" in workbench.source(), "what was typed")
    assert list(server.language_servers()) == []
    workbench.type("S = '__kernel void fill(__global float *a) { a[get_global_id(0)] = 1; }'")
    workbench.wait_for_hint("fill")
