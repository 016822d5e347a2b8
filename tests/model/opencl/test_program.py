"""Reading a program: kernels, parameters, attributes and types, in whole and in broken code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from model.errors import NoSuchKernel
from model.opencl.kernel import Kernel, ParameterKind
from model.opencl.options import BuildOptions
from model.opencl.program import Program, read_program
from model.opencl.types import AddressSpace, PointerType, ScalarType, StructType, VectorType

Read = Callable[..., Program]


def only(program: Program) -> Kernel:
    (kernel,) = program.kernels
    return kernel


def spanned(text: str, kernel: Kernel, what: str = "name_range") -> str:
    """The part of the user's text that a range names: lines from 0, columns in bytes."""
    place = getattr(kernel, what)
    lines = [line.encode() for line in text.split("\n")]
    if place.start_line == place.end_line:
        return lines[place.start_line][place.start_byte : place.end_byte].decode()
    middle = lines[place.start_line + 1 : place.end_line]
    parts = [lines[place.start_line][place.start_byte :], *middle, lines[place.end_line][: place.end_byte]]
    return b"\n".join(parts).decode()


# --- what a kernel is ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("qualifier", ["__kernel", "kernel", "__attribute__((nomips16)) __kernel", "extern __kernel"])
def test_kernels_are_found_by_either_keyword(read: Read, qualifier: str) -> None:
    assert only(read(f"{qualifier} void k(__global int *x) {{ x[0] = 1; }}")).name == "k"


def test_kernels_come_in_the_order_of_the_text_and_helpers_are_none(read: Read) -> None:
    program = read("kernel void b(global int *x) {} int h(int i) { return i; } kernel void a(global int *x) {}")
    assert [k.name for k in program.kernels] == ["b", "a"]
    assert "h" in program.functions


def test_a_declaration_alone_is_no_kernel(read: Read) -> None:
    assert [k.name for k in read("kernel void a(global int *x); kernel void b(global int *x) {}").kernels] == ["b"]


def test_an_unknown_name_is_answered_with_the_known_ones(read: Read) -> None:
    with pytest.raises(NoSuchKernel, match="`k`"):
        read("kernel void k(global int *x) {}").kernel("mm")


def test_parameters_are_sorted_by_how_the_host_supplies_them(read: Read) -> None:
    kernel = only(
        read("""typedef struct { int a; float4 b; } P;
        __kernel void k(__global const float4 *restrict x, __constant int *c, __local float *t, uint n, float3 v, P p,
            read_only image2d_t i, __write_only image3d_t o, sampler_t s, __global P *ps, unsigned long int u) {}""")
    )
    kinds = {p.name: p.kind for p in kernel.parameters}
    assert kinds == {
        "x": ParameterKind.BUFFER,
        "c": ParameterKind.BUFFER,
        "t": ParameterKind.LOCAL,
        "n": ParameterKind.SCALAR,
        "v": ParameterKind.SCALAR,
        "p": ParameterKind.STRUCT,
        "i": ParameterKind.IMAGE,
        "o": ParameterKind.IMAGE,
        "s": ParameterKind.SAMPLER,
        "ps": ParameterKind.BUFFER,
        "u": ParameterKind.SCALAR,
    }
    x = kernel.parameters[0].type
    assert isinstance(x, PointerType)
    assert (x.space, x.is_const, x.is_restrict, x.pointee.name) == (AddressSpace.GLOBAL, True, True, "float4")
    assert [kernel.parameters[i].access for i in (6, 7)] == ["read_only", "write_only"]
    assert kernel.parameters[-1].type.name == "ulong"


def test_an_address_space_may_stand_before_or_after_the_type(read: Read) -> None:
    kernel = only(
        read("kernel void k(float global *a, const global float *b, global const float *c, float local *d) {}")
    )
    spaces = [p.type.space for p in kernel.parameters if isinstance(p.type, PointerType)]
    assert spaces == [AddressSpace.GLOBAL] * 3 + [AddressSpace.LOCAL]


@pytest.mark.parametrize("spelled", ["{}", "__{}", "__{}__"])
def test_qualifiers_are_read_in_the_spellings_of_gnu_c(read: Read, spelled: str) -> None:
    const, restrict, signed = (spelled.format(word) for word in ("const", "restrict", "signed"))
    text = f"__kernel void k({const} {signed} int n, __global {const} float *{restrict} x, __global float *y) {{}}"
    plain = "__kernel void k(const signed int n, __global const float *restrict x, __global float *y) {}"
    kernel = only(read(text))
    assert [(p.name, p.type) for p in kernel.parameters] == [(p.name, p.type) for p in only(read(plain)).parameters]


def test_attributes_are_read_through_macros(read: Read) -> None:
    text = """#define TILE 16
    __kernel __attribute__((reqd_work_group_size(TILE, TILE/4, 1))) __attribute__((vec_type_hint(float4)))
    void k(__global float *x) {}"""
    attributes = only(read(text.replace("TILE/4", "4"))).attributes
    assert attributes.reqd_work_group_size == (16, 4, 1)
    assert only(read("__attribute__((reqd_work_group_size(8,1,1))) kernel void k(global int *x) {}")).attributes == (
        only(read("kernel __attribute__((reqd_work_group_size(8,1,1))) void k(global int *x) {}")).attributes
    )


@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [
        ("077, 0x10, 1", (63, 16, 1)),
        ("8, 09, 1", None),
        ("9" * 5000 + ", 1, 1", None),
        ("0, 1, 1", None),
        ("(4 * 64 / 4), 64u, 1 << 1", (64, 64, 2)),
        ("(32 / 4), (WIDTH), 1", (8, 16, 1)),
        ("UNKNOWN / 4, 1, 1", None),
        ("64, (1, 2)", None),
    ],
)
def test_sizes_of_groups_are_numbers_as_c_writes_them(
    read: Read, sizes: str, wanted: tuple[int, int, int] | None
) -> None:
    attribute = f"__attribute__((reqd_work_group_size({sizes})))"
    kernel = only(read(f"enum {{ WIDTH = 16 }}; __kernel {attribute} void k(__global float *x) {{}}"))
    assert kernel.attributes.reqd_work_group_size == wanted


# --- macros, includes, options ---------------------------------------------------------------------------------------


def test_macros_and_conditionals_follow_the_defines(read: Read) -> None:
    text = """#ifndef T
    #define T float
    #endif
    #if WIDE > 1
    #define NAME(x) x##_wide
    #else
    #define NAME(x) x##_narrow
    #endif
    __kernel void NAME(copy)(__global T *a) {}"""
    assert only(read(text)).name == "copy_narrow"
    wide = only(read(text, WIDE="4", T="double"))
    assert (wide.name, wide.parameters[0].type.name) == ("copy_wide", "global double*")


def test_whole_kernels_may_come_out_of_a_macro(read: Read) -> None:
    text = """#define MAKE(T) __kernel void fill_##T(__global T *x) { x[get_global_id(0)] = 0; }
MAKE(int)
MAKE(float)
"""
    program = read(text)
    assert [k.name for k in program.kernels] == ["fill_int", "fill_float"]
    assert [k.name_range.start_line for k in program.kernels] == [1, 2]


def test_includes_are_found_next_to_the_file_and_in_folders(tmp_path: Path) -> None:
    (tmp_path / "near.h").write_text("#define NEAR 3\ntypedef float real;\n")
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "far.h").write_text("typedef struct { real a, b; } pair;\n")
    text = '#include "near.h"\n#include <far.h>\n__kernel void k(__global pair *p) { p[NEAR].a = 0; }\n'
    program = read_program(text, tmp_path / "k.cl", BuildOptions(include_dirs=(str(tmp_path / "inc"),)))
    pair = only(program).parameters[0].type
    assert isinstance(pair, PointerType)
    assert pair.pointee.size_bytes == 8
    assert program.notes == ()


def test_a_missing_include_is_named_with_its_line_and_the_kernel_is_still_read(read: Read) -> None:
    program = read('\n\n#include "nowhere.h"\nkernel void k(global int *x) {}\n')
    (note,) = program.notes
    assert "nowhere.h" in note.message
    assert note.line == 2
    assert only(program).name == "k"


@pytest.mark.parametrize(
    ("condition", "told"),
    [("1", []), ("0", ['#error "unknown device"'])],
)
def test_an_error_directive_speaks_only_where_the_compiler_would_hear_it(
    read: Read, condition: str, told: list[str]
) -> None:
    text = f'#if {condition}\n#elif 0\n#else\n#error "unknown device"\n#endif\nkernel void k(global int *x) {{}}'
    assert [note.message for note in read(text).notes] == told


def test_a_file_that_includes_itself_ends_in_a_note(tmp_path: Path) -> None:
    path = tmp_path / "loop.cl"
    text = '#include "loop.cl"\nkernel void k(global int *x) {}\n'
    path.write_text(text)
    program = read_program(text, path)
    assert only(program).name == "k"
    assert any("include" in note.message for note in program.notes)


def test_an_included_kernel_belongs_to_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "other.cl").write_text("kernel void other(global int *x) {}\n")
    program = read_program('#include "other.cl"\nkernel void own(global int *x) {}\n', tmp_path / "own.cl")
    assert [k.name for k in program.kernels] == ["own"]


def test_a_recursive_macro_stops_where_c_says(read: Read) -> None:
    text = "#define a b\n#define b a\n#define f(x) f(x + 1)\nkernel void k(global int *x) { x[0] = a + f(f(2)); }"
    assert only(read(text)).name == "k"


def test_a_macro_bomb_ends_in_a_note(read: Read) -> None:
    rows = [f"#define b{i} b{i + 1} b{i + 1} b{i + 1} b{i + 1}" for i in range(30)]
    program = read("\n".join([*rows, "kernel void k(global int *x) { x[0] = 1; }", "int y = b0;"]))
    assert any("macro" in note.message or "larger" in note.message for note in program.notes)


@pytest.mark.parametrize(
    "directive", ["#if", "#ifdef", "#ifndef", "#elif", "#define", "#undef", "#include", "#", "#if (", "#if 1/0",
                  "#error x", "#define F(", "#define F(, x) x", "#define F(x, , y)", "#if 1 << 99999999999",
                  "#if 'a", '#include "', "#endif", "#else", "#line x", "#pragma"]
)  # fmt: skip
def test_a_directive_still_being_typed_hides_no_kernel(read: Read, directive: str) -> None:
    program = read(f"kernel void a(global int *x) {{}}\n{directive}\n#endif\nkernel void b(global int *x) {{}}\n")
    assert [k.name for k in program.kernels] == ["a", "b"]


def test_what_is_wrong_with_a_directive_is_said_at_its_line(read: Read) -> None:
    program = read("int a;\n#if 1 +\n#endif\nkernel void k(global int *x) {}\n")
    assert [(n.line, "cannot be read" in n.message) for n in program.notes] == [(1, True)]


# --- positions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "before",
    ["", "\n\n", "/* ä ö ü */ ", "// \U0001f600 outside the BMP\n", "/* \U0001f600\U0001f680 */ ", "\ufeff",
     "int a;\r\n\r\n",     "#define X 1\r\n", "#if 1\nint z;\n#endif\n", "#define LONG(a) a a a a\nLONG(int) b; ",
     "constant char s[] = \"é // {\"; ",
     "/* a\r\n b\r\n */\r\n", "#define M \\\n 1\n"]
)  # fmt: skip
def test_ranges_name_the_users_own_bytes(read: Read, before: str) -> None:
    text = before + "__kernel void name_ok(__global int *x)\n{ x[0] = 1; }\nint after;"
    kernel = only(read(text))
    assert spanned(text, kernel) == "name_ok"
    assert spanned(text, kernel, "signature_range") == "__kernel void name_ok(__global int *x)"
    assert spanned(text, kernel, "range") == "__kernel void name_ok(__global int *x)\n{ x[0] = 1; }"


def test_positions_survive_macros_in_front_on_the_same_line(read: Read) -> None:
    text = "#define GLOBAL __global\n#define KERNEL __kernel\nKERNEL void k(GLOBAL int *x, GLOBAL int *yy) { }"
    kernel = only(read(text))
    assert spanned(text, kernel) == "k"
    assert text.split("\n")[2][kernel.parameters[1].range.start_byte :].startswith(("GLOBAL int *yy", "int *yy"))
    assert spanned(text, kernel, "range") == text.split("\n")[2]


def test_a_range_that_ends_in_a_macro_call_spans_the_call(read: Read) -> None:
    text = "#define BODY(x) { x[0] = 1; }\nkernel void k(global int *a) BODY(a)\nint z;"
    assert spanned(text, only(read(text)), "range") == "kernel void k(global int *a) BODY(a)"


# --- types -----------------------------------------------------------------------------------------------------------


def pointee(read: Read, declarations: str) -> StructType:
    kind = only(read(declarations + " kernel void k(global S *x) {}")).parameters[0].type
    assert isinstance(kind, PointerType)
    assert isinstance(kind.pointee, StructType)
    return kind.pointee


@pytest.mark.parametrize(
    ("declarations", "size"),
    [
        ("typedef struct { char a; int b; } S;", 8),
        ("typedef struct { char a; double b; char c; } S;", 24),
        ("typedef struct { float a; float3 v; } S;", 32),
        ("typedef struct { float3 v; float a; } S;", 32),
        ("typedef struct { float4 v[2]; short s; } S;", 48),
        ("typedef struct __attribute__((packed)) { char a; int b; } S;", 5),
        ("typedef struct { char a; int b; } __attribute__((packed)) S;", 5),
        ("typedef union { int a; float4 b; char c[20]; } S;", 32),
        ("struct In { char a; short b; }; typedef struct { struct In in[3]; char c; } S;", 14),
        ("#define N 4\ntypedef struct { float m[N][N + 1]; } S;", 80),
        ("enum { COUNT = 5 }; typedef struct { int m[COUNT]; } S;", 20),
        ("typedef uchar byte; typedef byte pixel[3]; typedef struct { pixel p; byte a; } S;", 4),
        ("typedef struct { half h; half3 v; } S;", 16),
        ("typedef struct { int a, b; uint c : 3; } S;", 12),
    ],
)
def test_structs_have_opencls_layout(read: Read, declarations: str, size: int) -> None:
    assert pointee(read, declarations).size_bytes == size


def test_members_stand_where_alignment_puts_them(read: Read) -> None:
    struct = pointee(read, "typedef struct { char a; float3 v; int b; } S;")
    assert struct.offsets() == (0, 16, 32)


def test_half_literals_and_vector_types_are_read(read: Read) -> None:
    program = read("kernel void k(global half *x, ushort16 v, float3 f) { x[0] = 1.0h + .5H + 2.h; }")
    kernel = only(program)
    assert not kernel.has_errors
    assert [p.type.size_bytes for p in kernel.parameters[1:]] == [32, 16]
    assert isinstance(kernel.parameters[1].type, VectorType)


def test_unsigned_spellings_are_one_type(read: Read) -> None:
    spellings = ["uint", "unsigned", "unsigned int", "int unsigned", "const unsigned int"]
    kernel = only(read(f"kernel void k({', '.join(f'{s} p{i}' for i, s in enumerate(spellings))}) {{}}"))
    assert {p.type.name for p in kernel.parameters if isinstance(p.type, ScalarType)} == {"uint"}


# --- broken code -----------------------------------------------------------------------------------------------------


def test_an_unclosed_brace_costs_its_own_kernel_at_most(read: Read) -> None:
    text = """kernel void a(global int *x) { x[0] = 1; }
kernel void b(global int *x) { if (x[0]) { x[1] = 2;
kernel void c(global int *x) { x[2] = 3; }
kernel void d(global int *x) { x[3] = 4; }
"""
    assert {"a", "c", "d"} <= {k.name for k in read(text).kernels}


def test_an_unclosed_parenthesis_costs_its_own_kernel_at_most(read: Read) -> None:
    text = """kernel void a(global int *x) { x[0] = 1; }
kernel void b(global int *x) { x[1] = min(2, ; }
kernel void c(global int *x) { x[2] = 3; }
"""
    assert {"a", "c"} <= {k.name for k in read(text).kernels}


def test_a_syntax_error_inside_a_body_is_noted_on_the_kernel(read: Read) -> None:
    kernels = {
        k.name: k for k in read("kernel void a(global int *x) { x[0] = = 1; }\nkernel void b(global int *x) {}").kernels
    }
    assert kernels["a"].has_errors
    assert not kernels["b"].has_errors


def test_an_unterminated_comment_is_pointed_out_where_it_begins(read: Read) -> None:
    program = read("kernel void a(global int *x) {}\n\n/* never closed\nkernel void b(global int *x) {}\n")
    assert [k.name for k in program.kernels] == ["a"]
    assert [(n.line, "never closed" in n.message) for n in program.notes] == [(2, True)]


@pytest.mark.parametrize(
    "text",
    ["", "\n", "\0", "\ufeff", "kernel", "kernel void", "kernel void k(", "kernel void k() {", "}", "}}}}",
     "{{{{", "(((", "\\",
     "#", '"', "'", "/*", "//", "a" * 100_000, "\ud800", "\U0010ffff" * 10]
)  # fmt: skip
def test_no_text_is_too_strange_to_read(read: Read, text: str) -> None:
    read(text)


def test_binary_bytes_do_no_harm(read: Read) -> None:
    noise = bytes(range(256)).decode("latin-1") * 8
    assert [k.name for k in read("kernel void a(global int *x) {}\n//" + noise.replace("\n", "")).kernels] == ["a"]


def test_a_line_of_a_megabyte_is_read(read: Read) -> None:
    table = "constant int t[] = {" + "12345," * 175_000 + "0};"
    assert only(read(table + "\nkernel void k(global int *x) { x[0] = t[1]; }")).name == "k"


def test_deep_nesting_is_read(read: Read) -> None:
    deep = "(" * 3000 + "1" + ")" * 3000
    assert [k.name for k in read(f"kernel void k(global int *x) {{ x[0] = {deep}; }}").kernels] == ["k"]


@pytest.mark.parametrize(("defined", "size"), [("1", None), ("0", (64, 1, 1))])
def test_a_kernel_whose_qualifiers_stand_in_a_conditional_is_one(
    defined: str, size: tuple[int, int, int] | None
) -> None:
    text = (
        f"#define RELAXED {defined}\n"
        "#if RELAXED == 1\n  __kernel\n#else\n  __kernel __attribute__((reqd_work_group_size(64, 1, 1)))\n#endif\n"
        "void fill(__global float *a) { a[0] = 1.0f; }\nvoid unused(void) {}\n"
    )
    (kernel,) = read_program(text).kernels
    assert kernel.name == "fill"
    assert kernel.attributes.reqd_work_group_size == size
