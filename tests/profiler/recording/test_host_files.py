"""What a program builds from its own literals is found in them again."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from profiler.recording.sources import Sources, Workspace

BUILT = "__kernel void f(__global float *a) {\n  a[0] = 1.0f;\n}\n"
ESCAPED = BUILT.replace("\n", "\\n")
HOSTS = {
    "host.py": f'import pyopencl\nS = """{BUILT}"""\n',
    "lines.py": 'S = (\n  "__kernel void f(__global float *a) {\\n"\n  "  a[0] = 1.0f;\\n"\n  "}\\n"\n)\n',
    "host.cpp": f'const char *s = "{ESCAPED}";\n',
    "kernels.opencl": f'R"({BUILT})"\n',
    "kernels.cl.in": BUILT,
}


@pytest.mark.parametrize("name", HOSTS)
def test_a_source_is_found_in_the_literal_it_came_from(tmp_path: Path, name: str) -> None:
    (tmp_path / "other.py").write_text("import os\n")
    (tmp_path / name).write_text(HOSTS[name])
    assert Workspace(tmp_path, Sources(tmp_path / "data")).file_with(BUILT.encode()) == tmp_path / name


def test_folders_of_build_results_are_not_searched(tmp_path: Path) -> None:
    for folder in ("build", "target", "node_modules"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "copy.cl").write_text(BUILT)
    assert Workspace(tmp_path, Sources(tmp_path / "data")).file_with(BUILT.encode()) is None


def test_a_template_is_found_by_what_its_kernel_means(tmp_path: Path) -> None:
    (tmp_path / "host.py").write_text(f'S = """// kept\n{BUILT}""".replace("float", "%(type)s") % {{}}\n')
    kernel = read_program(BUILT).by_name["f"]
    workspace = Workspace(tmp_path, Sources(tmp_path / "data"))
    assert workspace.file_with_kernel("f", kernel.fingerprint, BuildOptions()) == tmp_path / "host.py"
