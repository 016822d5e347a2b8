"""Files without kernels: nothing is found in them, and but for the first look nothing is done."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.embedded.find import find_programs
from model.embedded.languages import Language, language_of, may_hold_program

FILES = 200
PARTS = [
    "__kernel void f(", " kernel void g() { }", "S = ", '"', "'", '"""', 'R"(', ')"', "\\", "\n", "\r\n", "(", ")", "{",
    "}", "{{",
    "%(a)s", "%d", "%%", "${a}", "$", "% if a:\n", "## a", "<%", "%>", "f'", "rb'", " + ", " % ", ".format(",
    "\\N{BULLET}",
    "\\x4", "\\u12", "STRINGIFY(", "#define A ", "// ", "/* ", "*/", "# ", ",", "\ud83d", "😀", "é", "\0", "a",
]  # fmt: skip


def ordinary(pattern: str, *folders: str) -> list[Path]:
    found = (path for folder in folders for path in sorted(Path(folder).rglob(pattern)) if path.is_file())
    return [path for path, _ in zip(found, range(FILES), strict=False)]


def test_python_files_hold_nothing() -> None:
    files = ordinary("*.py", sysconfig.get_paths()["stdlib"])
    assert len(files) == FILES
    for path in files:
        text = path.read_text(errors="replace")
        assert language_of(path, text) is Language.PYTHON
        assert not may_hold_program(text)
        assert find_programs(text, Language.PYTHON) == ()


def test_headers_hold_nothing() -> None:
    files = ordinary("*.h", sysconfig.get_paths()["include"], np.get_include(), "/usr/include")
    assert files
    for path in files:
        assert find_programs(path.read_text(errors="replace"), Language.CPP) == ()


METAL = """
kernel void scale(const device float *in [[buffer(0)]], device float *out [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  out[i] = 2 * in[i];
}
"""


@pytest.mark.parametrize(
    "program",
    [
        METAL,
        "#include <metal_stdlib>\nkernel void f(device int *x) {}\n",
        "using namespace metal; kernel void f() {}\n",
    ],
)
def test_kernels_of_metal_are_not_taken_for_opencls(program: str) -> None:
    opencl = "__kernel void k(__global float *x) { x[get_global_id(0)] = 1; }\n"
    text = f'const char *metal = R"({program})";\nconst char *opencl = R"({opencl})";\n'
    assert [each.text for each in find_programs(text, Language.CPP)] == [opencl]


def test_no_parser_is_loaded_for_them() -> None:
    program = (
        "import sys\n"
        "from model.embedded.find import find_programs\n"
        "from model.embedded.languages import Language\n"
        "assert find_programs('S = \"kernel\"\\n', Language.PYTHON) == ()\n"
        "assert not [name for name in sys.modules if name.startswith('tree_sitter')]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_sum_of_thousands_of_lines_is_one_program() -> None:
    lines = " + \\\n".join(f'"// line {number}\\n"' for number in range(5000))
    (program,) = find_programs(f'S = "__kernel void f();\\n" + {lines}\n', Language.PYTHON)
    assert program.text.count("\n") == 5001


MANY = 40_000
LARGE = {
    "words in comments of Python": (
        Language.PYTHON, "# é kernel kernel kernel\n" * MANY + 'S = "__kernel void f();"\n',
    ),
    "an array of lines": (
        Language.CPP, 'char *s[] = {"__kernel void f(int a) {\\n",\n' + '"a += 1;\\n",\n' * MANY + '"}"};\n',
    ),
    "declarations of C": (
        Language.CPP, "void run() { start(1); }\n__kernel void g();\n" * MANY + 'char *s = "__kernel void f();";\n',
    ),
    "fields in one line": (
        Language.CPP, 'char *s = "__kernel void f(int a) {"\n' + '"a[0] = %d + %s;"\n' * (MANY // 8) + '"}";\n',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("language", "host"), LARGE.values(), ids=LARGE)
def test_a_large_file_is_read_once_and_not_for_each_word(language: Language, host: str) -> None:
    (program,) = find_programs(host, language)
    assert program.text.count("f(") == 1


@given(st.sampled_from([Language.PYTHON, Language.CPP]), st.lists(st.sampled_from(PARTS), max_size=30))
def test_whatever_is_typed_is_read(language: Language, parts: list[str]) -> None:
    host = "".join(parts)
    for program in find_programs(host, language):
        for offset in range(len(program.text)):
            assert 0 <= program.host_start(offset) <= program.host_end(offset + 1) <= len(host)
