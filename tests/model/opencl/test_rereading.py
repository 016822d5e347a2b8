"""What an edit changes: fingerprints follow the meaning, and re-reading gives what reading afresh gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from model.opencl.masking import mask
from model.opencl.program import Program, read_program
from model.opencl.syntax import find, parse
from model.opencl.types import PointerType

Read = Callable[..., Program]

TEXT = """#define SCALE 2.0f
#define SQUARE(v) ((v) * (v))
typedef struct { float4 place; float weight; } Body;
constant int table[4] = {1, 2, 3, 4};
float helper(float v) { return SQUARE(v) * SCALE; }

// \u00e9\U0001f600 the first
__kernel void first(__global Body *bodies, int n)
{
    int i = get_global_id(0);
    if (i < n) bodies[i].weight = helper(bodies[i].weight) + table[i & 3];
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void second(__global float *x, __local float *t)
{
    t[get_local_id(0)] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 32; s > 0; s >>= 1) x[s] += t[s];
}
"""


def prints(program: Program) -> dict[str, str]:
    return {k.name: k.fingerprint for k in program.kernels}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("int i = get", "int   i =\n\n get"),
        ("int i = get", "/* why */ int i = get"),
        ("// \u00e9\U0001f600 the first", "// another remark, // kernelcast: global=4"),
        ("#define SCALE 2.0f", "\n\n\n#define   SCALE   2.0f // twice"),
        ("constant int table", "int unused(int q) { return q; }\nconstant int table"),
        ("typedef struct", "typedef struct { float4 other; } Other;\nfloat helper(float);\ntypedef struct"),
        ("{\n    int i", "{ int i"),
    ],
)
def test_comments_and_spacing_leave_a_fingerprint_as_it_is(read: Read, before: str, after: str) -> None:
    assert before in TEXT
    assert prints(read(TEXT.replace(before, after, 1))) == prints(read(TEXT))


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("if (i < n)", "if (i <= n)", {"first"}),
        ("SCALE 2.0f", "SCALE 3.0f", {"first"}),
        ("((v) * (v))", "((v) + (v))", {"first"}),
        ("return SQUARE(v)", "return 1 + SQUARE(v)", {"first"}),
        ("float weight", "double weight", {"first"}),
        ("{1, 2, 3, 4}", "{1, 2, 3, 5}", {"first"}),
        ("(64, 1, 1)", "(32, 1, 1)", {"second"}),
        ("__local float *t", "__local double *t", {"second"}),
        ("s >>= 1", "s -= 1", {"second"}),
    ],
)
def test_a_changed_meaning_changes_the_fingerprint_of_those_it_concerns(
    read: Read, before: str, after: str, changed: set[str]
) -> None:
    assert before in TEXT
    old, new = prints(read(TEXT)), prints(read(TEXT.replace(before, after, 1)))
    assert {name for name in old if old[name] != new[name]} == changed


def test_defines_change_the_fingerprints_of_what_uses_them(read: Read) -> None:
    text = TEXT.replace("#define SCALE 2.0f", "")
    old, new = prints(read(text, SCALE="2.0f")), prints(read(text, SCALE="4.0f"))
    assert old["first"] != new["first"]
    assert old["second"] == new["second"]


_PIECES = st.sampled_from(
    ["", "\n", "{", "}", "(", ")", ";", "/*", "*/", "//", '"', "'", "#", "#define n 3\n", "#if 0\n", "#endif\n",
     "#define SCALE 4\n", "#undef SQUARE\n", "#ifdef SCALE\n", "#else\n", '#include "no.h"\n', "\n}\n",
     "typedef int Body;\n",
     "int q = 1;", "__kernel ",
     "void z(__global int *p) {}", "__kernel void z(__global int *p) {}", "float", "SQUARE(", "SCALE", "1.0h",
     "\U0001f600", "\\\n", "\r\n"]
)  # fmt: skip
_EDITS = st.lists(st.tuples(st.integers(0, len(TEXT)), st.integers(0, 60), _PIECES), min_size=1, max_size=6)


def facts(program: Program) -> tuple[object, ...]:
    """All that a program says, with every place in it."""
    return (
        program.kernels,
        program.notes,
        program.names,
        {name: (found.fingerprint, found.covered) for name, found in program.meanings.items()},
        {name: (program.line_of(f), f.layout) for name, f in program.functions.items()},
        {name: (found.type, found.space) for name, found in program.globals.items()},
    )


@settings(max_examples=300, deadline=None)
@given(_EDITS)
def test_rereading_after_edits_gives_what_reading_afresh_gives(edits: list[tuple[int, int, str]]) -> None:
    text, program = TEXT, read_program(TEXT)
    for start, length, segment in edits:
        text = text[:start] + segment + text[start + length :]
        program = read_program(text, previous=program)
        assert facts(program) == facts(read_program(text))


def test_an_edit_inside_a_function_leaves_all_other_functions_the_same_objects() -> None:
    before = read_program(TEXT)
    for text in (TEXT.replace("n) bodies", "n && n) bodies"), TEXT.replace("int i = get", "\n{ int i = get")):
        after = read_program(text, previous=before)
        assert {name for name, f in before.functions.items() if after.functions[name] is not f} == {"first"}


def test_an_edit_of_a_macro_rereads_those_who_use_it_alone() -> None:
    before = read_program(TEXT)
    after = read_program(TEXT.replace("SCALE 2.0f", "SCALE 3.0f"), previous=before)
    assert {name for name, f in before.functions.items() if after.functions[name] is not f} == {"helper"}


def test_a_changed_type_rereads_those_who_use_it_alone() -> None:
    before = read_program(TEXT)
    after = read_program(TEXT.replace("float weight", "double weight"), previous=before)
    assert {name for name, f in before.functions.items() if after.functions[name] is not f} == {"first"}


def test_an_edited_include_is_read_again(tmp_path: Path) -> None:
    path, header = tmp_path / "k.cl", tmp_path / "real.h"
    text = '#include "real.h"\nkernel void k(global real *x) {}\n'
    header.write_text("typedef float real;\n")
    program = read_program(text, path)
    for spelled, size in (("double", 8), ("float4", 16)):
        header.write_text(f"typedef {spelled} real;\n")
        program = read_program(text, path, previous=program)
        assert facts(program) == facts(read_program(text, path))
        kind = program.kernel("k").parameters[0].type
        assert isinstance(kind, PointerType)
        assert kind.pointee.size_bytes == size


@pytest.mark.parametrize("typed", ["{", "if (i < n) {", "for (;;) {", "foo(", "SQUARE(", "SQUARE((1", '"', "}", "/*"])
def test_code_being_typed_in_one_kernel_leaves_the_others_as_they_are(typed: str) -> None:
    before = read_program(TEXT)
    after = read_program(TEXT.replace("int i = get", f"{typed}\nint i = get"), previous=before)
    if typed != "/*":
        assert prints(after)["second"] == prints(before)["second"]
        assert not after.kernel("second").has_errors
    assert "first" in prints(after)


@pytest.mark.parametrize("typed", ["{", "}", "(", "if (x) {"])
def test_a_helper_being_typed_hides_no_kernel(typed: str) -> None:
    before = read_program(TEXT)
    after = read_program(TEXT.replace("{ return SQ", f"{{ {typed} return SQ"), previous=before)
    assert {"first", "second"} == set(prints(after))


@pytest.mark.parametrize(
    ("text", "kernels"),
    [
        ("KERNEL a()\n{\nif (x[0]) {\nx[1] = 2;\n}\nx[2] = 3;\n}\nKERNEL b() {}", "ab"),
        ("typedef struct\n{\n int a;\n}\npair;\nkernel void a(global pair *x) {}", "a"),
        ("kernel void a(\n#if 1\nglobal int *x,\n#endif\nint n)\n{\n}\nKERNEL b() {}", "ab"),
        ("KERNEL a()\n{\n#ifdef Q\nif (x[0]) {\n#else\nif (x[1]) {\n#endif\nx[2] = 1;\n}\n}\n", "a"),
        ("#define BEGIN {\n#define END }\nKERNEL a()\nBEGIN\nEND\nKERNEL b() BEGIN END", "ab"),
        ("#define ALL(x) x\nALL(\nKERNEL a() {\n}\nKERNEL b() {\n}\n)\nint c;", "ab"),
        ("constant int t[] = {\n1,\n2\n};\n__attribute__((vec_type_hint(int)))\n#pragma x\nKERNEL a() {}", "a"),
    ],
)
def test_items_are_whole_however_they_are_laid_out(text: str, kernels: str) -> None:
    program = read_program(text.replace("KERNEL", "kernel void").replace("()", "(global int *x)"))
    assert [k.name for k in program.kernels] == list(kernels)
    assert not any(k.has_errors for k in program.kernels)


_ANY_TEXT = st.lists(
    st.sampled_from(
        [
            *"abk_ (){}[];*&#\"'/\\\n.,1hH=",
            "__kernel ",
            "global ",
            "local",
            "__attribute__((packed))",
            "é",
            "1.0h",
            ".5H",
            "p.h",
        ]
    ),
    max_size=60,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(_ANY_TEXT)
def test_masking_keeps_every_offset(text: str) -> None:
    data = text.encode().decode("latin-1")
    masked = mask(data)
    assert len(masked.text) == len(data)
    assert [c == "\n" for c in masked.text] == [c == "\n" for c in data]
    assert all(m in (" ", c) for m, c in zip(masked.text, data, strict=True))
    assert list(masked.offsets) == sorted(masked.offsets)


_OPERANDS = ("a", "(a)", "(b)", "3", "m[b]", "f(a)", "(a + 1)", "-(a)", "(-b)", "s.x")
_OPERATORS = ("+", "-", "*", "/", "%", "&", "|", "<<", "<", "&&", " - ", " * ", " & ")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(_OPERANDS), st.sampled_from(_OPERATORS)), min_size=1, max_size=5))
def test_a_variable_in_parentheses_is_never_read_as_the_type_of_a_cast(terms: list[tuple[str, str]]) -> None:
    text = "".join(f"{operand}{operator}" for operand, operator in terms) + "(b)"
    assume("--" not in text)  # another operator
    masked = mask(f"int g(int a, int b, int *m) {{ return {text}; }}")
    assert not list(find(parse(masked.text).root_node, "cast_expression"))


@pytest.mark.parametrize(
    "text",
    [
        "(real)-x * y",
        "(real)*p + 1",
        "f(a) + b * 3",
        "1; if (a) *p = b * 3",
        "sizeof(a) - b * 3",
        "(const real)a * (real)-x * y",
    ],
)
def test_masking_leaves_casts_and_calls(text: str) -> None:
    whole = f"float g(int a, real b, real *p) {{ real x = 0, y = 0; return {text}; }}"
    assert mask(whole).text == whole


def test_masking_leaves_names_that_only_contain_a_qualifier() -> None:
    text = "int global_size, mylocal, kernels; float x1h; p.h = q.s01h + r[1].h;"
    assert mask(text).text == text


def test_masking_remembers_what_stood_where() -> None:
    masked = mask("__kernel void k(__global float *x, read_only image2d_t i)")
    assert masked.words == ("kernel", "global", "read_only")
    assert masked.between(9, 30) == ("global",)
