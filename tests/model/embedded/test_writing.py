"""A line written into a literal is a line of the program, whatever the literal."""

from __future__ import annotations

import ast

import pytest

from model.embedded.find import find_programs
from model.embedded.languages import Language
from model.embedded.writing import line_above

LINE = '// kernelcast: global=(N % 4, 2) name="a\\b" {x}'
BODY = "__kernel void f(int a) {\n}\n"
C_BODY = BODY.replace("\n", "\\n")

HOSTS = {
    "raw": (Language.CPP, f'const char *s = R"(\n  int x;\n  {BODY})";\n'),
    "raw, on the first line": (Language.CPP, f'const char *s = R"({BODY})";\n'),
    "a literal a line": (
        Language.CPP,
        'const char *s =\n    "int x;\\n"\n    "__kernel void f(int a) {\\n"\n    "}\\n";\n',
    ),
    "no line ends": (Language.CPP, 'const char *s =\n    "int x; "\n    "__kernel void f(int a) {"\n    "}";\n'),
    "a macro": (Language.CPP, '#define S \\\n  "int x;\\n" \\\n  "__kernel void f(int a) { }\\n"\nint x;\n'),
    "one literal": (Language.CPP, f'const char *s = "int x; {C_BODY}";\n'),
    "stringified": (Language.CPP, f"const char *s = STRINGIFY(\n  {BODY});\n"),
    "windows": (Language.CPP, f'const char *s = R"(\n{BODY})";\n'.replace("\n", "\r\n")),
    "triple-quoted": (Language.PYTHON, f'S = """\n  int x;\n  {BODY}"""\n'),
    "triple-quoted, on the first line": (Language.PYTHON, f'S = """{BODY}"""\n'),
    "parts in parentheses": (Language.PYTHON, 'S = (\n    "int x;\\n"\n    "__kernel void f(int a) { }\\n"\n)\n'),
    "parts with backslashes": (Language.PYTHON, 'S = "int x;\\n" \\\n    "__kernel void f(int a) { }\\n"\n'),
    "one string": (Language.PYTHON, f"S = '{C_BODY}'\n"),
    "f-string": (Language.PYTHON, 'S = f"""\n__kernel void f({t} a) {{\n}}\n"""\n'),
    "format": (Language.PYTHON, 'S = """\n__kernel void f({t} a) {{\n}}\n""".format(t=1)\n'),
    "percent": (Language.PYTHON, 'S = """\n__kernel void f(%(t)s a) {\n}\n""" % {}\n'),
}


@pytest.mark.parametrize("kind", HOSTS)
def test_the_line_stands_above_the_kernel(kind: str) -> None:
    language, host = HOSTS[kind]
    (program,) = find_programs(host, language)
    insertion = line_above(program, host, program.text.index("__kernel"), LINE)
    assert insertion is not None
    edited = host[: insertion.offset] + insertion.text + host[insertion.offset :]
    (now,) = find_programs(edited, language)
    lines = [line.strip() for line in now.text.split("\n")]
    kernel = next(number for number, line in enumerate(lines) if line.startswith("__kernel"))
    assert lines[kernel - 1] == LINE
    assert now.text.replace(LINE, "").split() == program.text.split()
    if language is Language.PYTHON:
        ast.parse(edited)


def test_nothing_is_written_where_no_line_can_end() -> None:
    host = "S = r'__kernel void f(int a);'\n"
    (program,) = find_programs(host, Language.PYTHON)
    assert line_above(program, host, 0, LINE) is None
