"""Kernels, literals, components, attributes and directives have the scopes that themes know."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.editors.grammar.colours import Colours

HEADS = {
    "one line": "__kernel void blur(__global float *x) { }",
    "the short word": "kernel void blur(global float *x) { }",
    "an attribute between": "__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void blur(int n) { }",
    "an attribute on lines of its own": "__kernel\n__attribute__((vec_type_hint(float4)))\nvoid\nblur\n(int n) { }",
    "an attribute before": "__attribute__((work_group_size_hint(8, 1, 1)))\nkernel void blur(int n) { }",
    "an attribute behind void": "kernel void __attribute__((noinline)) blur(int n) { }",
    "a macro between": "kernel SIZED(16) void blur(int n) { }",
    "a comment between": "kernel /* softens */ void // here\nblur(int n) { }",
    "the qualifier behind": "void kernel blur(int n) { }",
    "split parameters": "#ifdef A\nkernel void blur(int n\n#else\nkernel void blur(float n\n#endif\n) { }",
}


@pytest.mark.parametrize("head", HEADS)
def test_a_kernels_name_stands_out_with(head: str, colour: Colours) -> None:
    coloured = colour(HEADS[head])
    assert set(coloured.all_of("blur")) == {"entity.name.function.kernel"}
    assert coloured.open == ()


def test_the_kernel_after_an_unclosed_brace_is_coloured_as_ever(colour: Colours) -> None:
    coloured = colour("void half_typed(int n) { if (n) {\n\n__kernel void blur(__global float *x)\n{\n    go(x);\n}\n")
    assert coloured["blur"] == "entity.name.function.kernel"
    assert coloured["x"] == "variable.parameter"
    assert coloured["go"] == "entity.name.function.call"
    assert coloured.open == ()


def test_functions_their_parameters_and_their_calls_are_told_apart(colour: Colours) -> None:
    coloured = colour("static float4 bend(const float4 way, int n[2]) { return turn(way, n); }")
    assert coloured["bend"] == "entity.name.function"
    assert coloured.all_of("way")[0] == coloured.all_of("n")[0] == "variable.parameter"
    assert coloured["turn"] == "entity.name.function.call"
    assert coloured["return"] == "keyword.control"


def test_types_of_the_users_own_are_types(colour: Colours) -> None:
    coloured = colour(
        "typedef struct { float3 at; } particle;\nenum kind { A1 };\nstruct pair p;\n"
        "void f(const particle p, layer_t l) { particle q = p; pixel *r = 0; }"
    )
    for name in ("particle", "kind", "pair", "layer_t", "pixel"):
        assert set(coloured.all_of(name)) == {"entity.name.type"}, name


@pytest.mark.parametrize(
    ("literal", "scope", "suffix"),
    [
        ("1.0f", "constant.numeric.float", "f"),
        ("1.f", "constant.numeric.float", "f"),
        (".5h", "constant.numeric.float", "h"),
        ("1.0h", "constant.numeric.float", "h"),
        ("1e-3", "constant.numeric.float", ""),
        ("2.5E+10F", "constant.numeric.float", "F"),
        ("0x1.8p-2f", "constant.numeric.float.hexadecimal", "f"),
        ("0x.8P3", "constant.numeric.float.hexadecimal", ""),
        ("42", "constant.numeric.integer", ""),
        ("42ul", "constant.numeric.integer", "ul"),
        ("0xFFu", "constant.numeric.integer.hexadecimal", "u"),
        ("0b1011", "constant.numeric.integer.binary", ""),
        ("0755", "constant.numeric.integer.octal", ""),
    ],
)
def test_a_number_is_one_with_its_suffix_set_apart(literal: str, scope: str, suffix: str, colour: Colours) -> None:
    coloured = colour(f"float x = a-{literal}+b;")
    assert "".join(coloured.texts("constant.numeric")) == literal
    assert coloured[literal.removesuffix(suffix)] == scope
    assert coloured.texts("keyword.other.unit.suffix") == ([suffix] if suffix else [])


@pytest.mark.parametrize("component", ["x", "xyzw", "zyx", "rgba", "s0", "s02F", "Sabcd", "hi", "lo", "even", "odd"])
def test_a_vectors_components_are_coloured(component: str, colour: Colours) -> None:
    for text in (f"void f() {{ v.{component} = 1; }}", f"void f() {{ y = g(v1)[0].{component}; }}"):
        assert colour(text)[component] == "variable.other.property.component"


@pytest.mark.parametrize("member", ["mass", "sum", "s0g", "xyzzy", "high"])
def test_a_member_is_no_component(member: str, colour: Colours) -> None:
    assert colour(f"void f() {{ v.{member} = p->{member}; }}").all_of(member) == ["variable.other.property"] * 2


def test_vector_literals_are_a_type_and_its_numbers(colour: Colours) -> None:
    coloured = colour("void f() { v = (float4)(0.0f, 1, x, INFINITY); }")
    assert coloured["float4"] == "storage.type.built-in.vector"
    assert coloured["INFINITY"] == "constant.language.builtin"


def test_attributes_name_what_they_ask_for(colour: Colours) -> None:
    coloured = colour("__attribute__((reqd_work_group_size(TILE, 16, 1), vec_type_hint(float4))) kernel void f() {}")
    assert coloured["__attribute__"] == "storage.modifier.attribute"
    assert coloured["reqd_work_group_size"] == coloured["vec_type_hint"] == "support.function.attribute"
    assert coloured["float4"] == "storage.type.built-in.vector"
    assert coloured["16"] == "constant.numeric.integer"


def test_an_extension_is_enabled_word_by_word(colour: Colours) -> None:
    coloured = colour("#pragma OPENCL EXTENSION cl_khr_fp16 : enable")
    assert coloured["#"] == "punctuation.definition.directive"
    assert coloured["OPENCL"] == coloured["EXTENSION"] == "keyword.other.pragma"
    assert coloured["cl_khr_fp16"] == "constant.language.extension"
    assert coloured["enable"] == "keyword.other.behaviour"


def test_a_macro_goes_on_over_its_lines_and_no_further(colour: Colours) -> None:
    coloured = colour("#define HALF(x) \\\n    ((x) * 0.5f) { (\nfloat y;\n#undef HALF\n#include <a.h>\n")
    assert coloured.all_of("HALF") == ["entity.name.function.preprocessor"] * 2
    assert coloured["0.5"] == "constant.numeric.float"
    assert coloured.lines[2][0].scopes == ("storage.type.built-in.primitive",)
    assert coloured.texts("string.quoted.other.lt-gt.include") == ["<a.h>"]


def test_what_if_0_leaves_out_looks_left_out(colour: Colours) -> None:
    coloured = colour('#if 0\nanything " goes\n#if A\nhere\n#endif\nstill\n#else\nfloat x;\n#endif\n')
    for word in ('anything " goes', "here", "still"):
        assert coloured[word] == "comment.block.preprocessor.inactive"
    assert coloured["float"] == "storage.type.built-in.primitive"
    assert coloured.open == ()


def test_a_string_ends_with_its_line_and_shows_its_placeholders(colour: Colours) -> None:
    coloured = colour('void f() { printf("%v4hlf of %d\\n", v); g("open\n); }')
    assert coloured.texts("constant.other.placeholder") == ["%v4hlf", "%d"]
    assert coloured["\\n"] == "constant.character.escape"
    assert coloured.open == ()


def test_a_comment_that_ends_in_a_backslash_takes_in_the_next_line(colour: Colours) -> None:
    coloured = colour("// first \\\nsecond\nfloat x;")
    assert coloured["second"] == "comment.line.double-slash"
    assert coloured["float"] == "storage.type.built-in.primitive"


def test_no_real_kernel_leaves_anything_open(colour: Colours, kernel_files: list[Path]) -> None:
    assert len(kernel_files) > 20
    left_open = {file.name: found for file in kernel_files if (found := colour(file.read_text(encoding="utf-8")).open)}
    assert left_open == {}


def test_every_real_kernel_and_its_name_are_coloured(colour: Colours, kernel_files: list[Path]) -> None:
    for file in kernel_files:
        coloured = colour(file.read_text(encoding="utf-8"))
        names = coloured.texts("entity.name.function.kernel")
        assert len(coloured.texts("storage.modifier.kernel")) == len(names), file.name
        assert names or file.suffix != ".cl", file.name
