from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.launch.annotation import (
    annotations_for,
    check_names,
    find_annotations,
    placement_problems,
    write_annotation,
)
from model.launch.launch import Fill, Launch
from model.opencl.kernel import Kernel
from model.opencl.options import BuildOptions
from model.opencl.program import read_program

SOURCE = """\
typedef struct { int width; float gain; } Plan;
float helper(float x) { return x; }
__kernel void shade(__global float *out, read_only image2d_t img, const int n, Plan p, __local float *tmp) {
    out[get_global_id(0)] = helper(n);
}
"""


def kernels(text: str) -> tuple[Kernel, ...]:
    return read_program(text).kernels


def messages(annotation: str) -> list[str]:
    (kernel,) = kernels(SOURCE)
    (found,) = find_annotations(f"// kernelcast: {annotation}\n")
    assert found.problems == ()
    return [problem.message for problem in check_names(found, kernel)]


def test_an_annotation_belongs_to_the_next_kernel() -> None:
    text = (
        "// kernelcast: global=1 name=a\n// kernelcast: global=2 name=b\nfloat f(float x) { return x; }\n"
        "kernel void first(global int *x) { *x = 1; }\n"
        "/* kernelcast: global=3 */ kernel void second(global int *x) { *x = 1; }\n"
    )
    found = find_annotations(text)
    placed = annotations_for(found, kernels(text))
    assert {name: [a.spec.name for a in those] for name, those in placed.items()} == {
        "first": ["a", "b"],
        "second": [None],
    }
    assert placement_problems(found, kernels(text)) == ()


def test_an_annotation_out_of_place_is_told_where_it_belongs() -> None:
    text = (
        "kernel void first(global int *x) {\n // kernelcast: global=1\n *x = 1; }\n"
        "kernel void second(global int *x) { *x = 1; }\n// kernelcast: global=3\n"
    )
    found = find_annotations(text)
    assert annotations_for(found, kernels(text)) == {}
    inside, below = placement_problems(found, kernels(text))
    assert "stands inside `first`" in inside.message
    assert "no kernel follows" in below.message
    assert below.range.start_line == 4


def test_a_launch_name_is_used_once_per_kernel() -> None:
    text = "// kernelcast: name=a\n// kernelcast: n=1 name=a\n" + SOURCE
    (problem,) = placement_problems(find_annotations(text), kernels(text))
    assert "already has a launch named `a`" in problem.message
    assert (problem.range.start_line, problem.range.start_byte) == (1, 19)


def test_names_of_the_kernel_are_known() -> None:
    assert messages("global=n local=M M=8 n=64 out=n*p.width p.width=3 img=(4,4) tmp=M*4 fill.out=zeros") == []


def test_misspelt_names_are_put_right() -> None:
    assert "Did you mean `global`?" in messages("gobal=64")[0]
    assert "Did you mean `out`?" in messages("outt=64")[0]
    assert "Did you mean `width`?" in messages("p.widht=64")[0]
    assert "Did you mean `out`?" in messages("fill.ot=zeros")[0]
    assert "`m` has no value here" in messages("global=m*2")[0]


def test_values_have_the_shape_of_what_they_name() -> None:
    assert "takes 2 size(s)" in messages("img=64")[0]
    assert "only images and vectors take several" in messages("out=(8,8)")[0]
    assert "give its members, as in p.width=" in messages("p=64")[0]
    assert "is not a struct" in messages("n.x=64")[0]
    assert "its buffers are out, img" in messages("fill.n=zeros")[0]


_sizes = st.integers(1, 2**40)
_text = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=6)


@st.composite
def launches(draw: st.DrawFn) -> Launch:
    rank = draw(st.integers(1, 3))
    local = draw(st.none() | st.tuples(*[st.integers(1, 64)] * rank))
    groups = draw(st.tuples(*[st.integers(1, 10**6)] * rank))
    low = draw(st.integers(-100, 100))
    fills = st.sampled_from(
        [Fill("random"), Fill("randint", (low, low + 7)), Fill("const", (0.1,)), Fill("csr_rows", (9,))]
    )
    floats = st.floats(allow_nan=False, allow_infinity=False)
    return Launch(
        global_size=tuple(g * size for g, size in zip(groups, local or groups, strict=True)),
        local_size=local,
        scalars=(("n", draw(st.integers(-(2**63), 2**64 - 1) | floats)), ("p.gain", draw(floats)), ("p.width", 3)),
        buffers=(("out", draw(_sizes)),),
        images=(("img", (draw(_sizes), draw(_sizes), 1)),),
        local_bytes=(("tmp", draw(_sizes)),),
        fills=(("out", draw(fills)),),
        options=BuildOptions(
            defines=(("T", draw(_text)), ("S", "unsigned int"), ("Q", '"a\\b"'), ("EMPTY", "")),
            include_dirs=(draw(_text), "with space"),
            flags=("-cl-std=CL1.2", "-cl-mad-enable"),
        ),
        name=draw(st.none() | st.sampled_from(["large", "two words", 'a"b'])),
    )


@given(launches())
def test_a_written_annotation_reads_back_as_the_same_launch(launch: Launch) -> None:
    (kernel,) = kernels(SOURCE)
    line = write_annotation(launch, kernel)
    assert "\n" not in line
    (found,) = find_annotations(f"{line}\n{SOURCE}")
    assert found.problems == ()
    assert check_names(found, kernel) == ()
    spec = found.spec
    numbers = {name: tuple(e.evaluate({}) for e in values) for name, values in spec.values}
    assert tuple(e.evaluate({}) for e in spec.global_size or ()) == launch.global_size
    local = tuple(e.evaluate({}) for e in spec.local_size or ())
    assert (local or None) == launch.local_size
    assert spec.driver_chooses_local is (launch.local_size is None)
    assert numbers == {
        **{name: (number,) for name, number in (*launch.scalars, *launch.buffers, *launch.local_bytes)},
        "img": launch.images[0][1][:2],
    }
    assert tuple((name, fill.evaluate({})) for name, fill in spec.fills) == launch.fills
    assert spec.options == launch.options
    assert spec.name == launch.name


PARTS = """typedef struct { int start; int len; } Row;
typedef struct { Row rows[4]; float4 scale; } Params;
__kernel void gather(__global const Row *rows, __constant Params *params, __global int2 *pairs, __global int *state) {
    state[0] = rows[0].start + params->rows[1].len + pairs[0].x;
}
"""


def parts_messages(annotation: str) -> list[tuple[str, str]]:
    """Each problem with the characters that it is about."""
    line = f"// kernelcast: {annotation}"
    (kernel,) = kernels(PARTS)
    (found,) = find_annotations(f"{line}\n")
    problems = (*found.problems, *check_names(found, kernel))
    return [(p.message, line[p.range.start_byte : p.range.end_byte]) for p in problems]


def test_parts_of_buffers_may_be_filled() -> None:
    line = (
        "fill.rows.start=csr_rows:9 fill.rows[2].len=7 fill.params.rows.len=mask:0.5 fill.params[0].scale.w=1 "
        "fill.pairs.y=iota fill.state=choice:1@2, 3 fill.state[0]=1000 fill.state[1]=-1 state=2"
    )
    assert parts_messages(line) == []
    (found,) = find_annotations(f"// kernelcast: {line}\n")
    assert [name for name, _ in found.spec.fills][-2:] == ["state[0]", "state[1]"]


@pytest.mark.parametrize(
    ("annotation", "about", "says"),
    [
        ("fill.rows.begin=iota", "fill.rows.begin", "`rows` has no member `begin`; its members are start, len"),
        ("fill.params.rows.strt=iota", "fill.params.rows.strt", "Did you mean `start`?"),
        ("fill.pairs.z=iota", "fill.pairs.z", "its members are s0, s1"),
        ("fill.state.x=iota", "fill.state.x", "`state` holds int, which has no members: write fill.state=..."),
        ("fill.sate[0]=1", "fill.sate[0]", "Did you mean `state`?"),
        ("fill.state[5]=1 state=n n=5", "fill.state[5]", "`state[5]` lies beyond the 5 elements of `state`"),
        ("fill.state[n]=1", "state[n]", "where INDEX is a whole number from 0 on"),
        ("fill.state[0]=", "fill.state[0]=", "lacks its value"),
        ("state[0]=1", "state[0]", "only what a buffer holds has places, as in fill.state[0]=0"),
        ("fill.state=mask:3*2", "3*2", "SHARE of `mask:3*2` is 6; allowed are 0 to 1"),
        ("fill.state=choice:1@2,foo", "foo", "`foo` has no value here"),
    ],
)
def test_a_wrong_part_is_told_at_its_own_characters(annotation: str, about: str, says: str) -> None:
    ((message, characters),) = parts_messages(annotation)
    assert says in message
    assert characters == about


def test_parts_are_written_as_they_are_read() -> None:
    (kernel,) = kernels(PARTS)
    fills = (
        ("rows.start", Fill("csr_rows", (9,))),
        ("rows[0].len", Fill("const", (3,))),
        ("state", Fill("choice", (0, 9, 2, 1))),
        ("state[0]", Fill("const", (1000,))),
    )
    launch = Launch((64,), buffers=(("rows", 9), ("params", 1), ("pairs", 9), ("state", 9)), fills=fills)
    line = write_annotation(launch, kernel)
    assert "fill.rows.start=csr_rows:9 fill.rows[0].len=3 fill.state=choice:0@9,2 fill.state[0]=1000" in line
    (found,) = find_annotations(line)
    assert tuple((name, fill.evaluate({})) for name, fill in found.spec.fills) == fills
    other = replace(launch, fills=(*fills[:-1], ("state[0]", Fill("const", (1001,)))))
    assert other.key != launch.key
