"""What stands in for text that the host completes when it runs."""

from __future__ import annotations

import pytest

from model.embedded.find import find_programs
from model.embedded.languages import Language


def text_of(host: str, language: Language = Language.PYTHON) -> str:
    (program,) = find_programs(host, language)
    return program.text


@pytest.mark.parametrize(
    ("host", "meant"),
    [
        ('S = "__kernel void f(__global %(type)s *a, %(type)s b);" % {}',
         "__kernel void f(__global float *a, float b);"),
        ('S = "__kernel void f(__global {dtype} *a) {{ a[{n}] = 1; }}".format(1)',
         "__kernel void f(__global float *a) { a[16] = 1; }"),
        ('S = f"__kernel void f(__global {t} *a) {{ a[0] = {2 * n}; }}"',
         "__kernel void f(__global float *a) { a[0] = 16; }"),
        ('S = """#define N ${size}\n__kernel void f(__global ${index_type} *a);"""',
         "#define N 16\n__kernel void f(__global int *a);"),
        ('S = """% if x:\n__kernel void f(int a);\n% endif\n"""', "\n__kernel void f(int a);\n\n"),
        ('S = "__kernel void %s(int a);" % name', "__kernel void filled(int a);"),
        ('S = "#define N %d\\n__kernel void f(int a);"', "#define N 16\n__kernel void f(int a);"),
        ('S = "__kernel void f(int a, int d) { a = a %d; }"', "__kernel void f(int a, int d) { a = a %d; }"),
        ('S = "__kernel void f(int a) { a = a %% 2; }" % ()', "__kernel void f(int a) { a = a % 2; }"),
        ('S = "__kernel void f(int a) { if (a) { a = 1; } }"', "__kernel void f(int a) { if (a) { a = 1; } }"),
    ],
)  # fmt: skip
def test_a_field_becomes_what_its_place_wants(host: str, meant: str) -> None:
    assert text_of(host) == meant


def test_a_format_of_printf_in_the_kernel_stays() -> None:
    host = 'const char *s = "__kernel void f(int a) { printf(\\"%d\\\\n\\", a); }";'
    assert text_of(host, Language.CPP) == '__kernel void f(int a) { printf("%d\\n", a); }'


def test_a_field_that_is_a_parameter_is_one_wherever_it_stands() -> None:
    host = (
        'S = """' + "int a;\n" * 500 + "__kernel void f(\n    int a,\n    %s\n) {}" + "\nint b;" * 500 + '\n""" % ()\n'
    )
    assert "__kernel void f(\n    int a,\n    int filled\n) {}" in text_of(host)


def test_what_was_filled_in_is_listed() -> None:
    (program,) = find_programs('S = "__kernel void f(__global %(type)s *a);" % {}', Language.PYTHON)
    assert [(each.name, each.stand_in, each.offset) for each in program.filled] == [("%(type)s", "float", 25)]
