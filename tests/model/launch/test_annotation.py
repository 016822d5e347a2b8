from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.launch.annotation import Annotation, find_annotations
from model.launch.expression import parse_expression
from model.launch.launch import Origin
from model.opencl.kernel import SourceRange


def only(text: str) -> Annotation:
    (annotation,) = find_annotations(text)
    return annotation


def at(text: str, where: SourceRange) -> str:
    """The characters of `text` that a range covers."""
    lines = text.encode("utf-8", "surrogatepass").split(b"\n")
    assert where.start_line == where.end_line
    return lines[where.start_line][where.start_byte : where.end_byte].decode()


def test_everything_a_launch_needs_fits_on_one_line() -> None:
    spec = only(
        "// kernelcast: global=(N, N) local=(16, 16) N=1024 A=N*N B=N * N p.x=1.5f img=(512, 256) "
        'fill.col=randint:0:N -DTILE=16 -D WIDE -I "my inc" -cl-fast-relaxed-math name=large'
    ).spec
    assert [e.text for e in spec.global_size or ()] == ["N", "N"]
    assert [e.text for e in spec.local_size or ()] == ["16", "16"]
    assert {name: [e.text for e in values] for name, values in spec.values} == {
        "N": ["1024"],
        "A": ["N*N"],
        "B": ["N * N"],
        "p.x": ["1.5f"],
        "img": ["512", "256"],
    }
    assert [(name, str(fill)) for name, fill in spec.fills] == [("col", "randint:0:N")]
    assert spec.options.defines == (("TILE", "16"), ("WIDE", "1"))
    assert spec.options.include_dirs == ("my inc",)
    assert spec.options.flags == ("-cl-fast-relaxed-math",)
    assert spec.name == "large"
    assert spec.origin is Origin.ANNOTATION


def test_several_lines_are_several_launches() -> None:
    text = "/* a filter\n * kernelcast: global=1 name=a\n * kernelcast: global=2 name=b\n */\n// kernelcast: global=3"
    assert [(a.line, a.spec.name) for a in find_annotations(text)] == [(1, "a"), (2, "b"), (4, None)]


def test_a_backslash_continues_an_annotation() -> None:
    annotation = only("// kernelcast: global=64 \\\r\n    local=9**9**9\r\nvoid f();")
    assert annotation.range == SourceRange(0, 3, 1, 17)
    assert at("\n    local=9**9**9", annotation.problems[0].range) == "9**9**9"


def test_the_driver_may_choose_the_local_size() -> None:
    spec = only("// kernelcast: local=auto").spec
    assert spec.driver_chooses_local
    assert spec.local_size is None


@pytest.mark.parametrize(
    "text",
    [
        'constant char s[] = "// kernelcast: global=1";',
        'char s[] = "\\" // kernelcast: global=1";',
        "int kernelcast; // see kernelcast: the manual",
        "/* more on kernelcast: below */",
        "kernelcast: global=1",
        "'/*' kernelcast: ",
        "",
        "\0\x01\xff kernelcast",
    ],
)
def test_only_comments_that_start_so_are_annotations(text: str) -> None:
    assert find_annotations(text) == ()


def test_a_broken_string_does_not_hide_the_lines_below() -> None:
    assert len(find_annotations('#error don"t\n// kernelcast: global=1')) == 1


def test_an_unterminated_comment_still_has_its_annotation() -> None:
    assert only("/* kernelcast: global=5").spec.global_size == (parse_expression("5"),)


BROKEN = [
    ("global=9**9**9", "9**9**9", "more than 64 bits"),
    ("global=n/0 n=4", "n/0", "division by zero"),
    ("global=(16, -4)", "-4", "below 1"),
    ("global=(8, 16", "(", "never closed"),
    ("global=()", "()", "no sizes"),
    ("global=(1,2,3,4)", "(1,2,3,4)", "one to 3 dimensions"),
    ("global=64 global=32", "global", "given twice"),
    ("n=1 n=2", "n", "given twice"),
    ("global=64 local=(8,8)", "local", "2 local against 1 global"),
    ("global=1000 local=48", "48", "a global size of 1008"),
    ("n=m m=n", "m", "depends on itself"),
    ("global=64 foo local=8", "foo", "was not understood"),
    ("global=64 -M", "-M", "is not a build option"),
    ("global=64 n=", "n=", "lacks its value"),
    ("fill.a=rnadom", "rnadom", "Did you mean `random`?"),
    ("fill.a=randint:9:3", "randint:9:3", "holds no value"),
    ("global=6$4", "$", "was not expected"),
    ("name= n=4", "name=", "lacks its value"),
    ("-D", "-D", "must be followed by NAME"),
    ("", "kernelcast:", "does not describe a launch"),
]
BEFORE = ["", "  ", "int é = 1; /* 𝄞 */ ", "float x;\r\n\tchar *ü;\r\n  "]


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize(("body", "culprit", "says"), BROKEN)
@pytest.mark.parametrize("end", ["", "\n", "\r\nkernel void f() {}\r\n"])
def test_a_broken_part_is_reported_at_its_own_characters(
    before: str, body: str, culprit: str, says: str, end: str
) -> None:
    text = f"{before}// kernelcast: {body}{end}"
    problem = only(text).problems[0]
    assert says in problem.message
    assert at(text, problem.range) == culprit


def test_the_sound_rest_of_a_broken_annotation_is_used() -> None:
    annotation = only("// kernelcast: global=(256, 9**9**9) local=16 n=64 what m=n*2 fill.x=oops name=a")
    assert len(annotation.problems) == 3
    assert annotation.spec.global_size is None
    assert annotation.spec.local_size == (parse_expression("16"),)
    assert [name for name, _ in annotation.spec.values] == ["n", "m"]
    assert annotation.spec.name == "a"


def test_uneven_groups_are_fine_from_opencl_c_2_on() -> None:
    assert only("// kernelcast: global=1000 local=48 -cl-std=CL2.0").problems == ()


def test_sizes_may_speak_of_defines() -> None:
    assert only("// kernelcast: global=64 local=TILE -DTILE=16").problems == ()
    assert "does not divide" in only("// kernelcast: global=64 local=TILE -DTILE=48").problems[0].message


def test_an_overlong_annotation_is_cut_and_said_so() -> None:
    annotation = only("// kernelcast: global=64 " + "n" * 1_000_000)
    assert "longer than 4000 characters" in annotation.problems[-1].message
    assert annotation.spec.global_size == (parse_expression("64"),)


_pieces = st.sampled_from(
    [
        "// ",
        "/*",
        "*/",
        "\n",
        "\r\n",
        '"',
        "'",
        "\\",
        " kernelcast: ",
        "global=",
        "(",
        ",",
        ")",
        "9**9",
        "n",
        "é",
        "𝄞",
        " -D",
        "\0",
    ]
)


@given(st.lists(_pieces | st.text(max_size=3), max_size=40).map("".join))
def test_no_text_upsets_the_search_and_every_problem_lies_inside_the_text(text: str) -> None:
    lines = text.encode("utf-8", "surrogatepass").split(b"\n")
    for annotation in find_annotations(text):
        for problem in annotation.problems:
            place = problem.range
            assert (place.start_line, place.start_byte) < (place.end_line, place.end_byte)
            assert place.start_byte <= len(lines[place.start_line])
            assert place.end_byte <= len(lines[place.end_line])
