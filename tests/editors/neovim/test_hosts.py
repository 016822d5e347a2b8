"""Kernels in string literals of Python and C++ files: hints beside them, and no server where there is none."""

from __future__ import annotations

import pytest

from tests.editors.neovim.conftest import ONE_KERNEL, Start

pytestmark = pytest.mark.timeout(240)

PYTHON = f'import pyopencl\n\nSOURCE = """\n{ONE_KERNEL}"""\n'
CPP = f'#include <CL/cl.h>\n\nstatic const char *source = R"cl(\n{ONE_KERNEL})cl";\n'
ORDINARY = "import os\n\nKERNEL = 'linux'\n"


@pytest.mark.parametrize(("name", "text"), [("host.py", PYTHON), ("host.cpp", CPP)], ids=["python", "cpp"])
def test_a_kernel_in_a_literal_has_its_hint_beside_it(start: Start, name: str, text: str) -> None:
    editor = start({name: text})
    editor.wait_for_hint()
    assert list(editor.hints()) == [5]  # the line of the signature


def test_an_ordinary_program_gets_no_server_until_a_kernel_is_typed(start: Start) -> None:
    editor = start({"ordinary.py": ORDINARY})
    assert editor.lua("return vim.bo.filetype") == "python"
    assert not editor.is_attached()
    editor.go_to("KERNEL")
    editor.press("o")
    editor.type("S = '__kernel void f(__global float *a) { a[get_global_id(0)] = 1; }'")
    editor.press("Escape")
    editor.wait_for_hint()


@pytest.mark.parametrize("keys", ["p", "P", ":put a"], ids=["below", "above", "put"])
def test_a_kernel_that_is_pasted_gets_a_server_wherever_the_cursor_stays(start: Start, keys: str) -> None:
    editor = start({"ordinary.py": ORDINARY})
    editor.lua("vim.fn.setreg('a', ..., 'l')", f"# more\n{PYTHON}# end")
    editor.go_to("KERNEL")
    assert not editor.is_attached()
    if keys.startswith(":"):
        editor.run(keys[1:])
    else:
        editor.press('"', "a", keys)
    editor.wait_for_hint()


def test_lines_of_a_kernel_that_were_typed_get_a_server_wherever_the_cursor_stays(start: Start) -> None:
    editor = start({"ordinary.py": ORDINARY})
    editor.go_to("KERNEL")
    editor.press("o")
    for line in ('S = """', "__kernel void f(__global float *a) {", "a[get_global_id(0)] = 1; }", '"""'):
        editor.type(line)
        editor.press("Enter")
    assert not editor.is_attached()
    editor.press("Escape")
    editor.wait_for_hint()
