"""What an edit changes: fingerprints follow the meaning, and re-reading gives what reading afresh gives."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.opencl.masking import mask
from model.opencl.program import Program, read_program

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
     "int q = 1;", "__kernel ",
     "void z(__global int *p) {}", "__kernel void z(__global int *p) {}", "float", "SQUARE(", "SCALE", "1.0h",
     "\U0001f600", "\\\n", "\r\n"]
)  # fmt: skip
_EDITS = st.lists(st.tuples(st.integers(0, len(TEXT)), st.integers(0, 60), _PIECES), min_size=1, max_size=6)


def facts(program: Program) -> tuple[object, ...]:
    return program.kernels, program.notes, set(program.functions), str(program.tree.root_node)


@settings(max_examples=150, deadline=None)
@given(_EDITS)
def test_rereading_after_edits_gives_what_reading_afresh_gives(edits: list[tuple[int, int, str]]) -> None:
    text, program = TEXT, read_program(TEXT)
    for start, length, piece in edits:
        text = text[:start] + piece + text[start + length :]
        program = read_program(text, previous=program)
    fresh = read_program(text)
    if "ERROR" in str(fresh.tree.root_node) or "MISSING" in str(fresh.tree.root_node):
        # How the grammar recovers from an error may depend on what was there before; what can be read may not.
        sound = {k for k in fresh.kernels if not k.has_errors}
        assert {k.name for k in sound} <= {k.name for k in program.kernels}
    else:
        assert facts(program) == facts(fresh)


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


def test_masking_leaves_names_that_only_contain_a_qualifier() -> None:
    text = "int global_size, mylocal, kernels; float x1h; p.h = q.s01h + r[1].h;"
    assert mask(text).text == text


def test_masking_remembers_what_stood_where() -> None:
    masked = mask("__kernel void k(__global float *x, read_only image2d_t i)")
    assert masked.words == ("kernel", "global", "read_only")
    assert masked.between(9, 30) == ("global",)
