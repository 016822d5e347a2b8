"""Literals of C and C++: decoded as a compiler does it, and each character where the file has it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.embedded.find import find_programs
from model.embedded.languages import Language
from tests.model.embedded.test_python_positions import check_places

KERNEL = " __kernel void f(int a);"
# What stands in a file, and what it means.
WRITTEN = st.sampled_from(
    [("\\n", "\n"), ("\\t", "\t"), ("\\\\", "\\"), ('\\"', '"'), ("\\'", "'"), ("\\x41", "A"), ("\\101", "A"),
     ("\\0", "\0"), ("\\u00e9", "é"), ("\\U0001f600", "😀"), ("\\\n", ""), ("\\\r\n", ""), ("é", "é"), ("😀", "😀"),
     ("// a 'comment", "// a 'comment"), ("/*", "/*"), (" ;", " ;"), (KERNEL, KERNEL)]
)  # fmt: skip
RAW = st.sampled_from(["\\n", '"', ")", ')"', "//", "/*", "'", "é😀", "\n", "\r\n", "\t", KERNEL])
BETWEEN = st.sampled_from([" ", "\n  ", ' /* "no" */ ', "  // it's one\n", " MACRO ", " STR(N)\n", " \\\n", "\r\n"])


@st.composite
def literals(draw: st.DrawFn) -> tuple[str, str]:
    """One literal, and what it means."""
    if draw(st.booleans()):
        body = "".join(draw(st.lists(RAW, max_size=6)))
        delimiter = draw(st.sampled_from(["cl", "x_1"]))
        prefix = draw(st.sampled_from(["", "u8", "L"]))
        return f'{prefix}R"{delimiter}({body}){delimiter}"', body.replace("\r\n", "\n")
    parts = draw(st.lists(WRITTEN, max_size=6))
    # A digit behind \x41 or \0 would be part of it; none of the parts begins with one.
    return f'"{"".join(source for source, _ in parts)}"', "".join(meant for _, meant in parts)


@st.composite
def concatenations(draw: st.DrawFn) -> tuple[str, str]:
    found = [*draw(st.lists(literals(), max_size=3)), (f'"{KERNEL}"', KERNEL), *draw(st.lists(literals(), max_size=2))]
    return draw(BETWEEN).join(source for source, _ in found), "".join(meant for _, meant in found)


@given(concatenations())
def test_the_text_is_what_a_compiler_makes_of_it(concatenation: tuple[str, str]) -> None:
    source, meant = concatenation
    host = f"// it's \"a\" comment\nchar quote = '\"', many = 1'000;\nconst char *source = {source};\nint x;\n"
    (program,) = find_programs(host, Language.CPP)
    assert program.exact_text == meant
    check_places(program, host)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_a_compiler_agrees(tmp_path: Path) -> None:
    host = (
        'const char *source = "a\\tb\\"\\\\ \\x41\\101\\u00e9" /* x */ R"cl(raw \\n "quoted" )" é\n😀)cl"\n'
        '  "more\\\n of it" "\\n__kernel void f(int a);\\n";\n'
    )
    program_text = find_programs(host, Language.CPP)[0].exact_text
    (tmp_path / "host.cpp").write_text(f"#include <cstdio>\n{host}int main() {{ std::fputs(source, stdout); }}\n")
    subprocess.run(["g++", "-std=c++17", "host.cpp", "-o", "host"], cwd=tmp_path, check=True, timeout=120)
    said = subprocess.run([tmp_path / "host"], capture_output=True, check=True, timeout=60)
    assert program_text == said.stdout.decode()


def test_literals_in_a_macro_definition_are_one_program() -> None:
    host = '#define SOURCE "__kernel void f();\\n" \\\n  "// more\\n"\n#define OTHER "no"\n'
    (program,) = find_programs(host, Language.CPP)
    assert program.text == "__kernel void f();\n// more\n"


def test_lines_of_an_array_are_one_program_until_it_is_whole() -> None:
    host = 'const char *lines[] = {\n  "__kernel void f(int a) {\\n",\n  "}\\n",\n  "other"\n};\n'
    (program,) = find_programs(host, Language.CPP)
    assert program.text == "__kernel void f(int a) {\n}\n"


@pytest.mark.parametrize(
    "before",
    ["#define N 16\\n", "typedef float real;\\n", "float twice(float x) {\\n", "// text\\n", 'a" " b\\n'],
)
def test_lines_of_an_array_before_the_kernel_belong_to_it(before: str) -> None:
    lines = f'  "{before}",\n  "\\n",\n  "__kernel void f(int a) {{\\n",\n  "}}\\n"\n'
    host = f'const char *lines[] = {{ // "no"\n{lines}}};\n'
    (program,) = find_programs(host, Language.CPP)
    first = before.replace('" "', "").replace("\\n", "\n")
    assert program.text == f"{first}\n__kernel void f(int a) {{\n}}\n"
    check_places(program, host)


def test_each_program_of_an_array_has_the_lines_before_it() -> None:
    written = ("#define A", "__kernel void f() {", "}", "#define B", "__kernel void g() {}")
    lines = ", ".join(f'"{line}\\n"' for line in written)
    host = f"const char *lines[] = {{{lines}}};\n"
    first, second = find_programs(host, Language.CPP)
    assert (first.text, second.text) == ("#define A\n__kernel void f() {\n}\n", "#define B\n__kernel void g() {}\n")


def test_arguments_before_a_program_are_no_lines_of_it() -> None:
    for host in (
        'build("a name\\n", "__kernel void f() {}\\n");\n',
        'char *a[] = {"name", "__kernel void f() {}\\n"};\n',
    ):
        (program,) = find_programs(host, Language.CPP)
        assert program.text == "__kernel void f() {}\n"


def test_parentheses_of_the_host_around_a_stringified_program_do_not_count() -> None:
    host = "int x = ) (a(b)\n; int y = build(STRINGIFY(__kernel void f(int a) { (a); }), 1); __kernel void no();\n"
    (program,) = find_programs(host, Language.CPP)
    assert program.text == "__kernel void f(int a) { (a); }"


def test_a_stringified_argument_is_a_program() -> None:
    host = "const char *s = STRINGIFY(\n__kernel void f(__global int *a) {\n  a[0] = (1);\n}\n);\nint x;\n"
    (program,) = find_programs(host, Language.CPP)
    assert program.text.strip() == "__kernel void f(__global int *a) {\n  a[0] = (1);\n}"
    check_places(program, host)


def test_code_and_comments_of_the_host_are_no_program() -> None:
    host = '// __kernel void f();\nvoid run(int __kernel);\n/* "__kernel void g();" */\n#define X __kernel void y()\n'
    assert find_programs(host, Language.CPP) == ()


def test_a_file_that_is_one_raw_string_is_a_program() -> None:
    host = '// Licence\n\nR"(\n// text\n__kernel void f();\n)"\n'
    (program,) = find_programs(host, Language.CPP)
    assert program.text == "\n// text\n__kernel void f();\n"


def test_literals_without_line_ends_have_the_hosts_lines() -> None:
    host = 'const char *s =\n  "__kernel void f(__global int *a) {"\n  "int i = 0; a[i] "\n  "= 1; }"; // "more"\n'
    (program,) = find_programs(host, Language.CPP)
    assert program.text == "__kernel void f(__global int *a) {\nint i = 0; a[i] \n= 1; }"
    assert program.exact_text == "__kernel void f(__global int *a) {int i = 0; a[i] = 1; }"
    assert [host.count("\n", 0, program.host_start(start)) for start in program.line_starts] == [1, 2, 3]
